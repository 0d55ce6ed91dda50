//! The laws of the simulator, as `docs/simulator.md` names them: agreement with a plain second implementation, closed
//! forms for latencies and bandwidths, and laws that relate one run to another.
#![allow(clippy::unwrap_used, reason = "helpers of tests may end them")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of processors, lines and sets of small machines"
)]

mod agreement;
mod bandwidths;
mod counts;
mod idle_bench;
mod latencies;
mod nodes;
mod plain;
mod renaming;
mod repetition;
mod traffic;
mod ways;

use olifant_machine::{Bytes, Cache, Cycles, Machine, catalogue};
use olifant_placement::MemoryPolicy;
use olifant_sim::Engine;
use traffic::{Step, drive};

/// Bytes between addresses that the traffic takes to conflict, on machines `with_ways`.
const STRIDE: u64 = 4096;

/// A built-in machine, configured.
fn catalogued(name: &str, configuration: &str) -> Machine {
    catalogue::find(name).unwrap().configure(configuration).unwrap()
}

/// The machine with first-level and second-level caches of these ways, 4 KiB each.
fn with_ways(mut machine: Machine, level1: u32, level2: u32) -> Machine {
    let line = machine.processor.l2.line;
    let cache = |ways: u32| Cache { size: Bytes(4096 * u64::from(ways)), ways, line, hit: Cycles(3) };
    machine.processor.l1 = cache(level1);
    machine.processor.l2 = cache(level2);
    machine
}

fn engine(machine: &Machine, policy: MemoryPolicy, seed: u64) -> Engine<()> {
    Engine::new(machine, policy, seed, 3, ()).unwrap()
}

/// Feeds steps to a new engine.
fn run(
    machine: &Machine,
    policy: MemoryPolicy,
    seed: u64,
    steps: impl IntoIterator<Item = Step>,
) -> Engine<()> {
    let mut engine = engine(machine, policy, seed);
    for (number, step) in steps.into_iter().enumerate() {
        drive(&mut engine, step);
        if number % 1000 == 0 {
            engine.run_until(step.cpu, u64::MAX / 1024);
        }
    }
    engine
}

/// Every processor's clock, then what every bus, unit and link was busy, in cycles.
fn times(engine: &mut Engine<()>) -> Vec<u64> {
    let mut times: Vec<u64> = (0..engine.cpus()).map(|cpu| engine.now(cpu)).collect();
    for node in 0..engine.nodes() {
        let counts = engine.node_counts(node);
        times.extend([counts.bus_busy_cycles, counts.unit.busy_cycles]);
    }
    times.extend(engine.link_counts().iter().map(|link| link.busy_cycles));
    times
}
