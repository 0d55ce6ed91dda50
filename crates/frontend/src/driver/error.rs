//! What can go wrong in the driver itself; compilers report their own errors.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// An error of the driver. The message names the object, what is wrong, and what to try.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// An option that an instrumented build cannot honour.
    #[error("{option}: {reason}")]
    Refused {
        /// The option as written.
        option: String,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// An option without its value.
    #[error("{option}: a value is missing after it")]
    MissingValue {
        /// The option.
        option: String,
    },
    /// Several sources, one output.
    #[error("-o {}: one output for {sources} sources; with -c or -S leave -o out or give one source", output.display())]
    OneOutputForSeveral {
        /// The output.
        output: PathBuf,
        /// How many.
        sources: usize,
    },
    /// Nothing to do.
    #[error("no input files; usage: olifant cc|c++|fc [compiler options] file...")]
    NoInput,
    /// A language nobody instruments.
    #[error(
        "-x {language}: olifant instruments C, C++ and Fortran; compile other languages with their own compiler"
    )]
    Language {
        /// The language.
        language: String,
    },
    /// A compiler is missing.
    #[error("{program} was not found in PATH: install it (Debian, Ubuntu: apt install {package})")]
    NoCompiler {
        /// What was looked for.
        program: &'static str,
        /// Where it comes from.
        package: &'static str,
    },
    /// A clang that is too old.
    #[error(
        "clang {version} is too old: olifant needs 14 or newer (set OLIFANT_CLANG, or OLIFANT_CC_BACKEND=gcc)"
    )]
    OldClang {
        /// Its version.
        version: u32,
    },
    /// A bad value of an environment variable.
    #[error("{variable}={}: {expected}", value.display())]
    Environment {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: OsString,
        /// What it may be.
        expected: &'static str,
    },
    /// The runtime library is missing.
    #[error(
        "libolifant_rt.a was not found (looked in {looked_in}): build it with `make build`, or set OLIFANT_RUNTIME to it"
    )]
    NoRuntime {
        /// Directories.
        looked_in: String,
    },
    /// A program could not be started.
    #[error("cannot run {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A compiler failed and has said why.
    #[error("the compiler failed with exit code {0}")]
    CompilerFailed(i32),
}
