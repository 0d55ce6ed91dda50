//! `olifant reproduce`: published tables and figures, run again, each value with its error.

use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use olifant_ledger::{
    Event, Extent, Ledger, Library, Olifant, Plan, Published, Records, RowPattern, RunDefinition,
    execute as make_runs, read_published,
};
use std::io::IsTerminal;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const EXAMPLES: &str = "\
Examples:
  olifant reproduce --recorded
  olifant reproduce nt-table-1 nt-table-2 --format html > ledger.html
  olifant reproduce --only 'Jacobi | 4N4 | * | t1,m2'
  olifant reproduce --quick nt-table-2

Runs whose record is there are not made again, so an interrupted evaluation goes on
where it was. Statements that fail do not make the command fail; a run that cannot
be made does (exit code 2), after the ledger of all others is printed.";

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Tables and figures by name; all without one
    #[arg(value_name = "EXPERIMENT")]
    names: Vec<String>,

    /// Reduced sizes, for a check in minutes; every row says that it is scaled
    ///
    /// Example: --quick nt-table-2
    #[arg(long, help_heading = "Runs")]
    quick: bool,

    /// Of programs that count steps run a few, and extrapolate; rows say so, and full runs take their place
    ///
    /// Example: --steps nt-table-1
    #[arg(long, conflicts_with = "quick", help_heading = "Runs")]
    steps: bool,

    /// Run nothing: the ledger of the records that are there
    ///
    /// Example: --recorded --format csv
    #[arg(long, conflicts_with_all = ["again", "jobs", "steps"], help_heading = "Runs")]
    recorded: bool,

    /// Only these rows: APPLICATION | CONFIGURATION | THREADS | POLICY, each word or * for any
    ///
    /// For runs the policy is a pair of labels, as t1,m2. Example: --only 'Ocean | 4N4 | 16 | *'
    #[arg(long, value_name = "ROWS", help_heading = "Runs")]
    only: Option<RowPattern>,

    /// Make runs again whose record is of another build of the program
    ///
    /// Example: --again nt-table-2
    #[arg(long, help_heading = "Runs")]
    again: bool,

    /// Runs at a time [default: the number of cores]
    ///
    /// Example: --jobs 1
    #[arg(long, value_name = "N", help_heading = "Runs")]
    jobs: Option<NonZero<usize>>,

    /// Further published values, in the columns of published.csv
    ///
    /// Example: --published more.csv
    #[arg(long, value_name = "FILE", help_heading = "Definitions")]
    published: Option<PathBuf>,

    /// The folder of definitions
    ///
    /// Example: --experiments ../olifant/experiments
    #[arg(long, value_name = "FOLDER", default_value = "experiments", help_heading = "Definitions")]
    experiments: PathBuf,

    /// The folder of programs built with `olifant cc`
    ///
    /// Example: --programs build/bin
    #[arg(long, value_name = "FOLDER", default_value = "build/bin", help_heading = "Definitions")]
    programs: PathBuf,

    /// The folder of records [default: records in the folder of definitions, or records-quick with --quick]
    ///
    /// Example: --records fresh
    #[arg(long, value_name = "FOLDER", help_heading = "Definitions")]
    records: Option<PathBuf>,

    /// Form of the ledger: table, json, csv or html (a page for a browser, with each figure drawn)
    ///
    /// Example: --format html > ledger.html
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Table, hide_possible_values = true, help_heading = "Output")]
    format: Form,
}

/// The form of the ledger on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a person
    Table,
    /// For a program: rows, shapes, summary
    Json,
    /// For a spreadsheet: a header and rows
    Csv,
    /// For a browser: one file, with each figure drawn
    Html,
}

/// Makes the runs that are missing, and prints the ledger.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let library = Library::read(&arguments.experiments)?;
    let chosen = choose(&library, &arguments.names)?;
    let extent = if arguments.quick { Extent::Quick } else { Extent::Full };
    let folder = if arguments.quick { "records-quick" } else { "records" };
    let records =
        Records::new(arguments.records.clone().unwrap_or_else(|| arguments.experiments.join(folder)));
    let further = match &arguments.published {
        Some(path) => read_published(path)?,
        None => Vec::new(),
    };
    let failed = if arguments.recorded { 0 } else { run(arguments, &library, &chosen, extent, &records)? };
    show(arguments, &library, &chosen, extent, &records, &further)?;
    ensure!(failed == 0, "{failed} runs could not be made; their rows say so");
    Ok(Outcome::Done)
}

