//! The launcher's own options, beside numactl's: sets, thread and memory policies in olifant's words.

use crate::command_line::OptionForm;
use crate::numactl::{reader, wrong};
use crate::threads::{needs_preload, openmp_environment, order_now, uses_openmp};
use crate::{ExecError, World, launch, memory, rank};
use olifant_machine::{CpuSet, NodeSet};
use olifant_placement::{ResourceSet, SetPolicy, ThreadPolicy};
use std::ffi::OsString;

/// The forms of the options. They cannot be shortened, so that numactl's short forms stay what they are.
pub const FORMS: [OptionForm; 9] = [
    form("set", true),
    form("threads", true),
    form("memory", true),
    form("plan", true),
    form("skip", true),
    form("thread", true),
    form("ranks", false),
    form("openmp", false),
    form("report", false),
];

const fn form(long: &'static str, takes_value: bool) -> OptionForm {
    OptionForm { long, short: None, takes_value, may_be_shortened: false }
}

/// What the options say, once all are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Own {
    /// The set, as given.
    pub set: Option<String>,
    /// Where threads run.
    pub threads: Option<ThreadPolicy>,
    /// Where pages live.
    pub memory: Option<SetPolicy>,
    /// A plan's file.
    pub plan: Option<String>,
    /// Threads that are not counted.
    pub skip: Option<String>,
    /// Rules for threads by name or number.
    pub rules: Vec<String>,
    /// Take this MPI rank's part of the set.
    pub by_rank: bool,
    /// The program is an OpenMP one.
    pub is_openmp: bool,
    /// Say what was set, as read back.
    pub reports: bool,
}

/// What the program is to start with, beside what was set on this process.
#[derive(Debug, Default)]
pub struct Effect {
    /// Variables that it is to have.
    pub environment: Vec<(&'static str, String)>,
    /// Remarks for a person.
    pub remarks: Vec<String>,
}

impl Own {
    /// Notes one option; false if it is not one of these.
    /// # Errors  `Usage` for a value that cannot be read.
    pub fn take(&mut self, name: &str, value: &str) -> Result<bool, ExecError> {
        match name {
            "set" => self.set = Some(value.to_owned()),
            "threads" => self.threads = Some(value.parse().map_err(usage)?),
            "memory" => self.memory = Some(value.parse().map_err(usage)?),
            "plan" => self.plan = Some(value.to_owned()),
            "skip" => self.skip = Some(value.to_owned()),
            "thread" => self.rules.push(value.to_owned()),
            "ranks" => self.by_rank = true,
            "openmp" => self.is_openmp = true,
            "report" => self.reports = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether any of these options places something.
    pub fn places(&self) -> bool {
        *self != Own { reports: self.reports, ..Own::default() }
    }

    /// Carries the options out for this process.
    /// # Errors  `Usage`, `Refused`, `Unsupported`.
    pub fn apply(&self, program: &OsString, world: &mut dyn World) -> Result<Effect, ExecError> {
        if !self.places() {
            return Ok(Effect::default());
        }
        if self.plan.is_some() {
            return Err(needs_preload("--plan, which places each thread and each area,"));
        }
        if self.skip.is_some() {
            return Err(needs_preload("--skip, which leaves out threads by their order,"));
        }
        if !self.rules.is_empty() {
            return Err(needs_preload("--thread, which places threads by name or order,"));
        }
        let mut remarks = Vec::new();
        let set = self.resource_set(world)?;
        if let Some(set) = &set {
            if !set.cpus.is_empty() {
                // Own options promise what they say: a part is a failure.
                if let Some(problem) = world.run_on(&set.cpus)? {
                    return Err(ExecError::Refused(problem));
                }
            } else {
                remarks.push("the set has no cpus: the program runs where it did before".to_owned());
            }
        }
        let nodes = set.as_ref().map(|set| &set.nodes).filter(|nodes| !nodes.is_empty());
        self.use_memory(nodes, world)?;
        Ok(Effect { environment: self.place_threads(program, world)?, remarks })
    }

    fn use_memory(&self, nodes: Option<&NodeSet>, world: &mut dyn World) -> Result<(), ExecError> {
        let policy = self.memory.clone().unwrap_or(SetPolicy::FirstTouch);
        match memory::process_policy(&policy, nodes, world)? {
            Some(policy) => world.use_policy(&policy),
            None => Ok(()),
        }
    }

    /// The set given, or this rank's part of it or of all that is allowed.
    fn resource_set(&self, world: &dyn World) -> Result<Option<ResourceSet>, ExecError> {
        let allowed = world.allowed()?.clone();
        let set = match &self.set {
            Some(text) => Some(reader(world, &allowed)?.set(text).map_err(wrong)?),
            None => None,
        };
        if !self.by_rank {
            return Ok(set);
        }
        let rank = rank::local_rank(world)?;
        let whole = set.unwrap_or(allowed);
        let parts = world
            .hierarchy()?
            .split(&whole, rank.size)
            .map_err(|error| usage(format!("--ranks: {error}")))?;
        Ok(parts.into_iter().nth(rank.rank))
    }

    /// Places threads as far as that works from outside; the variables that place those of OpenMP.
    fn place_threads(
        &self,
        program: &OsString,
        world: &mut dyn World,
    ) -> Result<Vec<(&'static str, String)>, ExecError> {
        let Some(policy) = &self.threads else { return Ok(Vec::new()) };
        let Some(order) = order_now(policy, world)? else { return Ok(Vec::new()) };
        if self.is_openmp || launch::locate(program).is_some_and(|path| uses_openmp(&path)) {
            return Ok(openmp_environment(&order));
        }
        // One cpu for every thread is what a process as a whole can have.
        let cpus: CpuSet = order.into_iter().collect();
        if cpus.len() > 1 {
            return Err(needs_preload(&format!("thread policy {policy}")));
        }
        match world.run_on(&cpus)? {
            Some(problem) => Err(ExecError::Refused(problem)),
            None => Ok(Vec::new()),
        }
    }
}

fn usage(error: impl ToString) -> ExecError {
    ExecError::Usage(error.to_string())
}
