//! The engine and the plain machine agree count for count on random traffic, and every read in the plain machine
//! returns the last write.
//!
//! A failure names its seed; OLIFANT_TEST_SEED=n repeats that seed alone.
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of processors, lines and sets of small machines"
)]

use crate::catalogued;
use crate::counts::Counts;
use crate::plain::Plain;
use crate::traffic::{Act, MIXES, Mix, Traffic, drive, seeds};
use olifant_machine::{Bytes, Cache, Cycles, FramePolicy, Machine, NodeId};
use olifant_placement::MemoryPolicy;
use olifant_sim::Engine;

/// The machine with caches and a TLB so small that everything overflows.
fn with_small_caches(mut machine: Machine) -> Machine {
    let line = machine.processor.l2.line;
    let cache = |size, ways| Cache { size: Bytes(size), ways, line, hit: Cycles(3) };
    machine.processor.l1 = cache(2048, 2);
    machine.processor.l2 = cache(16_384, 4);
    machine.processor.tlb.entries = 8;
    machine.processor.tlb.ways = 2;
    machine
}

fn way_bytes(machine: &Machine) -> u64 {
    machine.processor.l2.size.0 / u64::from(machine.processor.l2.ways)
}

/// Runs both machines side by side, compares them now and then and at the end.
fn agree(machine: &Machine, policy: &MemoryPolicy, mixes: &[Mix], seed: u64, steps: u64) -> Plain {
    let what = format!("{} {} {policy:?} seed {seed}", machine.name, machine.configuration());
    let mut engine = Engine::new(machine, policy.clone(), seed, 3, ()).unwrap();
    let mut plain = Plain::new(machine, policy.clone(), seed);
    let traffic = Traffic::new(seed, engine.cpus(), way_bytes(machine), mixes);
    for (number, step) in (1..=steps).zip(traffic) {
        drive(&mut engine, step);
        match step.act {
            Act::Read => plain.read(step.cpu, step.address),
            Act::Write => plain.write(step.cpu, step.address),
            Act::ReadRange(bytes) => plain.range(step.cpu, step.address, bytes, false),
            Act::WriteRange(bytes) => plain.range(step.cpu, step.address, bytes, true),
            Act::Unmap(bytes) => plain.unmap(step.address, bytes),
        }
        if number % (steps / 8).min(10_000) == 0 || number == steps {
            let at = format!("{what}, step {number}");
            plain.counts().assert_equal(&Counts::of_engine(&mut engine), &at);
            plain.assert_conservation(&at);
            (0..engine.cpus()).for_each(|cpu| engine.run_until(cpu, u64::MAX / 1024));
        }
    }
    engine.check_invariants().unwrap_or_else(|law| panic!("{what}: {law}"));
    plain
}

#[test]
fn every_configuration_and_policy_agrees() {
    let policies = [
        MemoryPolicy::FirstTouch,
        MemoryPolicy::Striped { pages: 1 },
        MemoryPolicy::Striped { pages: 3 },
        MemoryPolicy::Node(NodeId(0)),
    ];
    for configuration in ["4N4", "4N1", "2N4", "2N1", "1N4", "1N1", "3N4,0,2"] {
        for policy in &policies {
            for exclusive_on_read in [true, false] {
                for seed in seeds(1..2) {
                    let mut machine = with_small_caches(catalogued("olifant", configuration));
                    machine.coherence.exclusive_on_read = exclusive_on_read;
                    agree(&machine, policy, &MIXES, seed, 6_000);
                }
            }
        }
    }
}

#[test]
fn every_kind_of_sharing_agrees_by_itself() {
    for mix in MIXES {
        for seed in seeds(10..13) {
            for machine in [catalogued("olifant", "4N2"), with_small_caches(catalogued("olifant", "4N2"))] {
                agree(&machine, &MemoryPolicy::FirstTouch, &[mix], seed, 4_000);
            }
        }
    }
}

#[test]
fn many_seeds_agree() {
    for seed in seeds(100..130) {
        let machine = with_small_caches(catalogued("olifant", "4N4"));
        agree(&machine, &MemoryPolicy::FirstTouch, &MIXES, seed, 4_000);
    }
}

#[test]
fn a_long_run_from_cold_to_hot_agrees_on_the_full_machine() {
    for seed in seeds(20..21) {
        let plain =
            agree(&catalogued("olifant", "4N4"), &MemoryPolicy::Striped { pages: 1 }, &MIXES, seed, 100_000);
        assert!(
            plain.counts().cpus.iter().all(|cpu| cpu.write_backs > 0),
            "seed {seed}: a cache never overflowed"
        );
    }
}

#[test]
fn other_machines_agree() {
    for (name, configuration) in
        [("opteron-4", "4N2"), ("opteron-4", "3N1"), ("x4800", "8N8"), ("x4800", "5N3"), ("altix-64", "32N2")]
    {
        for seed in seeds(30..32) {
            let machine = catalogued(name, configuration);
            agree(&machine, &MemoryPolicy::FirstTouch, &MIXES, seed, 5_000);
            agree(&with_small_caches(machine), &MemoryPolicy::Striped { pages: 2 }, &MIXES, seed, 5_000);
        }
    }
}

#[test]
fn every_choice_of_frames_agrees() {
    for frames in [FramePolicy::Coloured, FramePolicy::Sequential, FramePolicy::Random] {
        for seed in seeds(40..43) {
            let mut machine = catalogued("olifant", "2N2");
            machine.processor.l2.size = Bytes(1 << 16);
            machine.os.frames = frames;
            agree(&machine, &MemoryPolicy::FirstTouch, &MIXES, seed, 5_000);
        }
    }
}

#[test]
fn nodes_that_run_full_pass_pages_on_alike() {
    for seed in seeds(50..53) {
        let mut machine = with_small_caches(catalogued("x4800", "8N1"));
        for (number, node) in (1..).zip(&mut machine.nodes) {
            node.memory = Bytes(4096 * 3 * number);
        }
        let plain = agree(&machine, &MemoryPolicy::Node(NodeId(2)), &MIXES, seed, 6_000);
        let pages = plain.counts().nodes.iter().map(|node| node.pages).collect::<Vec<_>>();
        assert!(pages.iter().filter(|&&used| used > 0).count() > 4, "seed {seed}: {pages:?}");
    }
}

#[test]
fn second_level_lines_longer_than_the_first_levels_agree() {
    for exclusive_on_read in [true, false] {
        for seed in seeds(60..64) {
            let mut machine = with_small_caches(catalogued("olifant", "4N2"));
            machine.processor.l2.line = Bytes(128);
            machine.coherence.response = Bytes(144);
            machine.coherence.exclusive_on_read = exclusive_on_read;
            agree(&machine, &MemoryPolicy::FirstTouch, &MIXES, seed, 6_000);
        }
    }
}
