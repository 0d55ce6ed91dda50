//! One program on one machine, ready to be run with this or that placement: the steps that `run`, `record` and `tune`
//! share, from the options to a profile with readable names.

use crate::arguments::{CardArguments, ProgramArguments, RunArguments};
use crate::progress::{ProgramStdout, Step};
use crate::{machines, output, rules};
use anyhow::{Context, anyhow, bail};
use olifant_frontend::launch;
use olifant_frontend::spec::RunSpec;
use olifant_machine::{CpuId, Machine};
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::Profile;
use olifant_opium::{Board, CardProgram};
use olifant_placement::{MemoryPolicy, Plan, ThreadPolicy};
use olifant_store::StoreError;
use olifant_store::symbols::{Symbolizer, resolve};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Seconds between checkpoints of a profile, so that a killed run loses little.
const CHECKPOINT_SECONDS: u32 = 5;

/// A program, a machine, and what stays the same from run to run.
pub struct Session {
    /// The machine, numbered densely.
    pub machine: Machine,
    program: PathBuf,
    arguments: Vec<OsString>,
    threads: ThreadPolicy,
    seed: u64,
    quantum_cycles: u64,
    is_oversubscribed: bool,
    card: CardProgram,
    granule_bytes: u64,
    is_locked: bool,
}

/// Where threads and pages go in one run.
pub struct Placement<'a> {
    /// Pages that no entry of the plan names.
    pub memory: &'a MemoryPolicy,
    /// The plan and its text.
    pub plan: Option<&'a Plan>,
}

impl Session {
    /// Reads the options.
    pub fn new(run: &RunArguments, program: &ProgramArguments) -> anyhow::Result<Self> {
        let machine = machines::choose(&run.machine)?;
        // Numbers dense nodes and cpus, which the simulator wants; a chosen configuration is dense already.
        let mut machine = machine.configure(&machine.configuration())?;
        run.model.apply(&mut machine)?;
        check_threads(&run.threads, &machine)?;
        let (program, arguments) = program.command.split_first().context("no program given")?;
        Ok(Session {
            granule_bytes: machine.os.page.0,
            card: CardProgram::default(),
            machine,
            program: PathBuf::from(program),
            arguments: arguments.to_vec(),
            threads: run.threads.clone(),
            seed: run.seed,
            quantum_cycles: run.quantum,
            is_oversubscribed: run.oversubscribe,
            is_locked: run.model.locked,
        })
    }

    /// The same with a programmed card.
    pub fn with_card(mut self, arguments: &CardArguments) -> anyhow::Result<Self> {
        let (line, page) = (self.machine.processor.l2.line.0, self.machine.os.page.0);
        self.card = arguments.program();
        // Here, so that what the card cannot do is said before the program runs.
        Board::new(line, page).program(&self.card)?;
        if let Some(granularity) = arguments.granule {
            let bytes = granularity.bytes(line, page);
            if !(line..=page).contains(&bytes) {
                bail!(
                    "--granule {granularity}: the profile counts by {line} (a line) to {page} (a page) bytes; use --filter for others"
                );
            }
            self.granule_bytes = bytes;
        }
        Ok(self)
    }

    /// Programs the card for the next runs.
    pub fn program_card(&mut self, program: CardProgram) {
        self.card = program;
    }

    /// The same for another command line on the first processor of the machine.
    pub fn on_one_processor(&self, command: Option<&[OsString]>) -> anyhow::Result<Self> {
        let (program, arguments) = match command.and_then(<[OsString]>::split_first) {
            Some((program, arguments)) => (PathBuf::from(program), arguments.to_vec()),
            None => (self.program.clone(), self.arguments.clone()),
        };
        Ok(Session {
            machine: self.machine.configure("1N1")?,
            program,
            arguments,
            threads: ThreadPolicy::Fill,
            is_oversubscribed: true,
            card: CardProgram::default(),
            ..*self
        })
    }

