//! numactl's options, all of 2.0.16 and the later `--weighted-interleave`, `--cpu-compress` and `--version`, with its
//! order of effects and its exit codes.
//!
//! As in numactl, each option takes effect when it is read, so that `--membind=1 --show` shows the bound policy. Lists
//! are read by [`SetReader`], which closes numactl's traps (numbers as C reads them, empty lists).
//! Source: numactl(8) of 2.0.16; the behaviour of that program.

use crate::command_line::OptionForm;
use crate::segment::Segment;
use crate::{ExecError, World, show};
use olifant_machine::{CpuSet, NodeSet};
use olifant_placement::{ResourceSet, SetReader, SetTextError};
use olifant_sys::{NodePolicy, PolicyFlags, PolicyMode};

/// The forms of the options.
pub const FORMS: [OptionForm; 27] = [
    form("all", 'a', false),
    form("interleave", 'i', true),
    form("weighted-interleave", 'w', true),
    form("preferred", 'p', true),
    form("preferred-many", 'P', true),
    form("cpubind", 'c', true),
    form("cpunodebind", 'N', true),
    form("physcpubind", 'C', true),
    form("membind", 'm', true),
    form("show", 's', false),
    form("localalloc", 'l', false),
    form("balancing", 'b', false),
    form("hardware", 'H', false),
    form("shm", 'S', true),
    form("file", 'f', true),
    form("offset", 'o', true),
    form("length", 'L', true),
    form("strict", 't', false),
    form("shmmode", 'M', true),
    form("dump", 'd', false),
    form("dump-nodes", 'D', false),
    form("shmid", 'I', true),
    form("huge", 'u', false),
    form("touch", 'T', false),
    form("verify", 'V', false),
    OptionForm { long: "cpu-compress", short: None, takes_value: false, may_be_shortened: false },
    OptionForm { long: "version", short: None, takes_value: false, may_be_shortened: false },
];

const fn form(long: &'static str, short: char, takes_value: bool) -> OptionForm {
    OptionForm { long, short: Some(short), takes_value, may_be_shortened: true }
}

/// The options that count for a command, in the order read; what they showed is in `text`.
#[derive(Default)]
pub struct Numactl {
    /// Whether any option was given: then the exit codes are numactl's.
    pub was_used: bool,
    /// What is to be printed instead of running anything.
    pub text: Option<String>,
    /// Remarks on what took effect in part.
    pub remarks: Vec<String>,
    segment: Segment,
    all: bool,
    balancing: bool,
    strict: bool,
    compact: bool,
    has_policy: bool,
    has_cpus: bool,
    /// The text of the last list of nodes, for `same`.
    last_nodes: Option<NodeSet>,
}

impl Numactl {
    /// Carries out one option.
    /// # Errors  `Usage`, `Refused`.
    pub fn take(&mut self, name: &str, value: &str, world: &mut dyn World) -> Result<(), ExecError> {
        self.was_used = true;
        match name {
            "all" if self.last_nodes.is_some() || self.has_cpus => {
                return usage("--all must come before every list of cpus or nodes");
            }
            "all" => self.all = true,
            "balancing" => self.balancing = true,
            "strict" => self.strict = true,
            "cpu-compress" => self.compact = true,
            "show" => self.text = Some(show::settings(world)?),
            "hardware" => self.text = Some(show::hardware(world, self.compact)?),
            "version" => self.text = Some(format!("olifant {}\n", env!("CARGO_PKG_VERSION"))),
            "cpubind" | "cpunodebind" => {
                self.check_no_segment(name)?;
                let nodes = self.nodes(value, world)?;
                self.run_on_nodes(&nodes, world)?;
            }
            "physcpubind" => {
                self.check_no_segment(name)?;
                let cpus = self.cpus(value, world)?;
                self.run_on(&cpus, world)?;
            }
            "interleave"
            | "weighted-interleave"
            | "membind"
            | "preferred"
            | "preferred-many"
            | "localalloc" => {
                self.memory(name, value, world)?;
            }
            _ => self.segment.take(name, value, self.has_cpus, self.has_policy)?,
        }
        Ok(())
    }

