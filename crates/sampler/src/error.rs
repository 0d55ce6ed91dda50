//! What can go wrong while a running program is sampled.

use std::path::PathBuf;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// The kernel does not let us sample.
    #[error("sample {object}: {reason}")]
    Refused {
        /// What was to be sampled.
        object: String,
        /// Why not, and what would make it possible.
        reason: String,
    },
    /// There is no such process.
    #[error("process {0}: there is none (any more)")]
    NoProcess(i32),
    /// This processor's instructions cannot be followed.
    #[error(
        "sampling by instructions needs an x86-64 processor; this is {0}: use --by hardware where the processor samples addresses"
    )]
    Architecture(&'static str),
    /// The program cannot be started.
    #[error("{program}: cannot start: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file for the time of the recording cannot be made.
    #[error("cannot write {}: {source}; set TMPDIR to a folder with space", path.display())]
    Temporary {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of /proc cannot be read.
    #[error(transparent)]
    Read(#[from] olifant_sys::ReadError),
}
