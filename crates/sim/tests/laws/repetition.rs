//! A run is a function of its input and seed: not of how often the simulator looks, nor of how long stamps have grown.

use crate::counts::Counts;
use crate::traffic::{MIXES, Traffic, drive, seeds};
use crate::{STRIDE, catalogued, engine, run, times, with_ways};
use olifant_placement::MemoryPolicy;
use olifant_sim::Increment;

#[test]
fn the_same_input_and_seed_give_the_same_counts_and_clocks() {
    for (name, configuration) in [("olifant", "4N4"), ("x4800", "8N8")] {
        let machine = catalogued(name, configuration);
        let of = |seed| {
            let traffic = Traffic::new(7, 16, STRIDE, &MIXES).take(20_000);
            let mut engine = run(&machine, MemoryPolicy::Any, seed, traffic);
            (Counts::of_engine(&mut engine), times(&mut engine))
        };
        assert!(of(1) == of(1), "{name}: two runs differ");
        assert!(of(1) != of(2), "{name}: the seed decides nothing");
    }
}

#[test]
fn how_often_the_simulator_looks_at_a_lone_processor_changes_nothing() {
    for seed in seeds(1..5) {
        let machine = with_ways(catalogued("olifant", "1N1"), 1, 2);
        let of = |every: usize| {
            let mut engine = engine(&machine, MemoryPolicy::FirstTouch, seed);
            for (number, step) in Traffic::new(seed, 1, STRIDE, &MIXES).take(20_000).enumerate() {
                drive(&mut engine, step);
                if number % every == 0 {
                    engine.run_until(0, u64::MAX / 1024);
                }
            }
            engine.drain(0);
            (Counts::of_engine(&mut engine), times(&mut engine))
        };
        let (counts, times) = of(1);
        for every in [3, 100, 5_000] {
            let (other_counts, other_times) = of(every);
            counts.assert_equal(&other_counts, &format!("a look every {every} steps, seed {seed}"));
            assert_eq!(times, other_times, "a look every {every} steps, seed {seed}");
        }
    }
}

#[test]
fn renormalised_stamps_change_no_count() {
    for seed in seeds(1..5) {
        let machine = with_ways(catalogued("olifant", "1N1"), 4, 8);
        let of = |instructions: u64| {
            let mut engine = engine(&machine, MemoryPolicy::FirstTouch, seed);
            for (number, step) in Traffic::new(seed, 1, STRIDE, &MIXES).take(6_000).enumerate() {
                drive(&mut engine, step);
                if number % 2_000 == 1_999 {
                    engine.charge(0, instructions);
                }
            }
            let counted = engine.counters(0).instructions;
            (Counts::of_engine(&mut engine), counted)
        };
        let (expected, few) = of(1);
        let (found, many) = of(3 << 30);
        expected.assert_equal(&found, &format!("seed {seed}"));
        assert_eq!(many - few, 3 * ((3 << 30) - 1), "seed {seed}: instructions");
    }
}

#[test]
fn a_poll_loop_and_an_idle_wait_reach_the_same_cycle() {
    let machine = catalogued("olifant", "1N2");
    let mut engine = engine(&machine, MemoryPolicy::FirstTouch, 1);
    engine.access(0, 0x10_0000, Increment::read(3), 0);
    engine.idle_until(0, 100_000);
    engine.access(1, 0x10_0000, Increment::read(3), 0);
    let before = engine.counters(1).reads;
    engine.poll_until(1, 100_000, 4, 1);
    assert_eq!(engine.now(0), engine.now(1));
    let polls = engine.counters(1).reads - before;
    assert!((24_900..25_000).contains(&polls), "{polls} polls of four instructions in about 99,900 cycles");
}
