//! The directory that stands for `/`, and typed reading of the small files below it.

use olifant_machine::{CatalogueError, IdSet, LawBroken, SetMember};
use std::io;
use std::path::{Path, PathBuf};

/// Where the computer's files are: `/`, or the top of a captured tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

/// Why the machine cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A file that must be there cannot be read.
    #[error("read {}: {source}; is {} mounted here?", .path.display(), mount_of(.path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file does not say what it should.
    #[error("{}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        problem: String,
    },
    /// What the files say is not a machine.
    #[error("what sysfs tells is not a machine: {0}")]
    Law(#[from] LawBroken),
    /// The built-in file of assumed timings is wrong.
    #[error(transparent)]
    Assumed(#[from] CatalogueError),
}

fn mount_of(path: &Path) -> &'static str {
    let is_proc = path.components().any(|part| part.as_os_str() == "proc");
    if is_proc { "proc" } else { "sysfs" }
}

impl Root {
    /// The computer whose `/` is `directory`.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Root(directory.into())
    }

    /// The path of a file below the root.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// The text of a file that must be there, without surrounding white space.
    pub(crate) fn text(&self, file: &str) -> Result<String, HostError> {
        let path = self.path(file);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(source) => Err(HostError::Unreadable { path, source }),
        }
    }

    /// The text of a file, or `None` where there is no such file. A kernel also leaves attributes out by refusing to
    /// read them.
    pub(crate) fn optional_text(&self, file: &str) -> Option<String> {
        self.text(file).ok()
    }

    /// The set that a cpulist file holds.
    pub(crate) fn set<M: SetMember>(&self, file: &str) -> Result<IdSet<M>, HostError> {
        self.text(file)?.parse().map_err(|error| self.malformed(file, format!("{error}")))
    }

    /// The number that a file holds, or `None` where there is no such file or it is empty.
    pub(crate) fn optional_number(&self, file: &str) -> Result<Option<u64>, HostError> {
        let Some(text) = self.optional_text(file).filter(|text| !text.is_empty()) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.malformed(file, format!("{text:?} is not a number")))
    }

    /// Whether a file or directory is there.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    /// The error that a file does not say what it should.
    pub(crate) fn malformed(&self, file: &str, problem: impl Into<String>) -> HostError {
        HostError::Malformed { path: self.path(file), problem: problem.into() }
    }
}
