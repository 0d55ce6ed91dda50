//! Why a ledger cannot be made.

use std::path::{Path, PathBuf};

/// Why a ledger cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}{hint}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
        /// What to try.
        hint: &'static str,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {problem}", path = path.display())]
    Form {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A definition names something that is not there.
    #[error("{place}: no {kind} {name:?}; known: {known}")]
    Unknown {
        /// Where it is named.
        place: String,
        /// What kind of thing.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A run cannot be made.
    #[error("{run}: {problem}")]
    Run {
        /// Which.
        run: String,
        /// What went wrong.
        problem: String,
    },
    /// A pattern of rows is not one.
    #[error(
        "{0:?} is no pattern of rows: write APPLICATION | CONFIGURATION | THREADS | POLICY, with * for any"
    )]
    Pattern(String),
}

impl LedgerError {
    pub(crate) fn form(path: &Path, problem: impl ToString) -> Self {
        LedgerError::Form { path: path.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn unknown<'a>(
        place: impl Into<String>,
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        LedgerError::Unknown { place: place.into(), kind, name: name.to_owned(), known: known.join(", ") }
    }
}