    /// The program's file name, for naming files after it.
    pub fn name(&self) -> String {
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs the program and returns its profile, call paths resolved. `what` tells a person which run this is.
    pub fn run(&self, placement: &Placement, stdout: ProgramStdout, what: &str) -> anyhow::Result<Profile> {
        let spec = self.spec(placement)?;
        let (step, stdout) = Step::begin(what, stdout)?;
        let outcome = launch::launch_to(&self.program, &self.arguments, &spec, stdout);
        drop(step);
        let outcome = outcome?;
        let mut profile = outcome.profile.ok_or_else(|| {
            anyhow!("{}: ended with code {} and left no profile", self.program.display(), outcome.code)
        })?;
        profile.run.exit_code = outcome.code;
        profile.run.is_complete &= outcome.signal.is_none();
        let symbolizer = Symbolizer::new(&profile.modules);
        resolve(&mut profile, &symbolizer);
        Ok(profile)
    }

    /// What the runtime is told.
    fn spec(&self, placement: &Placement) -> anyhow::Result<RunSpec> {
        if let Some(plan) = placement.plan {
            check_plan(plan, &self.machine)?;
        }
        let program = launch::locate(&self.program)?;
        let names = rules::resolve(&program, placement.plan)?;
        for remark in &names.remarks {
            output::say(&format!("olifant: {remark}"));
        }
        let threads = match placement.plan {
            Some(plan) if !plan.threads.is_empty() => ThreadPolicy::List(plan.threads.clone()),
            _ => self.threads.clone(),
        };
        check_threads(&threads, &self.machine)?;
        Ok(RunSpec {
            machine_toml: self.machine.to_toml(),
            configuration: self.machine.configuration(),
            machine: self.machine.clone(),
            seed: self.seed,
            threads_text: threads.to_string(),
            threads,
            memory_text: placement.memory.to_string(),
            memory: placement.memory.clone(),
            quantum_cycles: self.quantum_cycles,
            granule_bytes: self.granule_bytes,
            program: self.program.to_string_lossy().into_owned(),
            args: self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            dump: None,
            checkpoint_seconds: CHECKPOINT_SECONDS,
            plan_text: placement.plan.map(Plan::to_toml),
            rules: names.rules,
            globals: names.globals.clone(),
            is_locked: self.is_locked,
            allow_oversubscription: self.is_oversubscribed,
            card: self.card.clone(),
            watches: rules::watches(&program, &self.card, &names.globals)?,
        })
    }
}

/// Every cpu of a list must be one of the machine's.
fn check_threads(threads: &ThreadPolicy, machine: &Machine) -> anyhow::Result<()> {
    let ThreadPolicy::List(cpus) = threads else { return Ok(()) };
    let has = |cpu: &CpuId| machine.nodes.iter().any(|node| node.cpus.contains(cpu));
    match cpus.iter().find(|cpu| !has(cpu)) {
        Some(cpu) => bail!(
            "threads on cpu {cpu}: machine {} {} has cpus 0-{}",
            machine.name,
            machine.configuration(),
            machine.nodes.iter().flat_map(|node| &node.cpus).map(|cpu| cpu.0).max().unwrap_or(0)
        ),
        None => Ok(()),
    }
}

/// Stores a profile. If the file cannot be written after all, what was measured goes to the folder for temporary files
/// rather than be lost, and the error says where.
pub fn keep(profile: &Profile, path: &Path) -> anyhow::Result<()> {
    let Err(error) = olifant_store::write(profile, path) else { return Ok(()) };
    let name =
        format!("olifant-{}-{}", std::process::id(), path.file_name().unwrap_or_default().to_string_lossy());
    let rescue = std::env::temp_dir().join(name);
    match olifant_store::write(profile, &rescue) {
        Ok(()) => bail!("{error}; what was measured is kept in {}", rescue.display()),
        Err(second) => bail!("{error}; it could not be kept elsewhere either: {second}"),
    }
}

/// Loads a profile: a file that [`keep`] wrote, or what a program left behind whose `olifant` was killed.
pub fn open(path: &Path) -> anyhow::Result<Profile> {
    olifant_store::read(path).or_else(|refusal| left_behind(path, refusal))
}

/// The same with granules summed up by area and accessor, which is read far sooner.
pub fn open_map(path: &Path) -> anyhow::Result<(Profile, GranuleMap)> {
    olifant_store::read_map(path).or_else(|refusal| {
        let profile = left_behind(path, refusal)?;
        let map = GranuleMap::of(&profile);
        Ok((profile, map))
    })
}

/// The profile as a program wrote it for an `olifant` that was gone; `refusal` if the file is none.
fn left_behind(path: &Path, refusal: StoreError) -> anyhow::Result<Profile> {
    let left = match refusal {
        StoreError::NotAProfile { .. } => launch::read_profile(path).ok().flatten(),
        _ => None,
    };
    let mut profile = left.ok_or(refusal)?;
    let symbolizer = Symbolizer::new(&profile.modules);
    resolve(&mut profile, &symbolizer);
    Ok(profile)
}

/// Numbers of nodes and cpus mean something in one configuration only. A plan that names none is taken at its word.
fn check_plan(plan: &Plan, machine: &Machine) -> anyhow::Result<()> {
    let configuration = machine.configuration();
    if !plan.configuration.is_empty() && plan.configuration != configuration {
        bail!(
            "the plan is for {} {} and this run is on {} {configuration}: give --config {} or make another plan",
            plan.machine,
            plan.configuration,
            machine.name,
            plan.configuration
        );
    }
    Ok(())
}

/// Reads a plan; the error names its file.
pub fn read_plan(path: &Path) -> anyhow::Result<Plan> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read plan {}", path.display()))?;
    Plan::from_toml(&text).with_context(|| path.display().to_string())
}
