//! Programs made of plain steps, run on the simulated machine with the monitor card, before and after a plan.

use olifant_machine::{Machine, catalogue};
use olifant_opium::profile::*;
use olifant_opium::{Card, collect};
use olifant_placement::{AreaMatch, Decision, MemoryPolicy, Plan, ThreadPolicy};
use olifant_sim::{Next, Options, Placement, System};

/// Bytes per page of the machine used here.
pub const PAGE: u64 = 4096;
/// Where the first area begins.
const BASE: u64 = 1 << 30;

/// One access to a few lines, and computation after it.
pub struct Step {
    /// Index of the area.
    pub area: usize,
    /// Offset of the first byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether it writes.
    pub is_write: bool,
    /// Instructions after it.
    pub instructions: u64,
}

/// A program of 16 threads in phases with a barrier after each.
pub struct Program {
    /// Pages of each area; each has a site of its own and thread 0 allocates it.
    pub areas: Vec<u64>,
    /// Number of phases.
    pub phases: usize,
    /// What a thread does in a phase, step by step.
    pub step: fn(thread: u64, phase: usize, step: u64) -> Option<Step>,
}

const THREADS: u16 = 16;

/// The prototype with an eighth of its second-level cache, so that small arrays miss.
pub fn machine() -> Machine {
    let mut machine = catalogue::find("olifant").expect("a machine of the catalogue");
    machine.processor.l2.size.0 /= 8;
    machine
}

impl Program {
    fn start(&self, area: usize) -> u64 {
        BASE + self.areas[..area].iter().sum::<u64>() * PAGE
    }

    /// Runs under a plan, or striped by pages with threads in order.
    pub fn run(&self, plan: Option<&Plan>) -> Profile {
        let machine = machine();
        let threads = plan.filter(|plan| !plan.threads.is_empty());
        let options = Options {
            threads: threads.map_or(ThreadPolicy::Fill, |plan| ThreadPolicy::List(plan.threads.clone())),
            memory: MemoryPolicy::Striped { pages: 1 },
            ..Options::default()
        };
        let card = Card::new(THREADS.into(), PAGE, PAGE, machine.processor.l2.line.0);
        let mut system = System::new(&machine, options, card).expect("a machine that can be simulated");
        system.spawn();
        for area in 0..self.areas.len() {
            let entry = plan.and_then(|plan| plan.areas.iter().find(|entry| is_area(&entry.area, area)));
            let placement = match entry.map(|entry| &entry.decision) {
                Some(Decision::Policy(policy)) => Placement::Policy(policy.clone()),
                Some(Decision::Blocks(runs)) => Placement::Blocks(runs.clone()),
                Some(Decision::Parts(_) | Decision::Replicate | Decision::Pad) | None => {
                    Placement::Policy(MemoryPolicy::Striped { pages: 1 })
                }
            };
            system.map(self.start(area), self.areas[area] * PAGE, placement);
        }
        for _ in 1..THREADS {
            system.spawn();
        }
        self.execute(&mut system);
        self.profile(&mut system, &machine)
    }

    fn execute(&self, system: &mut System<Card>) {
        let mut at = [(0usize, 0u64); THREADS as usize];
        let mut waiting = Vec::new();
        let mut living = usize::from(THREADS);
        while living > 0 {
            let Next::Run(id) = system.choose() else { panic!("all threads wait") };
            let (phase, step) = &mut at[usize::from(id.0)];
            while !system.must_switch() {
                if let Some(next) = (self.step)(id.0.into(), *phase, *step) {
                    *step += 1;
                    system.range(self.start(next.area) + next.offset, next.bytes, next.is_write, 0);
                    system.charge(next.instructions);
                    continue;
                }
                (*phase, *step) = (*phase + 1, 0);
                if *phase == self.phases {
                    system.exit();
                    living -= 1;
                } else if waiting.len() + 1 == usize::from(THREADS) {
                    waiting.drain(..).for_each(|other| system.wake(other));
                    continue;
                } else {
                    waiting.push(id);
                    system.block();
                }
                break;
            }
        }
    }

    fn profile(&self, system: &mut System<Card>, machine: &Machine) -> Profile {
        let parts = collect(system, machine);
        let threads: Vec<Thread> = system
            .threads()
            .iter()
            .map(|thread| {
                let cpu = u16::try_from(thread.cpu).expect("few cpus");
                Thread { cpu, node: cpu / 4, ..Thread::default() }
            })
            .collect();
        let area = |(number, pages): (usize, &u64)| Area {
            kind: AreaKind::Heap,
            name: format!("area {number}"),
            start: self.start(number),
            bytes: pages * PAGE,
            site: Some(u32::try_from(number).expect("few areas")),
            ordinal: 0,
            thread: 0,
            born: 0,
            freed: None,
        };
        let site = |number| Site {
            path: vec![],
            frames: vec![Frame { function: "main".into(), file: "steps.c".into(), line: number }],
        };
        let mut granules: Vec<Granule> = system
            .engine()
            .observer()
            .granules()
            .into_iter()
            .map(|counts| {
                let area =
                    (0..self.areas.len()).rfind(|&area| self.start(area) <= counts.address).expect("an area");
                Granule {
                    area: u32::try_from(area).expect("few areas"),
                    index: (counts.address - self.start(area)) / PAGE,
                    home: counts.home,
                    by: counts
                        .by
                        .iter()
                        .map(|by| Accesses {
                            thread: by.thread,
                            node: by.node,
                            reads: by.reads.into(),
                            writes: by.writes.into(),
                            upgrades: by.upgrades.into(),
                            write_backs: by.write_backs.into(),
                        })
                        .collect(),
                }
            })
            .collect();
        granules.sort_by_key(|granule| (granule.area, granule.index));
        Profile {
            run: RunInfo {
                program: "steps".into(),
                args: vec![],
                machine: machine.name.clone(),
                machine_toml: String::new(),
                configuration: "4N4".into(),
                thread_policy: "fill".into(),
                memory_policy: "striped:1".into(),
                plan: None,
                seed: 1,
                evidence: Evidence::Simulated,
                is_complete: true,
                exit_code: 0,
                version: String::new(),
            },
            totals: parts.totals,
            cpus: parts.cpus,
            nodes: parts.nodes,
            links: parts.links,
            threads,
            modules: vec![],
            sites: (0..self.areas.len())
                .map(|number| site(u32::try_from(number).expect("few") + 1))
                .collect(),
            areas: self.areas.iter().enumerate().map(area).collect(),
            granule_bytes: PAGE,
            granules,
            contested: vec![],
            facts: olifant_opium::facts::Facts::default(),
        }
    }
}

fn is_area(name: &AreaMatch, area: usize) -> bool {
    matches!(name, AreaMatch::Site { line, .. } if usize::try_from(*line) == Ok(area + 1))
}
