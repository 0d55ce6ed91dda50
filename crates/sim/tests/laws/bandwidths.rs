//! Peak bandwidths of the engine equal closed forms from the machine file within 1 %: a bus, a link, a coherence unit,
//! each loaded by four processors while everything else has room.

use crate::catalogued;
use olifant_machine::{BytesPerSecond, Machine, Nanos, NodeId};
use olifant_placement::MemoryPolicy;
use olifant_sim::{Engine, Increment};

const LINES_PER_CPU: u64 = 5_000;

/// Reads lines once each by the four processors of node 0, the one with the smallest clock next; returns lines per
/// second and the engine.
fn stream(machine: &Machine, home: u16, is_write: bool) -> (f64, Engine<()>) {
    let mut engine = Engine::new(machine, MemoryPolicy::Node(NodeId(home)), 1, 3, ()).unwrap();
    let line = machine.processor.l2.line.0;
    let mut done = [0; 4];
    for _ in 0..4 * LINES_PER_CPU {
        let cpu = (0..4).min_by_key(|&cpu| (engine.now(cpu), cpu)).unwrap();
        let address = ((cpu as u64 + 1) << 32) + done[cpu] * line;
        done[cpu] += 1;
        let increment = if is_write { Increment::write(2) } else { Increment::read(2) };
        engine.access(cpu, address, increment, 0);
        engine.run_until(cpu, u64::MAX / 1024);
    }
    let last = (0..4).map(|cpu| {
        engine.drain(cpu);
        engine.now(cpu)
    });
    let seconds = last.max().unwrap() as f64 / machine.processor.clock.0;
    ((4 * LINES_PER_CPU) as f64 / seconds, engine)
}

#[track_caller]
fn assert_within_1_percent(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.01, "{found:.4e} where {expected:.4e} was expected");
}

#[test]
fn four_processors_get_all_of_a_bus_and_no_more() {
    let machine = catalogued("olifant", "1N4");
    let (lines, engine) = stream(&machine, 0, false);
    assert_within_1_percent(lines * machine.processor.l2.line.0 as f64, machine.memory.bandwidth.0);
    assert!(engine.node_counts(0).bus_busy_cycles > 0);
}

#[test]
fn write_backs_take_half_of_a_bus() {
    let mut machine = catalogued("olifant", "1N4");
    // The second level overflows soon, so that nearly each miss drops a modified line.
    machine.processor.l2.size.0 = 1 << 14;
    let (lines, engine) = stream(&machine, 0, true);
    let write_backs: u64 = (0..4).map(|cpu| engine.counters(cpu).write_backs).sum();
    let moved = 1.0 + write_backs as f64 / (4 * LINES_PER_CPU) as f64;
    assert!(moved > 1.85, "{write_backs} write-backs");
    assert_within_1_percent(lines * moved * machine.processor.l2.line.0 as f64, machine.memory.bandwidth.0);
}

#[test]
fn one_coherence_unit_passes_two_packets_per_remote_line() {
    let mut machine = catalogued("olifant", "2N4");
    // One miss at a time does not load the unit fully.
    machine.processor.outstanding_misses = 4;
    let (lines, engine) = stream(&machine, 1, false);
    assert_within_1_percent(lines, 1e9 / (2.0 * machine.coherence.occupancy.0));
    assert_eq!(engine.node_counts(0).unit.responses_in, 4 * LINES_PER_CPU);
}

#[test]
fn one_link_passes_its_bandwidth() {
    let mut machine = catalogued("olifant", "2N4");
    machine.coherence.occupancy = Nanos(1.0);
    machine.memory.bandwidth = BytesPerSecond(1e11);
    machine.memory.address_only = Nanos(0.0);
    machine.processor.outstanding_misses = 32;
    machine.processor.window_instructions = 1_000;
    let (lines, engine) = stream(&machine, 1, false);
    let link = machine.network.links[0];
    assert_within_1_percent(lines * machine.coherence.response.0 as f64, link.bandwidth.0);
    let busiest = engine.link_counts().iter().map(|link| link.busy_cycles).max().unwrap();
    let cycles = busiest as f64 * link.bandwidth.0 / machine.processor.clock.0;
    assert_within_1_percent(cycles, (4 * LINES_PER_CPU * machine.coherence.response.0) as f64);
}
