//! Typed reading of the small files of /sys and /proc below the directory that stands for `/`.

use olifant_machine::{CatalogueError, IdSet, LawBroken, SetMember};
use olifant_placement::HierarchyError;
use olifant_sys::Root;
use std::io;
use std::path::{Path, PathBuf};

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
    /// What the files say has no hierarchy.
    #[error("what sysfs tells is no hierarchy: {0}")]
    Hierarchy(#[from] HierarchyError),
    /// The built-in file of assumed timings is wrong.
    #[error(transparent)]
    Assumed(#[from] CatalogueError),
}

fn mount_of(path: &Path) -> &'static str {
    let is_proc = path.components().any(|part| part.as_os_str() == "proc");
    if is_proc { "proc" } else { "sysfs" }
}

/// What the finders need of a root beyond its texts.
pub(crate) trait SmallFiles {
    /// The text of a file that must be there, without surrounding white space.
    fn trimmed(&self, file: &str) -> Result<String, HostError>;
    /// The text of a file, or `None` where there is no such file. A kernel also leaves attributes out by refusing to
    /// read them.
    fn optional_text(&self, file: &str) -> Option<String>;
    /// The set that a cpulist file holds.
    fn set<M: SetMember>(&self, file: &str) -> Result<IdSet<M>, HostError>;
    /// The number that a file holds, or `None` where there is no such file or it is empty.
    fn optional_number(&self, file: &str) -> Result<Option<u64>, HostError>;
    /// Whether a file or directory is there.
    fn has(&self, file: &str) -> bool;
    /// The error that a file does not say what it should.
    fn broken(&self, file: &str, problem: impl Into<String>) -> HostError;
}

impl SmallFiles for Root {
    fn trimmed(&self, file: &str) -> Result<String, HostError> {
        let path = self.path(file);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(source) => Err(HostError::Unreadable { path, source }),
        }
    }

    fn optional_text(&self, file: &str) -> Option<String> {
        self.trimmed(file).ok()
    }

    fn set<M: SetMember>(&self, file: &str) -> Result<IdSet<M>, HostError> {
        self.trimmed(file)?.parse().map_err(|error| self.broken(file, format!("{error}")))
    }

    fn optional_number(&self, file: &str) -> Result<Option<u64>, HostError> {
        let Some(text) = self.optional_text(file).filter(|text| !text.is_empty()) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.broken(file, format!("{text:?} is not a number")))
    }

    fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    fn broken(&self, file: &str, problem: impl Into<String>) -> HostError {
        HostError::Malformed { path: self.path(file), problem: problem.into() }
    }
}
