//! `olifant advise`: a plan from a stored profile.

use crate::arguments::{Format, FormatArguments, TopArguments};
use crate::outcome::Outcome;
use crate::{output, session};
use anyhow::Context;
use clap::Args;
use olifant_advisor::{Options, Verdict, advise};
use olifant_machine::Machine;
use olifant_report::AdviceReport;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  olifant advise ocean.olp
  olifant advise ocean.olp -o ocean.plan.toml
  olifant run --plan ocean.plan.toml -- ./ocean -n 514 -p 16
  olifant advise ocean.olp -o - | less

The exit code is 1, and no plan is written, if nothing is to be gained.";

/// Arguments of `advise`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Plan to write, a TOML file; `-` writes it to stdout in place of the table
    ///
    /// Example: -o ocean.plan.toml
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    top: TopArguments,
    #[command(flatten)]
    format: FormatArguments,
    /// Profile that `olifant record` or `olifant tune` wrote
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
}

/// Makes the plan, and tells it or writes it.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let profile = session::open(&arguments.profile)?;
    let machine = Machine::from_toml(&profile.run.machine_toml)
        .with_context(|| format!("{}: the machine in the profile", arguments.profile.display()))?;
    let advice = advise(&profile, &machine, &Options::default());
    let is_worthwhile = advice.verdict == Verdict::Tune;
    let to_stdout = arguments.output.as_deref() == Some(Path::new("-"));
    if !to_stdout || !is_worthwhile {
        let report = AdviceReport::new(&advice);
        let text = match arguments.format.format {
            Format::Table => report.table(output::style(), arguments.top.top),
            Format::Json => report.json(),
            Format::Csv => report.csv(),
        };
        if to_stdout { output::say(&text) } else { output::print(&text)? }
    }
    if !is_worthwhile {
        return Ok(Outcome::Negative);
    }
    match &arguments.output {
        Some(_) if to_stdout => output::print(&advice.plan.to_toml())?,
        Some(path) => output::write_file(path, &advice.plan.to_toml())?,
        None => {}
    }
    Ok(Outcome::Done)
}
