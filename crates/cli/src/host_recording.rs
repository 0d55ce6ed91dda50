//! A recording on this computer: from the options of `record` to a profile of samples.

use crate::arguments::Format;
use crate::commands::run::tell;
use crate::outcome::Outcome;
use crate::output;
use crate::progress::{ProgramStdout, Step};
use crate::session::keep;
use anyhow::{Context, ensure};
use olifant_frontend::launch::{self, LaunchError};
use olifant_opium::filter::Granularity;
use olifant_opium::profile::Profile;
use olifant_sampler::{Options, Quality, hardware_sampling, record_process, record_program};
use olifant_store::symbols::{Symbolizer, resolve};
use olifant_sys::{Interrupts, Pid};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the computer in front of us.
pub const HOST: &str = "host";
/// The library that tells of allocations.
const SITES: &str = "libolifant_sites.so";
/// Samples of each thread per second: what costs under a hundredth of the program's time (experiments/host-sampling).
pub const DEFAULT_RATE: u32 = 1000;

/// Options of a recording on this computer.
#[derive(Debug, Clone, clap::Args)]
pub struct HostArguments {
    /// Record a process that runs, until it ends, Ctrl-C, or --seconds
    ///
    /// Example: --pid $(pidof postgres)
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), help_heading = "On this computer")]
    pub pid: Option<i32>,

    /// End the recording of --pid after so many seconds
    ///
    /// Example: --pid 4711 --seconds 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "pid", help_heading = "On this computer")]
    pub seconds: Option<u64>,

    /// Samples of each thread per second of its running time
    ///
    /// Example: --rate 4000
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RATE, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "On this computer")]
    pub rate: u32,
}

/// Smallest and largest granule: a cache line, and a huge page.
const GRANULES: std::ops::RangeInclusive<u64> = 64..=2 << 20;

/// What is counted, and where the result goes.
pub struct Place {
    /// Unit of the counters; a page if `None`.
    pub granule: Option<Granularity>,
    /// The profile.
    pub output: PathBuf,
    /// The form of the summary.
    pub format: Format,
    /// The seed of all choices.
    pub seed: u64,
}

/// Whether a program is to be sampled rather than simulated: it exists and has no runtime of ours.
pub fn is_plain(program: &Path) -> bool {
    matches!(launch::locate(program), Err(LaunchError::NotInstrumented(_) | LaunchError::Script(_)))
}

/// Starts a program and records it to its end.
pub fn program(command: &[OsString], arguments: &HostArguments, place: &Place) -> anyhow::Result<Outcome> {
    output::check_writable(&place.output)?;
    let (name, words) = command.split_first().context("no program given")?;
    let name = Path::new(name);
    let options = options(arguments, place)?;
    let wanted = if place.format == Format::Table { ProgramStdout::Passed } else { ProgramStdout::ToStderr };
    let (step, stdout) = Step::begin(&format!("recording {}", name.display()), wanted)?;
    let outcome = record_program(name, &launch::find(name)?, words, stdout, &options);
    drop(step);
    finish(outcome?, arguments, place)
}

/// Records a process that runs.
pub fn process(process: i32, arguments: &HostArguments, place: &Place) -> anyhow::Result<Outcome> {
    output::check_writable(&place.output)?;
    let options = options(arguments, place)?;
    let interrupts = Interrupts::catch();
    let begun = Instant::now();
    let limit = arguments.seconds.map(Duration::from_secs);
    let mut is_enough = |_: &dyn Fn() -> Profile| {
        interrupts.is_asked() || limit.is_some_and(|limit| begun.elapsed() >= limit)
    };
    let (step, _) = Step::begin(&format!("recording process {process}"), ProgramStdout::ToStderr)?;
    let outcome = record_process(Pid(process), &options, &mut is_enough);
    drop(step);
    finish(outcome?, arguments, place).map(|_| Outcome::Done)
}

fn options(arguments: &HostArguments, place: &Place) -> anyhow::Result<Options> {
    let machine = olifant_host::find_machine(&olifant_host::Root::new("/"))?;
    let sites = sites_library();
    if sites.is_none() && arguments.pid.is_none() {
        output::say(&format!(
            "olifant: {SITES} is not beside the command or in ../lib/olifant (`make build` makes it): heaps are \
             recorded without their allocation sites"
        ));
    }
    let granularity = place.granule.unwrap_or(Granularity::Page);
    let granule_bytes = granularity.bytes(machine.processor.l2.line.0, machine.os.page.0);
    ensure!(
        GRANULES.contains(&granule_bytes),
        "--granule {granule_bytes}: samples are counted by {} (a line) to {} bytes",
        GRANULES.start(),
        GRANULES.end()
    );
    Ok(Options { machine, rate: arguments.rate, seed: place.seed, sites, granule_bytes })
}

/// The library beside this command, or where `make install` puts it.
fn sites_library() -> Option<PathBuf> {
    let command = std::env::current_exe().ok()?;
    let folder = command.parent()?;
    let places = [folder.join(SITES), folder.join("../lib/olifant").join(SITES)];
    places.into_iter().find(|place| place.is_file())
}

/// Keeps the profile and tells what it is worth.
fn finish(
    outcome: olifant_sampler::Outcome,
    arguments: &HostArguments,
    place: &Place,
) -> anyhow::Result<Outcome> {
    let olifant_sampler::Outcome { mut profile, quality } = outcome;
    let symbolizer = Symbolizer::new(&profile.modules);
    resolve(&mut profile, &symbolizer);
    keep(&profile, &place.output)?;
    match place.format {
        Format::Table => say_quality(&quality, arguments.rate, profile.totals.seconds),
        format => tell(&profile, Some(&place.output), format)?,
    }
    output::say(&format!("profile: {}", place.output.display()));
    Ok(Outcome::Program(profile.run.exit_code))
}

fn say_quality(quality: &Quality, rate: u32, seconds: f64) {
    let percent = |part: u64| 100.0 * part as f64 / quality.samples.max(1) as f64;
    output::say(&format!(
        "olifant: {} samples of instructions in {seconds:.1} s, {rate} a second of each thread's running time; \
         {:.1} % with no access ahead, {:.1} % of memory that could not be told",
        quality.samples,
        percent(quality.idle),
        percent(quality.without_area),
    ));
    if let Some(unit) = hardware_sampling(&olifant_host::Root::new("/")) {
        output::say(&format!(
            "olifant: this processor can sample addresses and latencies itself, by {unit}: `perf mem record`, then \
             `olifant import`"
        ));
    }
    for (count, what) in [
        (quality.lost, "records were dropped by the kernel: use a lower --rate"),
        (quality.of_others, "samples were of other processes that the program started, and are left out"),
        (quality.untold_allocations, "allocations came too fast to be told of: their memory has no site"),
    ] {
        if count > 0 {
            output::say(&format!("olifant: {count} {what}"));
        }
    }
}
