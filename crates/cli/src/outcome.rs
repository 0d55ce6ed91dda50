//! Exit codes, in one place: 0 done, 1 a negative answer, 2 wrong usage or failure. `run` and `record` pass the
//! program's code on and use 125, 126 and 127 as env(1) does.

use olifant_frontend::launch::LaunchError;
use std::ffi::OsString;
use std::process::ExitCode;

/// Wrong usage or failure.
pub const FAILED: u8 = 2;
/// The launcher itself failed or was used wrongly.
pub const LAUNCHER_FAILED: u8 = 125;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it was asked.
    Done,
    /// The answer is no: nothing to gain.
    Negative,
    /// The exit code of the program that ran; 128 + n for a signal n.
    Program(i32),
}

impl Outcome {
    /// The process's exit code.
    pub fn code(self) -> ExitCode {
        match self {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Negative => ExitCode::from(1),
            // A code is one byte to the operating system; what does not fit is a failure of its own.
            Outcome::Program(code) => ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
        }
    }
}

/// Whether the command line is one that launches a program and passes its code on.
pub fn is_launcher(words: &[OsString]) -> bool {
    let launches = |word: &OsString| ["run", "record", "lab", "exec"].iter().any(|launcher| word == launcher);
    match words {
        [_, rset, action, ..] if rset == "rset" => action == "exec",
        _ => words.get(1).is_some_and(launches),
    }
}

/// The exit code for an error.
pub fn code_of_failure(error: &anyhow::Error, launches: bool) -> ExitCode {
    if !launches {
        return ExitCode::from(FAILED);
    }
    let code = error.downcast_ref::<LaunchError>().and_then(|error| u8::try_from(error.exit_code()).ok());
    ExitCode::from(code.unwrap_or(LAUNCHER_FAILED))
}
