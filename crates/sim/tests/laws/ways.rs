//! More ways of least-recently-used sets never miss more.

use crate::traffic::{Act, Mix, Step, Traffic, seeds};
use crate::{STRIDE, catalogued, run, with_ways};
use olifant_machine::{Bytes, Machine};
use olifant_placement::MemoryPolicy;
use olifant_sim::Random;

fn total_misses(machine: &Machine, steps: impl IntoIterator<Item = Step>) -> (u64, u64) {
    let counters = run(machine, MemoryPolicy::FirstTouch, 1, steps).counters(0);
    (counters.level1_misses, counters.level2_misses)
}

#[test]
fn more_ways_of_the_first_level_never_miss_more() {
    for seed in seeds(1..5) {
        let steps = || Traffic::new(seed, 1, STRIDE, &[Mix::Private, Mix::Migratory]).take(20_000);
        let misses: Vec<u64> = (1..=4)
            .map(|ways| total_misses(&with_ways(catalogued("olifant", "1N1"), ways, 128), steps()).0)
            .collect();
        assert!(misses.is_sorted_by(|few, more| few >= more), "seed {seed}: {misses:?}");
        assert!(misses[0] > misses[3], "seed {seed}: {misses:?}");
    }
}

#[test]
fn more_ways_of_the_second_level_never_miss_more() {
    for seed in seeds(1..5) {
        let mut random = Random::new(seed);
        // The first level has one way, and after each access to a page's upper half another to its sweeper: the line
        // of one certain page that shares its first-level set. So everything misses the first level, and the second
        // sees one sequence whatever its ways. Sweepers lie in sets of their own.
        let addresses: Vec<u64> = (0..20_000)
            .flat_map(|_| {
                let at = 0x10_0000 + random.below(24) * 8192 + 4096 + random.below(128) * 32;
                [at, 0x8_0000 + at % 4096]
            })
            .collect();
        let misses: Vec<u64> = (1..=8)
            .map(|ways| {
                let mut machine = with_ways(catalogued("olifant", "1N1"), 1, ways);
                machine.processor.l2.size = Bytes(8192 * u64::from(ways));
                let steps = addresses.iter().map(|&address| Step { cpu: 0, address, act: Act::Read });
                let (level1, level2) = total_misses(&machine, steps);
                assert_eq!(level1, addresses.len() as u64, "seed {seed}: the sweepers do not sweep");
                level2
            })
            .collect();
        assert!(misses.is_sorted_by(|few, more| few >= more), "seed {seed}: {misses:?}");
        assert!(misses[0] > misses[7], "seed {seed}: {misses:?}");
    }
}
