//! How long a profile of a million counters takes to write and to read (wall clock, median of five), and how large its
//! file is. The answer is verified: what is read must equal what was written.
//!
//! Run: `cargo bench -p olifant-store`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark talks, and fails where it stands")]

use olifant_opium::profile::*;
use olifant_store::{read, write};
use std::time::{Duration, Instant};

/// Granules, each with counters of sixteen threads.
const GRANULES: u64 = 62_500;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("million.olp");
    let profile = profile();
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let start = Instant::now();
        write(&profile, &path).unwrap();
        writes.push(start.elapsed());
        let start = Instant::now();
        let found = read(&path).unwrap();
        reads.push(start.elapsed());
        assert!(found == profile, "what was read differs from what was written");
    }
    let bytes = std::fs::metadata(&path).unwrap().len();
    let seconds = |times: &mut Vec<Duration>| {
        times.sort();
        format!(
            "{:.2} s ({:.2} to {:.2})",
            times[2].as_secs_f64(),
            times[0].as_secs_f64(),
            times[4].as_secs_f64()
        )
    };
    println!("{} counters, {:.1} MB", GRANULES * 16, bytes as f64 / 1e6);
    println!("write {}", seconds(&mut writes));
    println!("read  {}", seconds(&mut reads));
}

fn profile() -> Profile {
    let by = |index: u64| {
        let accesses = move |thread: u16| Accesses {
            thread,
            node: thread / 4,
            reads: index * 7 % 1_000,
            writes: index * 3 % 100,
            upgrades: index % 10,
            write_backs: index % 5,
        };
        (0..16).map(accesses).collect()
    };
    let granule = |index: u64| Granule { area: 0, index, home: 0, by: by(index) };
    let area = Area {
        kind: AreaKind::Global,
        name: "grid".into(),
        start: 0x40_0000,
        bytes: GRANULES * 4096,
        site: None,
        ordinal: 0,
        thread: 0,
        born: 0,
        freed: None,
    };
    Profile {
        run: RunInfo {
            program: "grid".into(),
            args: Vec::new(),
            machine: "olifant".into(),
            machine_toml: String::new(),
            configuration: "4N4".into(),
            thread_policy: "fill".into(),
            memory_policy: "first-touch".into(),
            plan: None,
            seed: 1,
            evidence: Evidence::Simulated,
            is_complete: true,
            exit_code: 0,
            version: env!("CARGO_PKG_VERSION").into(),
        },
        totals: Totals::default(),
        cpus: Vec::new(),
        nodes: Vec::new(),
        links: Vec::new(),
        threads: Vec::new(),
        modules: Vec::new(),
        sites: Vec::new(),
        areas: vec![area],
        granule_bytes: 4096,
        granules: (0..GRANULES).map(granule).collect(),
        contested: Vec::new(),
        facts: olifant_opium::facts::Facts::default(),
    }
}
