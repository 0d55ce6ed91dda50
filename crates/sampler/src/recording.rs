//! A recording from its beginning to its end: of a program that is started for it, or of a process that runs.

use crate::SamplerError;
use crate::events::{Events, Watched, of_registers};
use crate::process::{Process, Setting};
use crate::profile::{About, profile};
use crate::recorder::{Recorder, period_ns};
use olifant_frontend::forward::Forwarding;
use olifant_heaplog::{LOG_VARIABLE, Log};
use olifant_machine::Machine;
use olifant_opium::profile::Profile;
use olifant_sys::{Pid, Root, monotonic_ns};
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often new records are looked at. A ring holds the samples of seconds at the default rate.
const PAUSE: Duration = Duration::from_millis(50);
/// Allocations from this size on are areas of their own; it is the size of a page, below which places mean nothing.
const LEAST_BYTES: u64 = 4096;

/// How to record.
#[derive(Debug, Clone)]
pub struct Options {
    /// The computer in front of us.
    pub machine: Machine,
    /// Samples of each thread per second of its running time.
    pub rate: u32,
    /// Seed of all choices.
    pub seed: u64,
    /// The library that tells of allocations; without it, heaps are known as mappings only.
    pub sites: Option<PathBuf>,
    /// Bytes per granule.
    pub granule_bytes: u64,
}

/// How good the samples are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quality {
    /// Samples of the process.
    pub samples: u64,
    /// Of those, the ones with no access ahead.
    pub idle: u64,
    /// Accesses whose area could not be told.
    pub without_area: u64,
    /// Records that the kernel had to drop.
    pub lost: u64,
    /// Samples of other processes that came of the program.
    pub of_others: u64,
    /// Allocations that could not be told of.
    pub untold_allocations: u64,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The profile; sites are not resolved yet.
    pub profile: Profile,
    /// How good it is.
    pub quality: Quality,
}

/// Starts the program at `path`, called `name`, and records it to its end.
/// # Errors  [`SamplerError`]; a program that starts and fails is an [`Outcome`].
pub fn record_program(
    name: &Path,
    path: &Path,
    arguments: &[OsString],
    stdout: Stdio,
    options: &Options,
) -> Result<Outcome, SamplerError> {
    check_architecture()?;
    let shared = Shared::new(options)?;
    let mut events =
        Events::open(of_registers(period_ns(options.rate)), Watched::Next, &cpus(&options.machine))?;
    let mut command = Command::new(path);
    command.args(arguments).arg0(name).stdout(stdout);
    shared.tell(&mut command);
    let failed = |source| SamplerError::Start { program: name.display().to_string(), source };
    let begun_ns = monotonic_ns();
    let mut child = command.spawn().map_err(failed)?;
    let number = child.id().cast_signed();
    let node_of = |cpu| node_of(&options.machine, cpu);
    let mut recorder =
        recorder(&options.machine, options.granule_bytes, options.seed, &node_of, &|_, _| None);
    let forwarding = Forwarding::to(number);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        std::thread::sleep(PAUSE);
        recorder.take(&mut events, shared.log.as_ref(), false);
    };
    drop(forwarding);
    let seconds = (monotonic_ns() - begun_ns) as f64 / 1e9;
    recorder.take(&mut events, shared.log.as_ref(), true);
    let about = About {
        machine: &options.machine,
        program: name.display().to_string(),
        arguments: arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        threads: "float".to_owned(),
        memory: "first-touch".to_owned(),
        seed: options.seed,
        granule_bytes: options.granule_bytes,
        begun_ns,
        seconds,
        exit_code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        is_complete: status.signal().is_none(),
    };
    Ok(outcome(&recorder, number, &about, shared.log.as_ref()))
}

/// Records a process that runs until it ends or `is_enough` says so. That is asked some times a second, and is given a way
/// to look at the profile so far.
/// # Errors  [`SamplerError`].
pub fn record_process(
    process: Pid,
    options: &Options,
    is_enough: &mut dyn FnMut(&dyn Fn() -> Profile) -> bool,
) -> Result<Outcome, SamplerError> {
    check_architecture()?;
    let (name, arguments) = command_line(process)?;
    let watched = Watched::Running(process);
    let begun_ns = monotonic_ns();
    let mut events = Events::open(of_registers(period_ns(options.rate)), watched, &cpus(&options.machine))?;
    let node_of = |cpu| node_of(&options.machine, cpu);
    let mut recorder =
        recorder(&options.machine, options.granule_bytes, options.seed, &node_of, &|_, _| None);
    recorder.look_at(process)?;
    let about = |is_complete| About {
        machine: &options.machine,
        program: name.clone(),
        arguments: arguments.clone(),
        threads: "float".to_owned(),
        memory: "first-touch".to_owned(),
        seed: options.seed,
        granule_bytes: options.granule_bytes,
        begun_ns,
        seconds: (monotonic_ns() - begun_ns) as f64 / 1e9,
        exit_code: 0,
        is_complete,
    };
    let mut has_ended = false;
    while !has_ended && !is_enough(&|| outcome(&recorder, process.0, &about(false), None).profile) {
        std::thread::sleep(PAUSE);
        recorder.take(&mut events, None, false);
        has_ended = command_line(process).is_err();
    }
    events.switch(false);
    let about = about(has_ended);
    recorder.take(&mut events, None, true);
    Ok(outcome(&recorder, process.0, &about, None))
}