/// The experiments by index, in the order of the library.
fn choose(library: &Library, names: &[String]) -> anyhow::Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..library.experiments.len()).collect());
    }
    let mut chosen = names.iter().map(|name| library.find(name)).collect::<Result<Vec<usize>, _>>()?;
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// Makes the runs that are missing; how many could not be made.
fn run(
    arguments: &Arguments,
    library: &Library,
    chosen: &[usize],
    extent: Extent,
    records: &Records,
) -> anyhow::Result<usize> {
    let plan = Plan::new(library, chosen, extent)?;
    let olifant = Olifant {
        command: std::env::current_exe().context("find the olifant command")?,
        programs: arguments.programs.clone(),
        machines: library.machines.clone(),
    };
    let mut missing = Vec::new();
    let mut of_other_builds = 0;
    for index in plan.runs_of(library, arguments.only.as_ref()) {
        let run = match &plan.by_steps[index] {
            Some(by_steps) if arguments.steps => by_steps,
            _ => &plan.runs[index],
        };
        let found = if arguments.steps { plan.record(index, records)? } else { records.find(run)? };
        match found {
            None => missing.push(run),
            Some(record) if record.provenance.program != olifant.program_digest(&run.program)? => {
                of_other_builds += 1;
                missing.extend(arguments.again.then_some(run));
            }
            Some(_) => {}
        }
    }
    if of_other_builds > 0 && !arguments.again {
        output::say(&format!(
            "olifant: {of_other_builds} records are of another build of their program and are taken as they are; --again \
             makes them anew"
        ));
    }
    if missing.is_empty() {
        return Ok(0);
    }
    let cores = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let stop = Arc::new(AtomicBool::new(false));
    // The first interrupt ends the evaluation in order, a second one at once.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("ask for word of an interrupt")?;
    }
    let progress = Progress::new(missing.len());
    let failures =
        make_runs(&missing, records, &olifant, arguments.jobs.unwrap_or(cores).get(), &stop, &|event| {
            progress.tell(event);
        });
    progress.bar.finish_and_clear();
    if stop.load(Ordering::Relaxed) {
        bail!("interrupted; the runs that were done are kept, and the same command goes on from there");
    }
    for failure in &failures {
        output::say(&format!("olifant: {}", failure.error));
    }
    Ok(failures.len())
}

fn show(
    arguments: &Arguments,
    library: &Library,
    chosen: &[usize],
    extent: Extent,
    records: &Records,
    further: &[Published],
) -> anyhow::Result<()> {
    let ledger = Ledger::new(library, chosen, records, extent, further, arguments.only.as_ref())?;
    let titles = |name: &str| {
        let index = library.find(name).ok();
        let experiment = index.map(|index| &library.experiments[index]);
        experiment.map_or_else(Default::default, |found| (found.title.clone(), found.source.clone()))
    };
    output::print(&match arguments.format {
        Form::Table => olifant_report::ledger::table(&ledger, &|name| titles(name).0, output::style()),
        Form::Json => olifant_report::ledger::json(&ledger),
        Form::Csv => olifant_report::ledger::csv(&ledger),
        Form::Html => olifant_report::ledger::html(&ledger, &titles),
    })
}

/// What is told while runs are made: a bar on a terminal, else a line for each run that has ended.
struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
}

impl Progress {
    fn new(runs: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if is_terminal { ProgressBar::new(runs as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} runs, {msg}") {
            bar.set_style(style);
        }
        Progress { bar, is_terminal }
    }

    fn tell(&self, event: Event) {
        let words = |run: &RunDefinition| run.words();
        match event {
            Event::Started { run } => {
                if self.bar.position() == 0 {
                    self.bar.set_message(words(run));
                }
            }
            Event::Ended { run, done, all, left } => {
                let message = format!("about {} left; {}", HumanDuration(left), words(run));
                self.bar.set_position(done as u64);
                self.bar.set_message(message.clone());
                if !self.is_terminal {
                    output::say(&format!("olifant: {done} of {all} runs, {message}"));
                }
            }
        }
    }
}