    /// What is left to check when all options are read: whether there is, or must not be, a command. `true` if a command
    /// is to be run.
    /// # Errors  `Usage`.
    pub fn finish(&mut self, has_command: bool) -> Result<bool, ExecError> {
        if let Some(text) = self.segment.take_text() {
            self.text = Some(self.text.take().unwrap_or_default() + &text);
        }
        if self.segment.is_attached() {
            return if has_command { usage("a policy of shared memory takes no command") } else { Ok(false) };
        }
        if let Some(option) = self.segment.option_used() {
            return usage(&format!("--{option} is about shared memory: give --shm or --file"));
        }
        if self.strict {
            self.remarks.push("--strict means nothing for a process".to_owned());
        }
        if has_command { Ok(true) } else { usage("no command given") }
    }

    /// The exit code where a segment was verified and found otherwise.
    pub fn is_verified(&self) -> bool {
        self.segment.is_verified()
    }

    fn memory(&mut self, name: &str, value: &str, world: &mut dyn World) -> Result<(), ExecError> {
        if self.has_policy && !self.segment.is_attached() {
            return usage(&format!("--{name}: another memory policy was given before"));
        }
        let nodes = if name == "localalloc" { NodeSet::new() } else { self.nodes(value, world)? };
        if name == "preferred" && nodes.len() != 1 {
            return usage(&format!("--preferred {value}: takes one node; see --preferred-many"));
        }
        self.has_policy = true;
        let mode = match name {
            "interleave" => PolicyMode::Interleave,
            "weighted-interleave" => PolicyMode::WeightedInterleave,
            "membind" => PolicyMode::Bind,
            "preferred" => PolicyMode::Preferred,
            "preferred-many" => PolicyMode::PreferredMany,
            _ => PolicyMode::Local,
        };
        let mut policy = NodePolicy::new(mode, nodes);
        if self.segment.is_attached() {
            return self.segment.place(policy, self.strict);
        }
        if self.balancing && mode == PolicyMode::Bind {
            policy.flags = PolicyFlags::Balancing;
            // A kernel that cannot balance within bound nodes binds without.
            if world.use_policy(&policy).is_ok() {
                return Ok(());
            }
            policy.flags = PolicyFlags::Follow;
        }
        world.use_policy(&policy)
    }

    fn run_on_nodes(&mut self, nodes: &NodeSet, world: &mut dyn World) -> Result<(), ExecError> {
        let hierarchy = world.hierarchy()?;
        let cpus = nodes.iter().filter_map(|node| hierarchy.node(node));
        let cpus = cpus.fold(CpuSet::new(), |all, node| all.union(&node.cpus));
        if cpus.is_empty() {
            return Err(ExecError::Refused(format!("run on nodes {nodes}: they have no cpus")));
        }
        self.run_on(&cpus, world)
    }

    fn run_on(&mut self, cpus: &CpuSet, world: &mut dyn World) -> Result<(), ExecError> {
        self.has_cpus = true;
        self.remarks.extend(world.run_on(cpus)?);
        Ok(())
    }

    fn nodes(&mut self, text: &str, world: &dyn World) -> Result<NodeSet, ExecError> {
        let allowed = self.allowed(world)?;
        let nodes = reader(world, &allowed)?.numactl_nodes(text, self.last_nodes.as_ref()).map_err(wrong)?;
        self.last_nodes = Some(nodes.clone());
        Ok(nodes)
    }

    fn cpus(&mut self, text: &str, world: &dyn World) -> Result<CpuSet, ExecError> {
        let allowed = self.allowed(world)?;
        reader(world, &allowed)?.numactl_cpus(text, None).map_err(wrong)
    }

    /// What lists may name: with --all everything that the machine has.
    fn allowed(&self, world: &dyn World) -> Result<ResourceSet, ExecError> {
        Ok(if self.all { world.hierarchy()?.system().clone() } else { world.allowed()?.clone() })
    }

    fn check_no_segment(&self, name: &str) -> Result<(), ExecError> {
        match self.segment.option_used() {
            Some(option) => usage(&format!("--{name} places a process, --{option} shared memory: give one")),
            None if self.segment.is_attached() => usage(&format!("--{name} means nothing for shared memory")),
            None => Ok(()),
        }
    }
}

/// A reader of sets that may use `allowed`.
pub fn reader<'a>(world: &'a dyn World, allowed: &'a ResourceSet) -> Result<SetReader<'a>, ExecError> {
    Ok(SetReader { hierarchy: world.hierarchy()?, allowed, lookup: world.lookup() })
}

/// A list that cannot be read.
pub fn wrong(error: SetTextError) -> ExecError {
    ExecError::Usage(error.to_string())
}

fn usage<T>(problem: &str) -> Result<T, ExecError> {
    Err(ExecError::Usage(problem.to_owned()))
}
