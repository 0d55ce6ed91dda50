//! From definitions to cells, and from cells to distinct runs.
//!
//! A cell is one application on one configuration with so many threads under one pair of policies. Cells whose runs are
//! the same in all that matters share one: bound threads are written as the list of their processors, and on one node
//! every memory policy is that node.

use crate::definition::{Application, Group, Parts, PlacementKind, ProfileCell, Steps};
use crate::run::{LayoutPart, QUANTUM_CYCLES, RunDefinition, SEED, StepRun, digest};
use crate::{Extent, LedgerError, Library, Record, Records, RowPattern};
use olifant_machine::Machine;
use olifant_placement::ThreadPolicy;
use std::collections::BTreeMap;

/// One application on one configuration under one pair of policies.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Index of the experiment.
    pub experiment: usize,
    /// Index of its group; none for a profile.
    pub group: Option<usize>,
    /// Key of the application.
    pub application: String,
    /// As `4N4`.
    pub configuration: String,
    /// Number of threads.
    pub threads: u32,
    /// Pair `t,m`.
    pub policy: String,
    /// Index of its run.
    pub run: usize,
}

/// All cells of some experiments, and the distinct runs that they need.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// In the order of the definitions.
    pub cells: Vec<Cell>,
    /// Each needed once.
    pub runs: Vec<RunDefinition>,
    /// The same by a few steps, where the program counts steps.
    pub by_steps: Vec<Option<RunDefinition>>,
}

impl Plan {
    /// The cells of some experiments (by index) and of those that they use.
    /// # Errors  A configuration that a machine does not have.
    pub fn new(library: &Library, experiments: &[usize], extent: Extent) -> Result<Self, LedgerError> {
        let mut builder = Builder { library, extent, plan: Plan::default(), known: BTreeMap::new() };
        for index in with_sources(library, experiments)? {
            for (group, definition) in library.experiments[index].groups.iter().enumerate() {
                builder.group(index, group, definition)?;
            }
            for profile in &library.experiments[index].profiles {
                builder.profile(index, profile)?;
            }
        }
        Ok(builder.plan)
    }

    /// Indices of the runs of the cells that a pattern means (its policy is the pair of labels).
    pub fn runs_of(&self, library: &Library, only: Option<&RowPattern>) -> Vec<usize> {
        let mut is_meant = vec![only.is_none(); self.runs.len()];
        for cell in &self.cells {
            let name = library.application(&cell.application).map_or("", |application| &application.name);
            let means =
                |pattern: &RowPattern| pattern.means(name, &cell.configuration, cell.threads, &cell.policy);
            is_meant[cell.run] |= only.is_none_or(means);
        }
        (0..self.runs.len()).filter(|&run| is_meant[run]).collect()
    }

    /// The record of a run: of all its steps, else of a few.
    /// # Errors  A record that cannot be read.
    pub fn record(&self, run: usize, records: &Records) -> Result<Option<Record>, LedgerError> {
        match (records.find(&self.runs[run])?, &self.by_steps[run]) {
            (None, Some(by_steps)) => records.find(by_steps),
            (found, _) => Ok(found),
        }
    }
}

/// The experiments and those whose rows they use, in the order of the library.
pub(crate) fn with_sources(library: &Library, experiments: &[usize]) -> Result<Vec<usize>, LedgerError> {
    let mut wanted = vec![false; library.experiments.len()];
    let mut open = experiments.to_vec();
    while let Some(index) = open.pop() {
        if !std::mem::replace(&mut wanted[index], true) {
            for name in &library.experiments[index].from {
                open.push(library.find(name)?);
            }
        }
    }
    Ok((0..wanted.len()).filter(|&index| wanted[index]).collect())
}

struct Builder<'l> {
    library: &'l Library,
    extent: Extent,
    plan: Plan,
    known: BTreeMap<String, usize>,
}

/// One combination of a group's lists.
struct Choice<'l> {
    application: &'l Application,
    machine: &'l str,
    configuration: &'l str,
    threads: u32,
    policy: &'l str,
    bytes: Option<u64>,
    placement: Option<PlacementKind>,
}

