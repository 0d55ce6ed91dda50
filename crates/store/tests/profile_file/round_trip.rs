//! What is stored comes back equal, and storing is atomic.

use crate::arbitrary::any_profile;
use crate::fixed;
use olifant_opium::profile::{Accesses, Granule};
use olifant_store::{StoreError, read, write};
use proptest::prelude::*;
use std::fs;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_written_profile_reads_back_equal(profile in any_profile()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profile.olp");
        write(&profile, &path).unwrap();
        prop_assert_eq!(read(&path).unwrap(), profile);
    }
}

#[test]
fn what_is_not_a_number_comes_back_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.olp");
    let mut profile = fixed::profile();
    profile.links[0].utilisation = f64::NAN;
    profile.totals.seconds = f64::INFINITY;
    write(&profile, &path).unwrap();
    let found = read(&path).unwrap();
    assert!(found.links[0].utilisation.is_nan());
    assert_eq!(found.totals.seconds, f64::INFINITY);
}

#[test]
fn the_same_profile_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.olp"), folder.path().join("two.olp"));
    write(&fixed::profile(), &one).unwrap();
    write(&fixed::profile(), &two).unwrap();
    assert_eq!(fs::read(one).unwrap(), fs::read(two).unwrap());
}

#[test]
fn writing_replaces_the_old_file_and_leaves_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.olp");
    fs::write(&path, "an old file of another kind").unwrap();
    write(&fixed::profile(), &path).unwrap();
    assert_eq!(read(&path).unwrap(), fixed::profile());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn writing_through_a_symbolic_link_keeps_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("profile.olp"), folder.path().join("latest.olp"));
    fs::write(&path, "").unwrap();
    std::os::unix::fs::symlink("profile.olp", &link).unwrap();
    write(&fixed::profile(), &link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&path).unwrap(), fixed::profile());
}

#[test]
fn a_profile_that_breaks_a_law_is_refused_and_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.olp");
    write(&fixed::profile(), &path).unwrap();
    let refused = |spoil: fn(&mut olifant_opium::profile::Profile)| {
        let mut profile = fixed::profile();
        spoil(&mut profile);
        let error = write(&profile, &path).unwrap_err();
        assert!(matches!(error, StoreError::Unlawful { .. }), "{error}");
        error.to_string().split_once(": ").unwrap().1.to_owned()
    };
    let tail = "; nothing was written";
    assert_eq!(
        refused(|profile| profile.areas[0].site = Some(9)),
        format!("the profile breaks a law of the model (area 0 refers to site 9, but there are 1){tail}")
    );
    assert_eq!(
        refused(|profile| profile.granules[1].area = 7),
        format!("the profile breaks a law of the model (granules are not in ascending order){tail}")
    );
    assert_eq!(
        refused(|profile| profile.granules[0].by.reverse()),
        format!(
            "the profile breaks a law of the model (accessors of granule 0 of area 0 are not in ascending order){tail}"
        )
    );
    assert_eq!(
        refused(|profile| profile.contested[0].area = 2),
        format!(
            "the profile breaks a law of the model (contested line 0 refers to area 2, but there are 2){tail}"
        )
    );
    assert_eq!(read(&path).unwrap(), fixed::profile());
}

#[test]
fn a_hundred_thousand_counters_come_back_equal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.olp");
    let mut profile = fixed::profile();
    let by =
        |thread: u16| Accesses { thread, node: thread / 4, reads: u64::from(thread), ..Accesses::default() };
    profile.granules = (0..6_250)
        .map(|index| Granule { area: 0, index, home: (index % 4) as u16, by: (0..16).map(by).collect() })
        .collect();
    write(&profile, &path).unwrap();
    assert_eq!(read(&path).unwrap(), profile);
}
