//! A writer killed at any moment leaves a whole profile: the old one or the new one. The writer is this test in a
//! process of its own.

use crate::fixed;
use olifant_opium::profile::{Granule, Profile};
use olifant_store::{read, write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names the file to the writer.
const DESTINATION: &str = "OLIFANT_TEST_DESTINATION";

/// A profile that takes some milliseconds to write; `seed` tells one from another.
fn profile(seed: u64) -> Profile {
    let mut profile = fixed::profile();
    profile.run.seed = seed;
    profile.granules = (0..2_000).map(|index| Granule { area: 0, index, home: 0, by: Vec::new() }).collect();
    profile
}

#[test]
fn a_killed_writer_leaves_the_old_profile_or_the_new_one() {
    if let Some(destination) = std::env::var_os(DESTINATION) {
        for seed in 1.. {
            write(&profile(seed), Path::new(&destination)).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.olp");
    write(&profile(0), &path).unwrap();
    let mut seeds = Vec::new();
    for round in 0..8 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::a_killed_writer_leaves_the_old_profile_or_the_new_one"])
            .env(DESTINATION, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(40 + 17 * round));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = read(&path).unwrap();
        assert_eq!(found, profile(found.run.seed));
        seeds.push(found.run.seed);
    }
    assert!(seeds.iter().any(|seed| *seed > 0), "no writer got to its first profile: {seeds:?}");
}
