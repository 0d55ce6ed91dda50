//! `olifant tune`, the main job: run, plan, run again with the plan, compare.

use crate::arguments::{Format, FormatArguments, ProgramArguments, RunArguments, TopArguments};
use crate::outcome::Outcome;
use crate::output;
use crate::progress::ProgramStdout;
use crate::session::{Placement, Session, keep};
use crate::sources::SourceFiles;
use anyhow::ensure;
use clap::Args;
use olifant_advisor::{Options, advise};
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::Profile;
use olifant_placement::{MemoryPolicy, Plan};
use olifant_report::page::{Page, PageRun, PageTuning};
use olifant_report::{Comparison, TuneReport, Verdict};
use olifant_store::symbols::Symbolizer;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  olifant tune -- ./ocean -n 514 -p 16
  olifant tune --baseline striped:1 --speedup -- ./ocean -n 514 -p 16
  olifant tune --format json -- ./fft3d | jq .verdict

The program's own output, of all runs, goes to stderr. The exit code is 1 if the
verdict is to leave the placement alone, 2 if a run failed.";

/// Arguments of `tune`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    run: RunArguments,

    /// Where pages live in the untuned run: any form of --memory in `olifant run`
    ///
    /// The default is what an operating system does that isn't told anything. Example: --baseline striped:1
    #[arg(long, value_name = "POLICY", default_value = "first-touch", help_heading = "Placement")]
    baseline: MemoryPolicy,

    /// Also run on one processor, and show how many times faster both runs are
    ///
    /// COMMAND is the program as it is started for one thread; without it the same command line is used.
    /// Example: --speedup="./ocean -n 514 -p 1"
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Output")]
    speedup: Option<String>,

    /// Start of the names of the files that are kept: STEM.plan.toml, STEM.untuned.olp, STEM.tuned.olp, STEM.html
    /// (before and after as a page for a browser) [default: PROGRAM]
    ///
    /// Example: -o results/ocean
    #[arg(short, long, value_name = "STEM", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    top: TopArguments,
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    program: ProgramArguments,
}

/// The files that a tuning leaves.
struct Kept {
    untuned: PathBuf,
    tuned: PathBuf,
    plan: PathBuf,
    page: PathBuf,
}

/// Runs, plans, runs again, compares.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let session = Session::new(&arguments.run, &arguments.program)?;
    let kept = Kept::new(&arguments.output.clone().unwrap_or_else(|| PathBuf::from(session.name())))?;
    let untuned =
        run(&session, &Placement { memory: &arguments.baseline, plan: None }, "untuned run", &kept.untuned)?;
    let advice = advise(&untuned, &session.machine, &Options::default());
    let because = match &advice.verdict {
        olifant_advisor::Verdict::LeaveAlone { reason } => Some(reason.as_str()),
        olifant_advisor::Verdict::Tune => None,
    };
    let tuned = if because.is_none() {
        output::write_file(&kept.plan, &advice.plan.to_toml())?;
        let placement = Placement { memory: &arguments.baseline, plan: Some(&advice.plan) };
        Some(run(&session, &placement, "tuned run", &kept.tuned)?)
    } else {
        None
    };
    let single = arguments.speedup.as_deref().map(|command| single_run(&session, command)).transpose()?;
    let untuned_path = kept.untuned.to_string_lossy();
    let tuned_path = kept.tuned.to_string_lossy();
    let plan_path = kept.plan.to_string_lossy();
    let sources = SourceFiles::default();
    let report = Comparison {
        untuned: (&untuned, Some(&untuned_path)),
        tuned: tuned.as_ref().map(|profile| (profile, Some(tuned_path.as_ref()))),
        single: single.as_ref(),
        plan: (&advice.plan, tuned.is_some().then_some(plan_path.as_ref())),
        because,
        source_line: &|file, line| sources.line(file, line),
    }
    .report();
    output::write_file(&kept.page, &page(&untuned, tuned.as_ref(), &report, &advice.plan, &sources))?;
    output::print(&match arguments.format.format {
        Format::Table => report.table(output::style(), arguments.top.top),
        Format::Json => report.json(),
        Format::Csv => report.csv(),
    })?;
    output::say(&format!("page: {}", kept.page.display()));
    Ok(if report.verdict == Verdict::Tuned { Outcome::Done } else { Outcome::Negative })
}

impl Kept {
    /// Names the files after `stem`, and makes sure that they can be written before anything runs.
    fn new(stem: &Path) -> anyhow::Result<Self> {
        let name = |end: &str| {
            let mut name = stem.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let kept = Kept {
            untuned: name(".untuned.olp"),
            tuned: name(".tuned.olp"),
            plan: name(".plan.toml"),
            page: name(".html"),
        };
        for path in [&kept.untuned, &kept.tuned, &kept.plan, &kept.page] {
            output::check_writable(path)?;
        }
        Ok(kept)
    }
}

/// One run, whose profile is kept whatever became of it.
fn run(session: &Session, placement: &Placement, what: &str, kept: &Path) -> anyhow::Result<Profile> {
    let profile = session.run(placement, ProgramStdout::ToStderr, what)?;
    keep(&profile, kept)?;
    ensure!(
        profile.run.is_complete && profile.run.exit_code == 0,
        "{}: the {what} ended with code {}; what was measured is in {}",
        session.name(),
        profile.run.exit_code,
        kept.display()
    );
    Ok(profile)
}

/// The run that speed-ups are counted from.
fn single_run(session: &Session, command: &str) -> anyhow::Result<Profile> {
    let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
    let session = session.on_one_processor((!words.is_empty()).then_some(&words))?;
    let placement = Placement { memory: &MemoryPolicy::FirstTouch, plan: None };
    session.run(&placement, ProgramStdout::ToStderr, "run on one processor")
}

/// Before and after for a browser.
fn page(
    untuned: &Profile,
    tuned: Option<&Profile>,
    report: &TuneReport,
    plan: &Plan,
    sources: &SourceFiles,
) -> String {
    let symbols = Symbolizer::new(&untuned.modules);
    let symbols_tuned = tuned.map(|profile| Symbolizer::new(&profile.modules));
    let locate = |address| symbols.frames_at(address).into_iter().next();
    let locate_tuned = |address| symbols_tuned.as_ref()?.frames_at(address).into_iter().next();
    let (map, map_tuned) = (GranuleMap::of(untuned), tuned.map(GranuleMap::of));
    let tuned = tuned.zip(map_tuned.as_ref());
    let tuned = tuned.map(|(profile, map)| PageRun { profile, map, locate: &locate_tuned });
    Page {
        run: PageRun { profile: untuned, map: &map, locate: &locate },
        tuning: Some(PageTuning { report, plan, tuned }),
        source_line: &|file, line| sources.line(file, line),
    }
    .html()
}
