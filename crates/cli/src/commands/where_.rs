//! `olifant where`: where a running process's threads and pages are.

use crate::arguments::{Format, FormatArguments};
use crate::outcome::Outcome;
use crate::output;
use anyhow::anyhow;
use clap::Args;
use olifant_exec::{Host, ShownAs, Snapshot, World};
use olifant_sys::Pid;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  olifant where 4711
  olifant where --watch 4711
  olifant where --format json $(pidof postgres) | jq .nodes

The process runs on: it is looked at a piece at a time, so the picture is not of
one moment. Only pages in memory count, under each process that maps them.";

/// Clears the terminal and goes to its top.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Arguments of `where`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Show it again every so many seconds until the process ends
    ///
    /// Example: --watch, or --watch=0.5
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = seconds, help_heading = "Output")]
    watch: Option<Duration>,

    #[command(flatten)]
    format: FormatArguments,

    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    process: i32,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected seconds".to_owned())?;
    if !(0.01..=86_400.0).contains(&seconds) {
        return Err("expected 0.01 to 86400 seconds".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Shows the process, once or again and again.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let host = Host::default();
    let hierarchy = host.hierarchy()?;
    let form = match arguments.format.format {
        Format::Table => ShownAs::Table,
        Format::Json => ShownAs::Json,
        Format::Csv => ShownAs::Csv,
    };
    let take = || Snapshot::take(Pid(arguments.process), hierarchy);
    let first = take().map_err(|error| anyhow!("{error}"))?;
    let Some(pause) = arguments.watch else {
        output::print(&first.text(form))?;
        return Ok(Outcome::Done);
    };
    let clears = form == ShownAs::Table && console::Term::stdout().is_term();
    let mut next = Ok(first);
    while let Ok(snapshot) = next {
        output::print(&format!("{}{}", if clears { CLEAR } else { "" }, snapshot.text(form)))?;
        std::thread::sleep(pause);
        next = take();
    }
    // The end of the process is the end of watching it.
    Ok(Outcome::Done)
}
