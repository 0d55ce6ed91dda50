//! `olifant run`: a program on a machine, and what it did there.

use crate::arguments::{
    CardArguments, Format, FormatArguments, MemoryArguments, ProgramArguments, RunArguments,
};
use crate::host_run;
use crate::outcome::Outcome;
use crate::output;
use crate::progress::ProgramStdout;
use crate::session::{Placement, Session, read_plan};
use clap::Args;
use olifant_opium::profile::Profile;
use olifant_report::RunRow;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  olifant run -- ./ocean -n 258 -p 16
  olifant run --config 2N4 --threads round-robin --memory striped:1 -- ./ocean -p 8
  olifant run --on host --plan ocean.plan.toml -- ./ocean -n 514 -p 16
  olifant run --format json -- ./fft3d | jq .l2_misses

The program's stdout stays on stdout and the summary goes to stderr; with --format
json or csv the summary has stdout for itself and the program's goes to stderr.
The exit code is the program's (128 + n for a signal n).

With --on host and a program that was not built by `olifant cc`, it runs on this
computer's own nodes: the plan is applied from inside by the preload library,
and when the program ends, the pages of each area are read back. The exit code
is then 1 if the program's is 0 and something is not where it was to be.";

/// Arguments of `run`.
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
    format: FormatArguments,
    #[command(flatten)]
    program: ProgramArguments,
}

/// Runs the program and tells what it did.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if host_run::is_meant(&arguments.run, &arguments.program) {
        return host_run::execute(
            &arguments.run,
            &arguments.memory,
            &arguments.program,
            arguments.format.format,
        );
    }
    let session = Session::new(&arguments.run, &arguments.program)?.with_card(&arguments.card)?;
    let profile = measure(&session, &arguments.memory, arguments.format.format)?;
    tell(&profile, None, arguments.format.format)?;
    Ok(Outcome::Program(profile.run.exit_code))
}

/// One run under the options' placement.
pub fn measure(session: &Session, memory: &MemoryArguments, format: Format) -> anyhow::Result<Profile> {
    let plan = memory.plan.as_deref().map(read_plan).transpose()?;
    let placement = Placement { memory: &memory.memory, plan: plan.as_ref() };
    let stdout = if format == Format::Table { ProgramStdout::Passed } else { ProgramStdout::ToStderr };
    session.run(&placement, stdout, &format!("running {}", session.name()))
}

/// The summary: beside the program's output for a person, alone on stdout for a program.
pub fn tell(profile: &Profile, kept: Option<&Path>, format: Format) -> anyhow::Result<()> {
    let path = kept.map(|path| path.to_string_lossy());
    let row = RunRow::from_profile(profile, path.as_deref());
    match format {
        Format::Table => {
            output::say(&row.table(output::style()));
            Ok(())
        }
        Format::Json => output::print(&row.json()),
        Format::Csv => output::print(&row.csv()),
    }
}