impl<'l> Builder<'l> {
    fn group(&mut self, experiment: usize, group: usize, definition: &'l Group) -> Result<(), LedgerError> {
        for key in &definition.applications {
            let Some(application) = self.library.application(key) else { continue };
            for machine in &definition.machines {
                for configuration in &definition.configurations {
                    let all = self.library.machines.find(machine, configuration)?;
                    let processors = processors(&all);
                    let every = vec![processors];
                    let threads = definition.threads.as_ref().unwrap_or(&every).iter().copied();
                    for threads in threads
                        .filter(|&threads| threads <= processors && application.threads.allows(threads))
                    {
                        for policy in &definition.policies {
                            self.cell(
                                experiment,
                                Some(group),
                                &Choice {
                                    application,
                                    machine,
                                    configuration,
                                    threads,
                                    policy,
                                    bytes: definition.bytes,
                                    placement: definition.placement,
                                },
                            )?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn profile(&mut self, experiment: usize, profile: &'l ProfileCell) -> Result<(), LedgerError> {
        let Some(application) = self.library.application(&profile.application) else { return Ok(()) };
        self.cell(
            experiment,
            None,
            &Choice {
                application,
                machine: "olifant",
                configuration: &profile.configuration,
                threads: profile.threads,
                policy: &profile.policy,
                bytes: None,
                placement: None,
            },
        )
    }

    fn cell(&mut self, experiment: usize, group: Option<usize>, choice: &Choice) -> Result<(), LedgerError> {
        let definition = self.run(choice)?;
        let next = self.plan.runs.len();
        let run = *self.known.entry(definition.key()).or_insert(next);
        if run == next {
            let short =
                |steps: &Steps| StepRun::new(&definition.arguments, &steps.option, steps.few, steps.more);
            let steps = choice.application.steps.as_ref().and_then(short);
            let by_steps = steps.map(|steps| RunDefinition { steps: Some(steps), ..definition.clone() });
            self.plan.by_steps.push(by_steps);
            self.plan.runs.push(definition);
        }
        self.plan.cells.push(Cell {
            experiment,
            group,
            application: choice.application.key.clone(),
            configuration: choice.configuration.to_owned(),
            threads: choice.threads,
            policy: choice.policy.to_owned(),
            run,
        });
        Ok(())
    }

    fn run(&self, choice: &Choice) -> Result<RunDefinition, LedgerError> {
        let machine = self.library.machines.find(choice.machine, choice.configuration)?;
        let (thread_label, memory_label) = choice.policy.split_once(',').unwrap_or((choice.policy, ""));
        let threads = &self.library.policies.threads[thread_label].policy;
        let memory = &self.library.policies.memory[memory_label];
        let application = choice.application;
        let arguments = match self.extent {
            Extent::Full => &application.arguments,
            Extent::Quick => &application.quick,
        };
        let fill_in = |text: &str| {
            text.replace("{threads}", &choice.threads.to_string())
                .replace("{bytes}", &choice.bytes.unwrap_or_default().to_string())
        };
        let is_flat = machine.nodes.len() == 1;
        let has_layout = choice.placement == Some(PlacementKind::Layout) || memory.layout;
        let layout = if has_layout && !is_flat {
            layout(application, threads, &machine, choice.threads)
        } else {
            Vec::new()
        };
        Ok(RunDefinition {
            program: application.program.clone(),
            arguments: fill_in(arguments),
            thread_count: choice.threads,
            machine: choice.machine.to_owned(),
            configuration: choice.configuration.to_owned(),
            machine_digest: digest(machine.to_toml().as_bytes()),
            threads: match threads {
                ThreadPolicy::Float => threads.to_string(),
                _ => ThreadPolicy::List(cpus(threads, &machine, choice.threads)).to_string(),
            },
            memory: if is_flat { "node:0".to_owned() } else { memory.policy.to_string() },
            frames: memory.frames,
            locked: memory.locked,
            cpi: application.cpi,
            misses: application.misses,
            advised: choice.placement == Some(PlacementKind::Advisor),
            quantum_cycles: QUANTUM_CYCLES,
            seed: SEED,
            steps: None,
            probe: (!layout.is_empty()).then(|| fill_in(&application.quick)),
            layout,
        })
    }
}

fn processors(machine: &Machine) -> u32 {
    machine.nodes.iter().map(|node| u32::try_from(node.cpus.len()).unwrap_or(u32::MAX)).sum()
}

fn cpus(policy: &ThreadPolicy, machine: &Machine, threads: u32) -> Vec<olifant_machine::CpuId> {
    policy.assign(&machine.nodes).into_iter().take(threads as usize).collect()
}

/// The layout by hand, with the nodes that the threads run on. Floating threads have none: parts go as if they filled nodes.
fn layout(
    application: &Application,
    policy: &ThreadPolicy,
    machine: &Machine,
    threads: u32,
) -> Vec<LayoutPart> {
    let node_of =
        |cpu| machine.nodes.iter().find(|node| node.cpus.contains(&cpu)).map_or(0, |node| node.id.0);
    let nodes: Vec<String> =
        cpus(policy, machine, threads).into_iter().map(|cpu| node_of(cpu).to_string()).collect();
    application
        .layout
        .iter()
        .map(|entry| match &entry.parts {
            Parts::Threads => {
                LayoutPart { site: entry.site.clone(), parts: Some(nodes.join(",")), policy: None }
            }
            Parts::Policy(policy) => {
                LayoutPart { site: entry.site.clone(), parts: None, policy: Some(policy.to_string()) }
            }
        })
        .collect()
}
