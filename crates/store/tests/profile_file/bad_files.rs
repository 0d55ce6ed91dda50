//! Files that are not profiles, or no longer: each says what is wrong, none brings the reader down.

use crate::arbitrary::any_profile;
use crate::fixed;
use olifant_store::{SCHEMA_VERSION, StoreError, read, read_map, write};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with a good profile in it.
fn good() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.olp");
    write(&fixed::profile(), &path).unwrap();
    (folder, path)
}

/// The message for `path`, without the folder.
fn complaint(path: &Path) -> String {
    let text = read(path).unwrap_err().to_string();
    text.replace(&format!("{}/", path.parent().unwrap().display()), "")
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        complaint(&folder.path().join("profile.olp")),
        "profile.olp: cannot read: No such file or directory (os error 2)"
    );
}

#[test]
fn a_foreign_file_is_not_a_profile() {
    let (folder, path) = good();
    fs::write(&path, "hello, this is a text that has nothing to do with it").unwrap();
    assert_eq!(complaint(&path), "profile.olp: not an Olifant profile (it is not a SQLite file)");
    fs::write(&path, "").unwrap();
    assert_eq!(complaint(&path), "profile.olp: not an Olifant profile (it is empty)");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    assert_eq!(complaint(&inner), "inner: not an Olifant profile (it is a folder)");
    assert!(read(Path::new("/dev/null")).unwrap_err().to_string().ends_with("(it is not a regular file)"));
}

#[test]
fn a_database_of_another_application_is_not_a_profile() {
    let (_folder, path) = good();
    fs::remove_file(&path).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE bookmarks (address TEXT)").unwrap();
    connection.close().unwrap();
    assert_eq!(
        complaint(&path),
        "profile.olp: not an Olifant profile (it is a SQLite file of another application)"
    );
}

#[test]
fn a_newer_schema_asks_for_an_update() {
    let (_folder, path) = good();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    connection.close().unwrap();
    assert_eq!(
        complaint(&path),
        "profile.olp: written by a newer Olifant (schema 3, this one knows 2): update Olifant to read it"
    );
}

#[test]
fn a_file_cut_off_says_how_much_is_there() {
    let (_folder, path) = good();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(
        complaint(&path),
        format!(
            "profile.olp: the profile is cut off ({} of {} bytes): copy it again or repeat the run",
            whole.len() - 1,
            whole.len()
        )
    );
}

#[test]
fn contradictions_between_rows_are_damage() {
    let damaged = |sql: &str| {
        let (_folder, path) = good();
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        let text = complaint(&path);
        let reason = text.strip_prefix("profile.olp: the profile is damaged (").expect(&text);
        reason.strip_suffix("): copy it again or repeat the run").expect(&text).to_owned()
    };
    assert_eq!(damaged("DELETE FROM areas WHERE area = 0"), "areas has no row 0");
    assert_eq!(damaged("DELETE FROM run"), "run should have one row");
    assert_eq!(damaged("INSERT INTO totals SELECT * FROM totals"), "totals should have one row");
    assert_eq!(damaged("DROP TABLE links"), "no such table: links");
    assert_eq!(
        damaged("UPDATE areas SET kind = 'pile'"),
        "Conversion error from type Text at index: 1, unknown kind of area \"pile\""
    );
    assert_eq!(
        damaged("UPDATE granules SET granule = 3 WHERE area = 0 AND granule = 1"),
        "counters of granule 1 of area 0, which is not there"
    );
    assert_eq!(damaged("UPDATE frames SET depth = 5 WHERE depth = 1"), "frames of 0 lacks row 1");
    assert_eq!(damaged("DELETE FROM sites"), "site_path of 0, which is not there");
    assert_eq!(damaged("UPDATE areas SET site = 4"), "area 0 refers to site 4, but there are 1");
    assert_eq!(
        damaged("UPDATE phase_cells SET phase = 7"),
        "a cell of a phase refers to phase 7, but there are 1"
    );
    assert_eq!(damaged("DELETE FROM card"), "card should have one row");
    assert_eq!(
        damaged("UPDATE first_touches SET area = 9"),
        "a first touch refers to area 9, but there are 2"
    );
}

#[test]
fn an_unusable_destination_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let profile = fixed::profile();
    let error = write(&profile, &folder.path().join("missing/profile.olp")).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert!(error.to_string().ends_with("profile.olp: cannot write: No such file or directory (os error 2)"));
    let error = write(&profile, folder.path()).unwrap_err();
    assert!(error.to_string().ends_with(": not a regular file: name a file for the profile"), "{error}");
    let error = write(&profile, Path::new("/dev/full")).unwrap_err();
    assert!(matches!(error, StoreError::NotAFile { .. }), "{error}");
    // Not even root may create a file there.
    let error = write(&profile, Path::new("/proc/profile.olp")).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn damaged_bytes_never_bring_the_reader_down(
        profile in any_profile(),
        flips in proptest::collection::vec((any::<Index>(), 1..=u8::MAX), 1..30),
        cut in proptest::option::weighted(0.2, any::<Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profile.olp");
        write(&profile, &path).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        for (place, mask) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= mask;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        fs::write(&path, &bytes).unwrap();
        // Either outcome is lawful, a panic or an endless loop is not; what is read must be storable again.
        if let Err(error) = read_map(&path) {
            prop_assert!(error.to_string().starts_with(&path.display().to_string()));
        }
        match read(&path) {
            Ok(profile) => write(&profile, &path).unwrap(),
            Err(error) => prop_assert!(error.to_string().starts_with(&path.display().to_string())),
        }
    }

    #[test]
    fn every_cut_is_reported(cut in any::<Index>()) {
        let (_folder, path) = good();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..cut.index(whole.len())]).unwrap();
        let error = read(&path).unwrap_err();
        let is_named = matches!(error, StoreError::Truncated { .. } | StoreError::NotAProfile { .. });
        prop_assert!(is_named, "{}", error);
    }
}
