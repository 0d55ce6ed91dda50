//! The launcher's own options, beside numactl's: sets, thread and memory policies in olifant's words.

use crate::command_line::OptionForm;
use crate::inside::{Inside, machine};
use crate::numactl::{reader, wrong};
use crate::threads::{openmp_environment, order_now, uses_openmp};
use crate::{ExecError, World, launch, memory, rank, thread_rules};
use olifant_frontend::inside::{HeapRule, ThreadRule, ThreadRules};
use olifant_machine::{CpuSet, NodeSet};
use olifant_placement::{ResourceSet, SetPolicy, ThreadPolicy};
use std::ffi::OsString;
use std::path::PathBuf;

/// The forms of the options. They cannot be shortened, so that numactl's short forms stay what they are.
pub const FORMS: [OptionForm; 11] = [
    form("set", true),
    form("threads", true),
    form("memory", true),
    form("heap", true),
    form("plan", true),
    form("skip", true),
    form("thread", true),
    form("children", false),
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
    /// Where the memory lives that malloc and its kin give.
    pub heap: Option<SetPolicy>,
    /// A plan's file.
    pub plan: Option<PathBuf>,
    /// Threads that are left out of the order, by number.
    pub skip: Vec<u32>,
    /// Rules for threads by name or number.
    pub rules: Vec<ThreadRule>,
    /// Processes of this name only.
    pub process: Option<String>,
    /// Child processes are placed too.
    pub has_children: bool,
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
    pub environment: Vec<(&'static str, OsString)>,
    /// What is to be done inside of it, if anything.
    pub inside: Option<Inside>,
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
            "heap" => self.heap = Some(value.parse().map_err(usage)?),
            "plan" => self.plan = Some(PathBuf::from(value)),
            "skip" => self.skip = thread_rules::skip(value)?,
            "thread" => self.rules.push(thread_rules::rule(value)?),
            "children" => self.has_children = true,
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
        let mut effect = Effect { remarks, ..Effect::default() };
        let threads = self.place_threads(program, world, &mut effect)?;
        let heap = self.heap_rule(nodes, world)?;
        if threads != ThreadRules::default() || heap.is_some() || self.plan.is_some() {
            let mut spec = machine(world)?;
            spec.threads = threads;
            spec.heap = heap;
            spec.has_children = self.has_children;
            effect.inside = Some(Inside { spec, plan: self.plan.clone() });
        } else if self.has_children {
            effect
                .remarks
                .push("--children has no effect: cpus and memory policy are inherited anyway".to_owned());
        }
        Ok(effect)
    }

    fn heap_rule(&self, nodes: Option<&NodeSet>, world: &dyn World) -> Result<Option<HeapRule>, ExecError> {
        let Some(policy) = &self.heap else { return Ok(None) };
        let nodes = nodes.unwrap_or(&world.allowed()?.nodes);
        // A policy that the nodes cannot follow is refused before the program starts. Any of them is near to some thread.
        let near = nodes.first().into_iter().collect();
        policy.spread(nodes, &near).map_err(usage)?;
        Ok(Some(HeapRule { policy: policy.to_string(), nodes: nodes.iter().collect() }))
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

    /// Places threads as far as that works from outside; what has to be done inside is the answer.
    fn place_threads(
        &self,
        program: &OsString,
        world: &mut dyn World,
        effect: &mut Effect,
    ) -> Result<ThreadRules, ExecError> {
        let order = match &self.threads {
            Some(policy) => order_now(policy, world)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let is_selective = !self.skip.is_empty()
            || !self.rules.is_empty()
            || self.process.is_some()
            || (self.has_children && !order.is_empty());
        if is_selective {
            self.check_rules(world)?;
            let (skip, own) = (self.skip.clone(), self.rules.clone());
            return Ok(ThreadRules { order, skip, own, process: self.process.clone() });
        }
        if order.is_empty() {
            return Ok(ThreadRules::default());
        }
        if self.is_openmp || launch::locate(program).is_some_and(|path| uses_openmp(&path)) {
            effect.environment = openmp_environment(&order);
            return Ok(ThreadRules::default());
        }
        // One cpu for every thread is what a process as a whole can have.
        let cpus: CpuSet = order.iter().copied().collect();
        if cpus.len() > 1 {
            return Ok(ThreadRules { order, ..ThreadRules::default() });
        }
        match world.run_on(&cpus)? {
            Some(problem) => Err(ExecError::Refused(problem)),
            None => Ok(ThreadRules::default()),
        }
    }

    /// Rules may only name cpus that the process may use.
    fn check_rules(&self, world: &dyn World) -> Result<(), ExecError> {
        let allowed = world.cpus()?;
        for rule in &self.rules {
            let cpus: CpuSet = rule.cpus.iter().copied().collect();
            let outside = cpus.difference(&allowed);
            if !outside.is_empty() {
                let problem =
                    format!("--thread: cpus {outside} are not among those that may be used ({allowed})");
                return Err(ExecError::Usage(problem));
            }
        }
        Ok(())
    }
}

fn usage(error: impl ToString) -> ExecError {
    ExecError::Usage(error.to_string())
}
