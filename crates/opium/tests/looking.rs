//! Looking at a running machine's counters changes nothing, so that checkpoints cannot move a run.

#![allow(clippy::unwrap_used)] // helpers of tests

use olifant_machine::catalogue;
use olifant_opium::{Card, collect};
use olifant_sim::{Increment, Next, Options, Random, System};

/// The digest after random traffic by four threads that partly only re-read a few lines, as spin-waits do.
fn digest(look_every: u64) -> String {
    let machine = catalogue::find("olifant").unwrap().configure("2N2").unwrap();
    let mut system = System::new(&machine, Options::default(), Card::new(4, 4096, 4096, 32)).unwrap();
    for _ in 0..4 {
        system.spawn();
    }
    let mut randoms: Vec<Random> = (0..4).map(Random::new).collect();
    let mut looks = 0u64;
    for _ in 0..600 {
        let Next::Run(thread) = system.choose() else { panic!("all threads are runnable") };
        let random = &mut randoms[thread.index()];
        let is_quiet = random.below(3) == 0;
        while !system.must_switch() {
            let span = if is_quiet { 4 } else { 1 << 16 };
            let is_write = !is_quiet && random.below(3) == 0;
            let increment = if is_write { Increment::write(5) } else { Increment::read(5) };
            let address = 0x10_0000 + random.below(span) * 32;
            system.access(address, increment, address, random.bits());
            looks += 1;
            if look_every > 0 && looks.is_multiple_of(look_every) {
                collect(&mut system, &machine);
            }
        }
    }
    collect(&mut system, &machine).totals.digest
}

#[test]
fn looking_at_the_counters_changes_no_count_and_no_clock() {
    let undisturbed = digest(0);
    for look_every in [13, 1000] {
        assert_eq!(digest(look_every), undisturbed, "a look every {look_every} accesses");
    }
}
