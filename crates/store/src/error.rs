//! What can go wrong with a profile file. Every message begins with the file and ends with what is wrong or to try.

use std::io;
use std::path::{Path, PathBuf};

/// A profile file that could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is missing, or may not be read.
    #[error("{}: cannot read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{}: not an Olifant profile ({reason})", path.display())]
    NotAProfile {
        /// The file.
        path: PathBuf,
        /// How it shows.
        reason: String,
    },
    /// The file has a schema that only a later release knows.
    #[error(
        "{}: written by a newer Olifant (schema {found}, this one knows {known}): update Olifant to read it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest that this release reads.
        known: u32,
    },
    /// The file ends before its own header says it should.
    #[error("{}: the profile is cut off ({found} of {expected} bytes): copy it again or repeat the run", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Size according to its header, in bytes.
        expected: u64,
        /// Size found, in bytes.
        found: u64,
    },
    /// The file is a profile whose content contradicts itself.
    #[error("{}: the profile is damaged ({reason}): copy it again or repeat the run", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        reason: String,
    },
    /// The profile in memory breaks a law of the model, so no file could hold it.
    #[error("{}: the profile breaks a law of the model ({law}); nothing was written", path.display())]
    Unlawful {
        /// The file that was to be written.
        path: PathBuf,
        /// The law and the place.
        law: String,
    },
    /// The destination exists and is not a file.
    #[error("{}: not a regular file: name a file for the profile", path.display())]
    NotAFile {
        /// The destination.
        path: PathBuf,
    },
    /// The device is full.
    #[error("{}: no space left on the device: free some, or name a file elsewhere", path.display())]
    DiskFull {
        /// The destination; what it held before is unharmed.
        path: PathBuf,
    },
    /// The folder or device refused the file.
    #[error("{}: cannot write: {source}", path.display())]
    Unwritable {
        /// The destination; what it held before is unharmed.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite failed for a reason of its own.
    #[error("{}: cannot write: {source}", path.display())]
    Database {
        /// The destination; what it held before is unharmed.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// A system error while `path` was being written.
    pub(crate) fn writing(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull { path },
            _ => StoreError::Unwritable { path, source },
        }
    }

    /// An error of SQLite while `path` was being written.
    pub(crate) fn filling(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => StoreError::DiskFull { path },
            _ => StoreError::Database { path, source },
        }
    }

    /// An error of SQLite while `path` was being read; its header has been found good before.
    pub(crate) fn reading(path: &Path, source: &rusqlite::Error) -> Self {
        StoreError::Damaged { path: path.to_owned(), reason: source.to_string() }
    }
}
