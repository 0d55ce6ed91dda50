//! What the tests of the whole share: where the built things are, and how to run them. Built things come from
//! `make build`; a test that misses one fails and says so.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the checkout is there")
}

/// The release build of the `olifant` command: `$OLIFANT`, or where `make build` leaves it.
///
/// # Panics
/// If it isn't there.
pub fn olifant() -> PathBuf {
    let built = std::env::var_os("OLIFANT").map_or_else(
        || {
            let target =
                std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
            target.join("release/olifant")
        },
        PathBuf::from,
    );
    assert!(built.is_file(), "{} is missing: `make build` first", built.display());
    built
}

/// Where programs are built: `$OLIFANT_BUILD`, or where `make` leaves them.
fn build_folder() -> PathBuf {
    std::env::var_os("OLIFANT_BUILD").map_or_else(|| root().join("build"), PathBuf::from)
}

/// A program that `make build` or `make check` leaves under `build/`, as `bin/ocean` or `conformance/mutex`.
///
/// # Panics
/// If it isn't there.
pub fn built(path: &str) -> PathBuf {
    let built = build_folder().join(path);
    assert!(built.is_file(), "{} is missing: `make build check-programs` first", built.display());
    built
}

/// `olifant` with these words, in an empty environment but for PATH and HOME, so that no variable of the tester's decides.
pub fn olifant_command(words: &[&str]) -> Command {
    let mut command = Command::new(olifant());
    command.args(words).env_clear();
    for kept in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command
}
