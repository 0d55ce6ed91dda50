//! `olifant move`: a running process's pages and threads to other nodes and cpus, and back.

use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use olifant_exec::{Goal, Host, Moved, Mover, Undo};
use olifant_machine::NodeSet;
use olifant_sys::Pid;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  olifant move 4711 --to 1
  olifant move 4711 --from 0 --to 2,3 --threads 8-15 --save before.json
  olifant move 4711 --undo before.json

Pages move in batches while the process runs; --stall bounds how long one takes.
The exit code is 1 if some pages stayed where they were; stderr says why.";

/// Arguments of `move`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    process: i32,

    /// Set whose nodes pages go to
    ///
    /// Pages already there stay. Any form of a set; a plain number is a node here. Example: --to 1, --to near:2
    #[arg(long, value_name = "NODES", required_unless_present_any = ["threads", "undo"])]
    to: Option<String>,

    /// Move only pages that are on these nodes
    ///
    /// Where there are as many of them as of --to, they pair up in order. Example: --from 0,1 --to 2,3
    #[arg(long, value_name = "NODES", requires = "to")]
    from: Option<String>,

    /// Set whose cpus all threads are to run on
    ///
    /// Example: --threads 4-7, --threads nodes=1
    #[arg(long, value_name = "SET")]
    threads: Option<String>,

    /// Move pages too that other processes map as well (needs root)
    ///
    /// Example: --shared --to 1
    #[arg(long, requires = "to")]
    shared: bool,

    /// Milliseconds that a batch of pages may take
    ///
    /// Example: --stall 1, for a process that must answer quickly
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    stall: u64,

    /// Write where everything was to FILE, for --undo
    ///
    /// Example: --save before.json
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Move everything back to where FILE says it was
    ///
    /// Example: --undo before.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to", "from", "threads", "save"])]
    undo: Option<PathBuf>,
}

/// Moves, and says what came of it.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let process = Pid(arguments.process);
    let mover = match &arguments.undo {
        Some(file) => Mover::back(process, Undo::read(file, process)?),
        None => prepare(arguments, process)?,
    };
    if let Some(file) = &arguments.save {
        mover.undo().write(file).context("keep the way back")?;
    }
    let (pages, _) = mover.size();
    let bar = ProgressBar::new(pages as u64)
        .with_style(ProgressStyle::with_template("moving pages {wide_bar} {pos}/{len} {eta}")?);
    let moved = mover.run(Duration::from_millis(arguments.stall), |progress| {
        bar.set_position(progress.done as u64);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let moved = moved.map_err(|error| anyhow!("{error}"))?;
    tell(&moved);
    Ok(if moved.stayed.is_empty() { Outcome::Done } else { Outcome::Negative })
}

fn prepare(arguments: &Arguments, process: Pid) -> anyhow::Result<Mover> {
    let host = Host::default();
    let system = host.system()?;
    let nodes = |text: &str| -> anyhow::Result<NodeSet> {
        // Where nodes are asked for, numbers are nodes.
        let set = if text.starts_with(|first: char| first.is_ascii_digit()) {
            system.parse(&format!("nodes={text}"))?
        } else {
            system.parse(text)?
        };
        if set.nodes.is_empty() {
            bail!("{text}: this set has no memory");
        }
        Ok(set.nodes)
    };
    let goal = match &arguments.to {
        Some(to) => Some(Goal {
            from: arguments.from.as_deref().map(nodes).transpose()?,
            to: nodes(to)?,
            shared: arguments.shared,
        }),
        None => None,
    };
    let cpus = match &arguments.threads {
        Some(text) => Some(system.parse(text)?.cpus),
        None => None,
    };
    Mover::prepare(process, goal.as_ref(), cpus.as_ref()).map_err(|error| anyhow!("{error}"))
}

fn tell(moved: &Moved) {
    let mut text = format!("olifant: {} pages moved", moved.moved);
    if moved.threads > 0 {
        text += &format!(", {} threads", moved.threads);
    }
    if moved.gone > 0 {
        text += &format!("; {} pages were gone", moved.gone);
    }
    text += &format!("; the longest batch took {:.1} ms", moved.longest_batch.as_secs_f64() * 1e3);
    for (reason, pages) in &moved.stayed {
        text += &format!("\nolifant: {pages} pages stayed: {reason}");
    }
    output::say(&text);
}
