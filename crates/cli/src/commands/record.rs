//! `olifant record`: a run whose measurements are kept in a profile file.

use crate::arguments::{CardArguments, FormatArguments, MemoryArguments, ProgramArguments, RunArguments};
use crate::commands::run::{measure, tell};
use crate::outcome::Outcome;
use crate::output;
use crate::session::{Session, keep};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  olifant record -o ocean.olp --memory striped:1 -- ./ocean -n 514 -p 16
  olifant record --filter multigrid_create,granule=line -- ./ocean -p 16
  olifant report ocean.olp
  olifant advise ocean.olp -o ocean.plan.toml

Output and exit code are those of `olifant run`. Ctrl-C, a crash or a kill of the
program keeps what was measured until then.";

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

    /// Profile to write, one SQLite file [default: PROGRAM.olp in this folder]
    ///
    /// Example: -o ocean.olp
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    program: ProgramArguments,
}

/// Runs the program, keeps its profile, and tells what it did.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let session = Session::new(&arguments.run, &arguments.program)?.with_card(&arguments.card)?;
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.olp", session.name())));
    output::check_writable(&path)?;
    let profile = measure(&session, &arguments.memory, arguments.format.format)?;
    keep(&profile, &path)?;
    tell(&profile, Some(&path), arguments.format.format)?;
    output::say(&format!("profile: {}", path.display()));
    Ok(Outcome::Program(profile.run.exit_code))
}
