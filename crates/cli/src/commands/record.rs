//! `olifant record`: a run whose measurements are kept in a profile file. An instrumented program runs on a simulated
//! machine; with `--on host` or `--pid` any program is sampled as it runs on this computer.

use crate::arguments::{CardArguments, FormatArguments, MemoryArguments, ProgramArguments, RunArguments};
use crate::commands::run::{measure, tell};
use crate::outcome::Outcome;
use crate::session::{Session, keep};
use crate::{host_recording, output};
use anyhow::bail;
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  olifant record -o ocean.olp --memory striped:1 -- ./ocean -n 514 -p 16
  olifant record --filter multigrid_create,granule=line -- ./ocean -p 16
  olifant report ocean.olp
  olifant advise ocean.olp -o ocean.plan.toml

On this computer, any program as it is (see docs/host.md):
  olifant record --on host -- ./server
  olifant record --pid 4711 --seconds 10

Output and exit code are those of `olifant run`. Ctrl-C, a crash or a kill of the
program keeps what was measured until then; with --pid, Ctrl-C ends the recording
and the program runs on.";

/// Arguments of `record`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    #[command(flatten)]
    memory: MemoryArguments,
    #[command(flatten)]
    card: CardArguments,
    #[command(flatten)]
    host: host_recording::HostArguments,

    /// Profile to write, one SQLite file [default: PROGRAM.olp in this folder]
    ///
    /// Example: -o ocean.olp
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArguments,

    /// The program and its arguments; `--` before it ends olifant's own options
    ///
    /// Built with `olifant cc`, or any program with --on host. Example: -- ./ocean -n 514 -p 16
    #[arg(value_name = "PROGRAM", required_unless_present = "pid", trailing_var_arg = true, num_args = 1..)]
    command: Vec<OsString>,
}

/// Runs the program, keeps its profile, and tells what it did.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(process) = arguments.host.pid {
        if !arguments.command.is_empty() {
            bail!("--pid {process} is a program that runs already: give it or one to start, not both");
        }
        return host_recording::process(process, &arguments.host, &arguments.place(&format!("{process}")));
    }
    let on_host = arguments.run.machine.on == host_recording::HOST;
    if on_host && host_recording::is_plain(Path::new(&arguments.command[0])) {
        if arguments.memory.plan.is_some() {
            bail!("--plan with --on host: use `olifant run --on host --plan` to place a plain program");
        }
        let name =
            Path::new(&arguments.command[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
        return host_recording::program(&arguments.command, &arguments.host, &arguments.place(&name));
    }
    let program = ProgramArguments { command: arguments.command.clone() };
    let session = Session::new(&arguments.run, &program)?.with_card(&arguments.card)?;
    let path = arguments.path(&session.name());
    output::check_writable(&path)?;
    let profile = measure(&session, &arguments.memory, arguments.format.format)?;
    keep(&profile, &path)?;
    tell(&profile, Some(&path), arguments.format.format)?;
    output::say(&format!("profile: {}", path.display()));
    Ok(Outcome::Program(profile.run.exit_code))
}

impl Arguments {
    /// The profile's file, named after the program unless the user named it.
    fn path(&self, program: &str) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{program}.olp")))
    }

    fn place(&self, program: &str) -> host_recording::Place {
        host_recording::Place {
            granule: self.card.granule,
            output: self.path(program),
            format: self.format.format,
            seed: self.run.seed,
        }
    }
}
