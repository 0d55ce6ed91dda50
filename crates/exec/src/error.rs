//! Why the launcher did not become the program, with the exit code that says so.

/// Exit code of a failure of the launcher's own, as env(1).
pub const LAUNCHER_FAILED: u8 = 125;
/// A program that cannot be executed.
pub const NOT_EXECUTABLE: u8 = 126;
/// A program that is not found.
pub const NOT_FOUND: u8 = 127;
/// numactl's one code for everything that went wrong.
pub const NUMACTL_FAILED: u8 = 1;

/// Why the program was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// The system refused.
    #[error("{0}")]
    Refused(String),
    /// It takes a part of olifant that is not there.
    #[error("{what} needs {needs}")]
    Unsupported {
        /// What was asked.
        what: String,
        /// What is missing, and what to do instead.
        needs: String,
    },
    /// There is no such program.
    #[error("{0}: no such program")]
    NotFound(String),
    /// The program cannot be executed.
    #[error("{program}: {problem}")]
    NotExecutable {
        /// Its name.
        program: String,
        /// The system's reason.
        problem: String,
    },
}

impl ExecError {
    /// The exit code: as env(1) gives it, or numactl's where `as_numactl`.
    pub fn exit_code(&self, as_numactl: bool) -> u8 {
        match self {
            _ if as_numactl => NUMACTL_FAILED,
            ExecError::NotFound(_) => NOT_FOUND,
            ExecError::NotExecutable { .. } => NOT_EXECUTABLE,
            _ => LAUNCHER_FAILED,
        }
    }
}
