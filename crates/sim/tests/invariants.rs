//! Random traffic keeps every law of the machine's state.
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of processors, lines and sets of small machines"
)]
#![allow(clippy::unwrap_used, reason = "helpers of tests may end them")]

use olifant_machine::catalogue;
use olifant_placement::MemoryPolicy;
use olifant_sim::{Engine, Increment, Random};

fn traffic(configuration: &str, policy: MemoryPolicy, seed: u64, accesses: u64) -> Engine<()> {
    let machine = catalogue::find("olifant").unwrap().configure(configuration).unwrap();
    let mut engine = Engine::new(&machine, policy, seed, 3, ()).unwrap();
    let mut random = Random::new(seed);
    let cpus = engine.cpus() as u64;
    for step in 0..accesses {
        let cpu = random.below(cpus) as usize;
        // Mostly private bands, some shared lines, some far strides that conflict in the caches.
        let address = match random.below(4) {
            0 => 0x10_0000 + random.below(64) * 8,
            1 => 0x40_0000 + random.below(4096) * 4096,
            _ => 0x1000_0000 + cpu as u64 * (1 << 20) + random.below(1 << 17) * 8,
        };
        let is_write = random.below(3) == 0;
        let increment = if is_write { Increment::write(3) } else { Increment::read(3) };
        engine.access(cpu, address, increment, 1);
        if step % 1000 == 0 {
            engine.run_until(cpu, u64::MAX / 1024);
        }
        if step % 20_000 == 0 {
            engine.check_invariants().unwrap_or_else(|law| panic!("seed {seed}, step {step}: {law}"));
        }
    }
    engine.check_invariants().unwrap_or_else(|law| panic!("seed {seed}: {law}"));
    engine
}

#[test]
fn random_traffic_breaks_no_law() {
    for (seed, configuration) in [(1, "4N4"), (2, "1N4"), (3, "2N1"), (4, "4N1"), (5, "1N1")] {
        for policy in [MemoryPolicy::FirstTouch, MemoryPolicy::Striped { pages: 1 }, MemoryPolicy::Any] {
            let engine = traffic(configuration, policy, seed, 120_000);
            for cpu in 0..engine.cpus() {
                let counters = engine.counters(cpu);
                assert!(counters.level1_misses <= counters.reads + counters.writes);
                assert!(counters.level2_misses <= counters.level1_misses);
                assert!(counters.write_backs <= counters.level2_misses);
            }
        }
    }
}

#[test]
fn one_node_sends_no_packet() {
    let engine = traffic("1N4", MemoryPolicy::Any, 9, 50_000);
    assert_eq!(engine.node_counts(0).unit.bytes_out, 0);
    assert_eq!(engine.node_counts(0).remote_transactions, 0);
}
