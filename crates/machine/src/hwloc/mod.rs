//! hwloc's two text forms, in and out: synthetic strings and XML.
//!
//! Both carry a machine's [`Structure`](crate::Structure), not its timings. Sources: hwloc 2.9 documentation, chapters
//! "Synthetic topologies" and "Importing and exporting topologies from/to XML files"; what `lstopo` 2.9 and its v1
//! export write.

mod synthetic_read;
mod synthetic_write;
mod xml_read;
mod xml_write;

/// Why a text is not one of hwloc's forms, or a machine has no such form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HwlocError {
    /// A synthetic string that cannot be read.
    #[error("hwloc synthetic string: character {}: {problem}", .at + 1)]
    Synthetic {
        /// Offset in characters, from 0.
        at: usize,
        /// What is wrong there.
        problem: String,
    },
    /// An XML text that cannot be read.
    #[error("hwloc XML: line {line}: {problem}")]
    Xml {
        /// The line, from 1.
        line: u32,
        /// What is wrong there.
        problem: String,
    },
    /// A machine whose nodes differ.
    #[error("a synthetic string describes equal nodes only, and {0}; use XML")]
    Uneven(String),
    /// A machine whose nodes are not all joined.
    #[error(transparent)]
    Unreachable(#[from] crate::Unreachable),
}
