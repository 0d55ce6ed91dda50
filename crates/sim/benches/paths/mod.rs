//! The paths behind a first-level miss, each as a loop of accesses that takes it every time, and says whether it did.

use olifant_machine::{Bytes, CpuId, Machine, Node, NodeId, Topology, catalogue};
use olifant_placement::MemoryPolicy;
use olifant_sim::{CpuCounters, Engine, Increment, Random};

const BASE: u64 = 0x1000_0000;
/// Looks of the simulator at a processor, in accesses; hooks are called back as often.
const LOOK: u64 = 300;

/// One path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Misses the first level, hits the second.
    Level2Hit,
    /// Misses both, the home is the processor's node.
    LocalMiss,
    /// Misses both, the home is another node.
    RemoteMiss,
    /// Writes a line that two nodes hold shared; every second access is the other node's read of it.
    UpgradeAndIntervention,
}

/// Every path.
pub const PATHS: [Path; 4] =
    [Path::Level2Hit, Path::LocalMiss, Path::RemoteMiss, Path::UpgradeAndIntervention];

/// An engine that runs along one path.
pub struct Runner {
    path: Path,
    engine: Engine<()>,
    line: u64,
    lines: u64,
    step: u64,
}

impl Runner {
    /// An engine that has been along the path once, so that pages are placed and caches as full as they get.
    pub fn new(path: Path) -> Self {
        let (configuration, home) = match path {
            Path::Level2Hit | Path::LocalMiss => ("1N1", 0),
            Path::RemoteMiss | Path::UpgradeAndIntervention => ("2N1", 1),
        };
        let machine = catalogue::find("olifant").expect("olifant is built in");
        let machine = machine.configure(configuration).expect("olifant has two nodes");
        let engine = Engine::new(&machine, MemoryPolicy::Node(NodeId(home)), 1, 3, ());
        let engine = engine.expect("olifant can be simulated");
        let line = machine.processor.l2.line.0;
        let bytes = match path {
            Path::Level2Hit | Path::UpgradeAndIntervention => machine.processor.l1.size.0 * 8,
            Path::LocalMiss | Path::RemoteMiss => machine.processor.l2.size.0 * 4,
        };
        let mut runner = Self { path, engine, line, lines: bytes / line, step: 0 };
        runner.run(2 * runner.lines);
        runner
    }

    /// Makes so many accesses; a multiple of the lines visited in turn keeps the path pure.
    pub fn run(&mut self, accesses: u64) {
        for _ in 0..accesses {
            let (cpu, place, is_write) = match self.path {
                Path::UpgradeAndIntervention => {
                    (usize::from(!self.step.is_multiple_of(2)), self.step / 2, self.step.is_multiple_of(2))
                }
                _ => (0, self.step, false),
            };
            let increment = if is_write { Increment::write(3) } else { Increment::read(3) };
            self.engine.access(cpu, BASE + place % self.lines * self.line, increment, 1);
            if self.step % LOOK < 2 {
                self.engine.run_until(cpu, u64::MAX / 1024);
            }
            self.step += 1;
        }
    }

    /// Runs and checks that each access took the path.
    pub fn verify(&mut self) {
        let before = self.counters();
        let accesses = 2 * self.lines;
        self.run(accesses);
        let after = self.counters();
        let sum = |part: fn(&CpuCounters) -> u64| {
            after.iter().map(part).sum::<u64>() - before.iter().map(part).sum::<u64>()
        };
        let level1_misses = sum(|cpu| cpu.level1_misses);
        let expected = match self.path {
            Path::Level2Hit => [accesses, 0, 0],
            Path::LocalMiss | Path::RemoteMiss => [accesses, accesses, 0],
            Path::UpgradeAndIntervention => [level1_misses, accesses / 2, accesses / 2],
        };
        let found = [level1_misses, sum(|cpu| cpu.level2_misses), sum(|cpu| cpu.upgrades)];
        assert_eq!(found, expected, "{:?}: first-level misses, second-level misses, upgrades", self.path);
    }

