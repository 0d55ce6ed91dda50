//! A plain program on this computer's own nodes: threads and pages placed from inside, and read back when it ends.

use crate::arguments::{Format, MemoryArguments, ProgramArguments, RunArguments};
use crate::inside::enter;
use crate::machines::HOST;
use crate::outcome::Outcome;
use crate::output;
use crate::progress::{ProgramStdout, Step};
use anyhow::Context;
use olifant_exec::{Host, Inside, Launch, Own, locate, ready};
use olifant_frontend::inside::InsideReport;
use olifant_frontend::launch::launch_plain;
use olifant_placement::{MemoryPolicy, ThreadPolicy};
use olifant_report::{PlacedArea, PlacedRun};
use olifant_store::symbols::is_instrumented;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Whether the options mean the host itself: `--on host` with a program that cannot be simulated.
pub fn is_meant(run: &RunArguments, program: &ProgramArguments) -> bool {
    let file = || program.command.first().and_then(|program| locate(program));
    run.machine.on == HOST && file().is_some_and(|file| !is_instrumented(&file).unwrap_or(false))
}

/// Runs it and tells where everything was.
pub fn execute(
    run: &RunArguments,
    memory: &MemoryArguments,
    program: &ProgramArguments,
    format: Format,
) -> anyhow::Result<Outcome> {
    let (name, arguments) = program.command.split_first().context("no program given")?;
    let machine = olifant_host::find_machine(&olifant_host::Root::new("/"))?;
    let report = tempfile::NamedTempFile::new().context("no place for the program's report; set TMPDIR")?;
    let (mut environment, inside) = prepare(run, memory, &program.command)?;
    let mut names = Vec::new();
    let is_inside = inside.is_some();
    if let Some(mut inside) = inside {
        inside.spec.report = Some(report.path().to_string_lossy().into_owned());
        let entry = enter(inside, name, false)?;
        environment.extend(entry.environment);
        names = entry.names;
    }
    let stdout = if format == Format::Table { ProgramStdout::Passed } else { ProgramStdout::ToStderr };
    let file = Path::new(name);
    let (step, stdout) = Step::begin(&format!("running {}", file.display()), stdout)?;
    let ended = launch_plain(file, arguments, &environment, stdout);
    drop(step);
    let code = ended?;
    let left = std::fs::read(report.path()).ok().filter(|bytes| !bytes.is_empty());
    let left = left.and_then(|bytes| InsideReport::from_bytes(&bytes));
    let placed = placed_run(file, machine.configuration(), code, left, is_inside, names);
    match format {
        Format::Table => output::say(&placed.table(output::style())),
        Format::Json => output::print(&placed.json())?,
        Format::Csv => output::print(&placed.csv())?,
    }
    // A program that failed says more by its own code.
    if code == 0 && !placed.is_as_planned() { Ok(Outcome::Negative) } else { Ok(Outcome::Program(code)) }
}

/// Carries out on this process what can be done from outside; the variables for the program, and what is left.
#[allow(clippy::type_complexity)]
fn prepare(
    run: &RunArguments,
    memory: &MemoryArguments,
    command: &[OsString],
) -> anyhow::Result<(Vec<(&'static str, OsString)>, Option<Inside>)> {
    let own = own_options(run, memory);
    let prepared = ready(&own, command, &mut Host::default())?;
    for remark in &prepared.remarks {
        output::say(&format!("olifant: {remark}"));
    }
    match prepared.launch {
        Launch::Ready { environment, inside, .. } => Ok((environment, inside.map(|inside| *inside))),
        Launch::Shown { .. } => Ok((Vec::new(), None)),
    }
}

/// The options in the launcher's words. Stripes of several pages have no policy for a whole process, and go to malloc's heap.
fn own_options(run: &RunArguments, memory: &MemoryArguments) -> Own {
    let is_wide = matches!(memory.memory, MemoryPolicy::Striped { pages } if pages > 1);
    let policy = (memory.memory != MemoryPolicy::FirstTouch).then(|| memory.memory.clone().into());
    let (heap, memory_policy) = if is_wide { (policy, None) } else { (None, policy) };
    Own {
        threads: (run.threads != ThreadPolicy::Float).then(|| run.threads.clone()),
        memory: memory_policy,
        heap,
        plan: memory.plan.clone(),
        ..Own::default()
    }
}

fn placed_run(
    program: &Path,
    configuration: String,
    exit_code: i32,
    left: Option<InsideReport>,
    is_inside: bool,
    names: Vec<String>,
) -> PlacedRun {
    let complete = left.is_some() || !is_inside;
    let left = left.unwrap_or_default();
    let found = left.areas.into_iter().chain(core::iter::repeat_with(Default::default));
    let areas: Vec<PlacedArea> = names
        .into_iter()
        .zip(found)
        .map(|(name, found)| PlacedArea {
            name,
            areas: found.areas,
            unplaced: found.unplaced,
            unread: found.unread,
            at_home: found.at_home,
            elsewhere: found.elsewhere,
            untouched: found.absent,
            causes: found.causes,
        })
        .collect();
    PlacedRun {
        program: PathBuf::from(program).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        configuration,
        exit_code,
        complete,
        threads_bound: left.threads_bound,
        threads_refused: left.threads_refused,
        placed_share: PlacedRun::share(&areas),
        areas,
    }
}
