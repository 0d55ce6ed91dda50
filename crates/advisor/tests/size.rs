//! Large cases: 512 threads on 256 nodes with 100,000 granules; 50,000 allocations of one site. Each prints its time;
//! the limits hold in release builds.
#![allow(clippy::print_stdout, reason = "the time taken is the point")]

mod common;

use common::{Builder, PAGE, cpus, hub};
use olifant_advisor::{Options, Verdict, advise};
use olifant_opium::profile::{Area, AreaKind};
use std::time::{Duration, Instant};

#[test]
fn five_hundred_threads_are_advised_in_two_seconds() {
    let machine = hub(256, 2);
    let mut builder = Builder::new(&machine, &cpus(512));
    // Thread t works with its neighbours in a grid of 16 x 32, but is numbered by a multiplication modulo 512.
    let site = builder.site("main", 1);
    let area = builder.area(site, 100_000, 0);
    let number = |place: u64| u16::try_from(place * 77 % 512).expect("below 512");
    for page in 0..100_000u64 {
        let place = page * 512 / 100_000;
        let (row, column) = (place / 32, place % 32);
        let right = row * 32 + (column + 1) % 32;
        let below = (row + 1) % 16 * 32 + column;
        let mut by =
            vec![(number(place), 300 + page % 7, 100), (number(right), 120, 20), (number(below), 60, 10)];
        by.extend((1..6).map(|step| (number((place + 97 * step) % 512), 3, 1)));
        by.sort_unstable();
        by.dedup_by_key(|user| user.0);
        builder.page(area, page, &by);
    }
    let profile = builder.finish();
    let start = Instant::now();
    let advice = advise(&profile, &machine, &Options::default());
    let took = start.elapsed();
    println!("{took:?}, remote {} -> {}", advice.effect.remote_before, advice.effect.remote_after);
    assert_eq!(advice.verdict, Verdict::Tune);
    assert!(advice.effect.remote_after * 2 < advice.effect.remote_before);
    if !cfg!(debug_assertions) {
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

#[test]
fn fifty_thousand_allocations_are_advised_in_two_seconds() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("new_cell", 1);
    for number in 0..50_000u32 {
        let user = u16::try_from(number % 16).expect("below 16");
        builder.profile.areas.push(Area {
            kind: AreaKind::Heap,
            name: "new_cell (test.c:1)".into(),
            start: (1 << 30) + u64::from(number) * PAGE,
            bytes: PAGE,
            site: Some(site),
            ordinal: number,
            thread: user,
            born: 0,
            freed: None,
        });
        builder.page(number as usize, 0, &[(user, 300, 100), ((user + 1) % 16, 20, 0)]);
    }
    let profile = builder.finish();
    let start = Instant::now();
    let advice = advise(&profile, &machine, &Options::default());
    let took = start.elapsed();
    println!("{took:?}, {} entries", advice.plan.areas.len());
    assert_eq!(advice.plan.areas.len(), 1);
    if !cfg!(debug_assertions) {
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}