    fn counters(&mut self) -> Vec<CpuCounters> {
        (0..self.engine.cpus()).map(|cpu| self.engine.counters(cpu)).collect()
    }
}

/// Accesses of each processor of a crowd in a round: more lines than a first level holds.
const CROWD_ACCESSES: usize = 2000;
/// Accesses that a processor of a crowd makes in a row, about what a turn of the scheduler lets it.
const TURN: usize = 100;

/// Traffic of many processors: private lines and shared ones, reads and writes, in rounds that keep the clocks close.
pub struct Crowd {
    engine: Engine<()>,
    steps: Vec<(usize, u64, Increment)>,
    rounds: u64,
}

impl Crowd {
    /// So many processors of olifant's kind, four to a node, on one switch.
    pub fn new(processors: u16) -> Self {
        let machine = grown(processors / 4);
        let engine =
            Engine::new(&machine, MemoryPolicy::FirstTouch, 1, 3, ()).expect("a grown olifant is a machine");
        let mut random = Random::new(u64::from(processors));
        let steps = (0..usize::from(processors) * CROWD_ACCESSES).map(|step| {
            let cpu = step / TURN % usize::from(processors);
            // A fifth goes to lines that all share, as many per processor whatever their number.
            let address = if random.below(5) == 0 {
                BASE + random.below(u64::from(processors) * 64) * 32
            } else {
                BASE + ((cpu as u64 + 1) << 24) + random.below(1 << 16) * 32
            };
            let is_write = random.below(4) == 0;
            (cpu, address, if is_write { Increment::write(3) } else { Increment::read(3) })
        });
        let steps = steps.collect();
        let mut crowd = Self { engine, steps, rounds: 0 };
        crowd.round();
        crowd
    }

    /// Accesses in a round.
    pub fn accesses(&self) -> u64 {
        self.steps.len() as u64
    }

    /// Makes every access once more.
    pub fn round(&mut self) {
        for &(cpu, address, increment) in &self.steps {
            self.engine.access(cpu, address, increment, 1);
        }
        let cpus = self.engine.cpus();
        let last = (0..cpus).map(|cpu| self.engine.now(cpu)).max().unwrap_or(0);
        for cpu in 0..cpus {
            self.engine.idle_until(cpu, last);
            self.engine.run_until(cpu, u64::MAX / 1024);
        }
        self.rounds += 1;
    }

    /// Checks that every access was counted and that no law is broken; returns misses of both levels per access.
    pub fn verify(&mut self) -> (f64, f64) {
        let counters: Vec<CpuCounters> =
            (0..self.engine.cpus()).map(|cpu| self.engine.counters(cpu)).collect();
        let sum = |part: fn(&CpuCounters) -> u64| counters.iter().map(part).sum::<u64>();
        let accesses = sum(|cpu| cpu.reads + cpu.writes);
        assert_eq!(accesses, self.rounds * self.accesses(), "accesses");
        if let Err(law) = self.engine.check_invariants() {
            panic!("{law}");
        }
        let per_access = |misses: u64| misses as f64 / accesses as f64;
        (per_access(sum(|cpu| cpu.level1_misses)), per_access(sum(|cpu| cpu.level2_misses)))
    }
}

/// Olifant with so many nodes on its switch.
fn grown(nodes: u16) -> Machine {
    let mut machine = catalogue::find("olifant").expect("olifant is built in");
    let Bytes(memory) = machine.nodes[0].memory;
    machine.nodes = (0..nodes)
        .map(|node| Node {
            id: NodeId(node),
            cpus: (node * 4..node * 4 + 4).map(CpuId).collect(),
            memory: Bytes(memory),
        })
        .collect();
    let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
    let link = machine.network.links[0];
    machine.network.links =
        Topology::Hub.links(&ids, link.latency, link.bandwidth).expect("a hub joins any number of nodes");
    machine
}