/// A recorder for a machine.
pub(crate) fn recorder<'a>(
    machine: &Machine,
    granule_bytes: u64,
    seed: u64,
    node_of: &'a dyn Fn(u32) -> u16,
    home_of: &'a dyn Fn(u32, bool) -> Option<u16>,
) -> Recorder<'a> {
    Recorder::new(Setting { node_of, home_of, granule_bytes }, machine.nodes.len() > 1, seed)
}

/// The profile of the process with the most samples: `started`, or what a script or shell started in its turn.
pub(crate) fn outcome(recorder: &Recorder, started: i32, about: &About, log: Option<&Log>) -> Outcome {
    let nothing = Process::default();
    let busiest =
        recorder.processes.iter().max_by_key(|(number, process)| (process.samples, **number == started));
    let (chosen, process) = busiest.map_or((started, &nothing), |(number, process)| (*number, process));
    let others = recorder.processes.iter().filter(|(number, _)| **number != chosen);
    let of_others = recorder.of_forgotten + others.map(|(_, process)| process.samples).sum::<u64>();
    let (profile, without_area) = profile(process, about);
    let quality = Quality {
        samples: process.samples,
        idle: process.idle,
        without_area,
        lost: recorder.lost,
        of_others,
        untold_allocations: log.map_or(0, Log::lost),
    };
    Outcome { profile, quality }
}

/// The program's name and arguments, as it shows them.
fn command_line(process: Pid) -> Result<(String, Vec<String>), SamplerError> {
    let text = match Root::default().text(format!("proc/{process}/cmdline")) {
        Ok(text) => text,
        Err(error) if error.is_gone() => return Err(SamplerError::NoProcess(process.0)),
        Err(error) => return Err(error.into()),
    };
    let mut words = text.trim_end_matches('\0').split('\0').map(str::to_owned);
    match words.next().filter(|name| !name.is_empty()) {
        Some(name) => Ok((name, words.collect())),
        // It has ended and waits for its parent, or is of the kernel.
        None => Err(SamplerError::NoProcess(process.0)),
    }
}

fn cpus(machine: &Machine) -> Vec<u32> {
    machine.nodes.iter().flat_map(|node| &node.cpus).map(|cpu| u32::from(cpu.0)).collect()
}

pub(crate) fn node_of(machine: &Machine, cpu: u32) -> u16 {
    let has = |node: &&olifant_machine::Node| node.cpus.iter().any(|of| u32::from(of.0) == cpu);
    machine.nodes.iter().find(has).map_or(0, |node| node.id.0)
}

fn check_architecture() -> Result<(), SamplerError> {
    if cfg!(target_arch = "x86_64") {
        Ok(())
    } else {
        Err(SamplerError::Architecture(std::env::consts::ARCH))
    }
}

/// The log that the program tells its allocations in, for the time of the recording.
struct Shared {
    path: PathBuf,
    log: Option<Log>,
    library: PathBuf,
}

impl Shared {
    fn new(options: &Options) -> Result<Shared, SamplerError> {
        let library = options.sites.clone().unwrap_or_default();
        for attempt in 0_u32.. {
            let path = std::env::temp_dir().join(format!("olifant-{}-{attempt}.sites", std::process::id()));
            if options.sites.is_none() {
                return Ok(Shared { path: PathBuf::new(), log: None, library });
            }
            match Log::create(&path, LEAST_BYTES) {
                Ok(log) => return Ok(Shared { path, log: Some(log), library }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(SamplerError::Temporary { path, source }),
            }
        }
        unreachable!("the numbers of attempts do not end")
    }

    /// The environment that makes a program tell.
    fn tell(&self, command: &mut Command) {
        if self.log.is_none() {
            return;
        }
        let mut preload = self.library.clone().into_os_string();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        command.env("LD_PRELOAD", preload).env(LOG_VARIABLE, &self.path);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.log.is_some() {
            // What cannot be removed is in the folder for temporary files, where others clean up.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
