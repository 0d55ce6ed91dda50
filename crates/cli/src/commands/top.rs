//! `olifant top`: a running process, live: its threads, its nodes, its pages, and what it accesses.

use crate::host_recording::DEFAULT_RATE;
use crate::outcome::Outcome;
use crate::output;
use crate::top::{Live, Screen, lines};
use anyhow::anyhow;
use clap::Args;
use olifant_exec::{Host, Snapshot, World};
use olifant_sys::{Interrupts, Pid};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  olifant top 4711
  olifant top --once $(pidof postgres)

q or Ctrl-C ends it; the process runs on. Where the kernel does not let us sample,
the reason stands in the place of the areas, and the rest is shown all the same.";

/// How wide a table is that goes to no terminal.
const PLAIN_WIDTH: usize = 100;

/// Arguments of `top`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one table after the first interval, and end; so does a stdout that is no terminal
    ///
    /// Example: --once
    #[arg(long, help_heading = "Output")]
    once: bool,

    /// Seconds between two pictures
    ///
    /// Example: --interval 2
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = "Output")]
    interval: u64,

    /// Samples of each thread per second of its running time; 0 shows no accesses
    ///
    /// Example: --rate 0
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RATE, value_parser = clap::value_parser!(u32).range(0..=100_000), help_heading = "On this computer")]
    rate: u32,

    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    process: i32,
}

/// Shows the process until it ends, or somebody asks to stop.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let host = Host::default();
    let hierarchy = host.hierarchy()?;
    let take = || Snapshot::take(Pid(arguments.process), hierarchy);
    let interval = Duration::from_secs(arguments.interval);
    let interrupts = Interrupts::catch();
    // A process that is not there is told before the screen is taken.
    let mut snapshot = take().map_err(|error| anyhow!("{error}"))?;
    let live = Live::begin(Pid(arguments.process), arguments.rate)?;
    if arguments.once || !std::io::stdout().is_terminal() {
        let until = Instant::now() + interval;
        while Instant::now() < until && !interrupts.is_asked() {
            std::thread::sleep(Duration::from_millis(50));
        }
        // What ended meanwhile is shown as it was.
        let last = take().unwrap_or(snapshot);
        let text = lines(&last, &live.seen(), PLAIN_WIDTH, usize::MAX).join("\n");
        output::print(&format!("{text}\n"))?;
        return Ok(Outcome::Done);
    }
    let mut screen = Screen::begin()?;
    loop {
        screen.draw(|width, height| lines(&snapshot, &live.seen(), width, height))?;
        let until = Instant::now() + interval;
        if screen.wait(until, &interrupts)?.is_quit() {
            break;
        }
        match take() {
            Ok(next) => snapshot = next,
            Err(_) => break,
        }
    }
    drop(screen);
    Ok(Outcome::Done)
}
