//! `olifant cc`, `c++`, `fc`: the compiler driver, also under the names olifant-cc, olifant-c++ and olifant-fc.

use crate::definition::Olifant;
use crate::outcome::Outcome;
use crate::output;
use clap::{Args, CommandFactory};
use olifant_frontend::driver::{self, Language};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  olifant cc -O2 -g -pthread -o ocean ocean.c
  make CC=\"olifant cc\" CXX=\"olifant c++\" FC=\"olifant fc\"
  CC=\"olifant cc\" cmake -B build && cmake --build build
  ./configure CC=olifant-cc

Every option is the compiler's own. clang compiles C and C++, gfortran Fortran,
gcc OpenMP, and everything if there is no clang.

Environment:
  OLIFANT_CLANG           the clang to use
  OLIFANT_CC_BACKEND=gcc  prefer gcc
  OLIFANT_RUNTIME         the runtime library, or its folder
  OLIFANT_VECTORIZE=1     keep loops vectorised
  OLIFANT_VERBOSE=1       say what was instrumented";

/// Arguments of the hidden `hooks`.
#[derive(Debug, Args)]
pub struct HooksArguments {
    /// Folder of the runtime library; the hooks' object is put beside it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Arguments of `cc`, `c++` and `fc`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_flag = true)]
pub struct Arguments {
    /// Options and files, as for the compiler itself
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
    arguments: Vec<OsString>,
}

/// The words of the command line; if the program was called by the name olifant-cc (or -c++, -fc), the subcommand is
/// put in.
pub fn words_for_name(mut words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().and_then(|word| Path::new(word).file_name()).and_then(|name| name.to_str());
    if let Some(compiler @ ("cc" | "c++" | "fc")) = name.and_then(|name| name.strip_prefix("olifant-")) {
        let compiler = OsString::from(compiler);
        words.insert(1, compiler);
    }
    words
}

/// Compiles and links; the exit code is the compiler's. `--help` alone is a question to olifant.
pub fn execute(name: &str, language: Language, arguments: Arguments) -> anyhow::Result<Outcome> {
    if arguments.arguments == ["--help"] {
        let mut olifant = Olifant::command();
        olifant.build();
        if let Some(command) = olifant.find_subcommand_mut(name) {
            output::print(&command.render_long_help().to_string())?;
        }
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Program(driver::main(language, arguments.arguments)))
}

/// Compiles the hooks in advance, for an installation: links are quicker then.
pub fn write_hooks(arguments: &HooksArguments) -> anyhow::Result<Outcome> {
    driver::build_hooks(&arguments.folder)?;
    Ok(Outcome::Done)
}
