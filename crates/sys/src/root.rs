//! The directory that stands for `/`, so that captured trees of /proc and /sys can be read like the real ones.

use std::io;
use std::path::{Path, PathBuf};

/// Where the files of the system are: `/`, or the top of a captured tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

/// A file that cannot be read, or does not say what it should.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("read {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its contents are not in the expected form.
    #[error("{}: line {line}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
}

impl ReadError {
    /// Whether the file, or the process it tells of, is not there (any more).
    pub fn is_gone(&self) -> bool {
        match self {
            ReadError::Unreadable { source, .. } => {
                source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(libc::ESRCH)
            }
            ReadError::Malformed { .. } => false,
        }
    }
}

impl Default for Root {
    /// The running system.
    fn default() -> Self {
        Root::new("/")
    }
}

impl Root {
    /// The system whose `/` is `directory`.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Root(directory.into())
    }

    /// The path of a file below the root.
    pub fn path(&self, file: impl AsRef<Path>) -> PathBuf {
        let file = file.as_ref();
        self.0.join(file.strip_prefix("/").unwrap_or(file))
    }

    /// The text of a file.
    /// # Errors  [`ReadError::Unreadable`].
    pub fn text(&self, file: impl AsRef<Path>) -> Result<String, ReadError> {
        let path = self.path(file);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(source) => Err(ReadError::Unreadable { path, source }),
        }
    }

    /// The error that a file does not say what it should.
    pub fn malformed(&self, file: impl AsRef<Path>, line: usize, problem: impl Into<String>) -> ReadError {
        ReadError::Malformed { path: self.path(file), line, problem: problem.into() }
    }
}
