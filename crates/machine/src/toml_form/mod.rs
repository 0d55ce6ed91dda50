//! The machine file: a [`Machine`] as TOML that a person reads and edits, and its errors.
//!
//! Sections: the head (`name`, `description`), `[nodes]` for equal nodes or a list of `[[node]]`, `[processor]` with
//! `.l1`, `.l2`, `.l3` and `.tlb`, `[memory]`, `[coherence]`, `[network]` with `[[network.link]]` where links are
//! listed, `[os]`. A number's key ends in its unit (`latency_ns`, `size_kib`), any unit of its kind may be used, MB
//! means 1e6 bytes and MiB 2^20. Comments carry the sources; they are for people and do not survive a round trip.

mod quantity;
mod read;
mod section;
mod write;

use crate::LawBroken;
use crate::nearest::did_you_mean;

/// What is wrong with a machine file, and where. Shown as `olifant.toml:12: ...`, or `line 12: ...` before
/// [`TomlError::in_file`] has named the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", place(.file.as_deref(), *.line))]
pub struct TomlError {
    /// The file's name, where known.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: TomlProblem,
}

/// What is wrong with a machine file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TomlProblem {
    /// Not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// A key that means nothing here.
    #[error("{key}: unknown key{}{}", did_you_mean(.suggestion.as_deref()), known_here(.known))]
    UnknownKey {
        /// The key with its section.
        key: String,
        /// The nearest known key.
        suggestion: Option<String>,
        /// All keys of the section; empty where a key that it lacks says enough.
        known: Vec<String>,
    },
    /// A key or section that must be there.
    #[error("{0}: missing")]
    Missing(String),
    /// A value of another kind than the key needs.
    #[error("{key} = {found}: expected {expected}")]
    WrongKind {
        /// The key with its section.
        key: String,
        /// The value as written.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// One quantity given in two units.
    #[error("{0}: given twice, as {1} and {2}; keep one")]
    GivenTwice(String, String, String),
    /// Both or neither of `[nodes]` and `[[node]]`.
    #[error("describe the nodes either as [nodes] or as a list of [[node]]")]
    NodesUnclear,
    /// The machine breaks a law.
    #[error(transparent)]
    Law(#[from] LawBroken),
}

impl TomlError {
    /// The same error, naming the file that the text came from.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>) -> Self {
        TomlError { file: Some(file.into()), ..self }
    }
}

fn place(file: Option<&str>, line: usize) -> String {
    file.map_or_else(|| format!("line {line}"), |file| format!("{file}:{line}"))
}

fn known_here(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; known here: {}", known.join(", ")) }
}
