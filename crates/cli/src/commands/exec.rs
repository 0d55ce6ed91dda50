//! `olifant exec`: a program on chosen cpus with a chosen memory policy; also in the words of numactl, dplace, execrset.

use crate::definition::Olifant;
use crate::inside::enter;
use crate::outcome::Outcome;
use crate::output;
use clap::{Args, CommandFactory};
use olifant_exec::{Dialect, Failed, Host, Inside, Launch, exec, prepare};
use std::ffi::OsString;

const EXAMPLES: &str = "\
Options of olifant's own:
  --set SET         run on the set's cpus with memory of its nodes; any form that
                    `olifant rset show` reads: 0-3, nodes=1, near:2, package:0, NAME
  --memory POLICY   first-touch, local, remote, any, striped:1, weighted:0=3,1=1,
                    node:N; within the set where one is given
  --threads POLICY  fill, round-robin, float, or a list of cpus: each new thread
                    takes the next cpu, the first thread the first one
  --skip NUMBERS    leave these threads out (0 is the first): --skip 1,3-4
  --thread WHICH=CPUS  cpus for threads by number or name, which take none of
                    the order: 1-2=0-3, 'io*=8', 3=float; may be repeated
  --heap POLICY     where the memory lives that malloc and new give; as --memory,
                    and striped:8; local is the node of the thread that asks
  --plan FILE       what goes where, from `olifant advise`; `olifant run --on
                    host` also reads back what came of it
  --children        place child processes too: in the same order, with the same
                    heaps; otherwise they start as if there were no placement
  --openmp          the program uses OpenMP, although its file does not show it
  --ranks           this MPI rank's part of the set, or of all that is allowed
  --report          say what was set, as the system tells it back
  --as dplace       the words are dplace's: -c CPUS -s 1 -n NAME -x MASK COMMAND
  --as execrset     the words are execrset's: -c CPUS -m NODES -e COMMAND

Options of numactl, unchanged (alias numactl='olifant exec'):
  -N -C -m -i -w -p -P -l -b -a -s -H, their long names, and those for shared
  memory: -S -f -L -o -M -I -u -t -d -D -T -V. See numactl(8).
  Numbers are decimal: 010 and 0x8 are refused rather than read as C would.

Threads one by one, heaps and plans are placed inside the program, by a library
that the loader puts there. Statically linked programs, and those that run with
the rights of another user, start without it; a remark says so.

Examples:
  olifant exec --set near:0 --memory striped:1 -- ./server
  olifant exec --threads round-robin -- ./openmp-program
  olifant exec --threads fill --thread 'bio*=float' --heap local -- redis-server
  mpirun -n 8 olifant exec --ranks -- ./solver
  olifant exec --cpunodebind=0 --membind=0,1 -- ./program
  olifant exec --hardware

Exit codes: the program's; 125 for a failure of olifant, 126 for a program that
cannot be run, 127 for one that is not found; with options of numactl alone,
numactl's 1 for each of these.";

/// Arguments of `exec`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_flag = true)]
pub struct Arguments {
    /// Options, then the program and its arguments; `--` before it ends the options
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
    words: Vec<OsString>,
}

/// Becomes the program. Returns what was shown instead, or the code of a failure.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let words = arguments.words.as_slice();
    if matches!(words, [only] if only == "--help" || only == "-h") {
        return help();
    }
    let (dialect, words) = match words {
        [flag, name, rest @ ..] if flag == "--as" => match name.to_str() {
            Some("numactl") => (Dialect::Numactl, rest),
            Some("dplace") => (Dialect::Dplace, rest),
            Some("execrset") => (Dialect::Execrset, rest),
            _ => anyhow::bail!("--as {}: known are numactl, dplace, execrset", name.to_string_lossy()),
        },
        _ => (Dialect::Numactl, words),
    };
    match prepare(dialect, words, &mut Host::default()) {
        Err(failed) => Ok(refuse(&failed)),
        Ok(prepared) => {
            for remark in &prepared.remarks {
                output::say(&format!("olifant: {remark}"));
            }
            match &prepared.launch {
                Launch::Shown { text, code } => {
                    output::print(text)?;
                    Ok(Outcome::Program((*code).into()))
                }
                Launch::Ready { command, environment, inside } => {
                    let mut environment = environment.clone();
                    if let (Some(inside), Some(program)) = (inside, command.first()) {
                        environment.extend(enter(Inside::clone(inside), program, true)?.environment);
                    }
                    let error = exec(command, &environment);
                    Ok(refuse(&Failed { error, as_numactl: prepared.as_numactl }))
                }
            }
        }
    }
}

fn refuse(failed: &Failed) -> Outcome {
    output::say(&format!("olifant: {}", failed.error));
    Outcome::Program(failed.exit_code().into())
}

fn help() -> anyhow::Result<Outcome> {
    let mut olifant = Olifant::command();
    olifant.build();
    if let Some(command) = olifant.find_subcommand_mut("exec") {
        output::print(&command.render_long_help().to_string())?;
    }
    Ok(Outcome::Done)
}
