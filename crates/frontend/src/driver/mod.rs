//! The compiler driver behind `olifant cc`, `olifant c++` and `olifant fc`: usable as CC, CXX and FC.
//!
//! It understands a compiler's command line (`arguments`), compiles each source with hooks in it (`compile`, by the passes
//! `ir` and `assembly`), and links the runtime (`link`). Objects are ordinary ELF files and mix with those of plain
//! compilers. What it cannot honour it refuses (`refusals`), questions go to the compiler itself.
//!
//! Environment: OLIFANT_CLANG (which clang), OLIFANT_CC_BACKEND (clang or gcc), OLIFANT_RUNTIME (the runtime library),
//! OLIFANT_VECTORIZE=1 (keep loop vectorisation), OLIFANT_VERBOSE (say what was instrumented).
//!
//! Leaves out: bitcode outputs, link-time optimisation, offloading, languages other than C, C++, Fortran and assembly.

mod arguments;
mod assembly;
mod compile;
mod error;
mod hooks_library;
mod ir;
mod link;
mod options;
mod process;
mod refusals;
mod response;
mod toolchain;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;

pub use arguments::Language;
pub use error::DriverError;

use arguments::{CommandLine, InputKind, Item, Last};
use toolchain::Backend;
use workspace::Workspace;

/// Exit code for an error of the driver itself.
const FAILURE: i32 = 1;

/// Compiles and links as `arguments` say (without the command's own name); returns the exit code.
pub fn main(language: Language, arguments: Vec<OsString>) -> i32 {
    match run(language, arguments) {
        Ok(()) => 0,
        Err(DriverError::CompilerFailed(code)) => code,
        Err(error) => {
            eprintln!("olifant: {error}");
            FAILURE
        }
    }
}

/// Compiles the hooks' objects into `directory`, to be found there beside the runtime by later links.
/// # Errors a compiler's failure; a file that cannot be written.
pub fn build_hooks(directory: &std::path::Path) -> Result<PathBuf, DriverError> {
    let workspace = Workspace::create()?;
    let line = CommandLine::parse(Language::C, &[])?;
    let built = hooks_library::build(toolchain::choose(&line)?, workspace.path())?;
    let ready = directory.join(built.file_name().unwrap_or_default());
    // Under another name first: a link that runs at the same time must not find half a file.
    let half = directory.join(format!("olifant_hooks-{}.new", std::process::id()));
    std::fs::copy(&built, &half)
        .and_then(|_| std::fs::rename(&half, &ready))
        .map_err(|source| DriverError::File { path: ready.clone(), source })?;
    Ok(ready)
}

fn run(language: Language, arguments: Vec<OsString>) -> Result<(), DriverError> {
    let expanded = response::expand(arguments);
    let line = CommandLine::parse(language, &expanded)?;
    let backend = toolchain::choose(&line)?;
    if line.last == Last::Early || !line.has_link_input() {
        if !line.has_query && line.inputs.is_empty() {
            return Err(DriverError::NoInput);
        }
        let mut tool = toolchain::compiler(backend, language)?;
        tool.arguments(expanded);
        return tool.run();
    }
    for note in &line.notes {
        eprintln!("olifant: note: {note}");
    }
    if line.last == Last::Link && !is_header_only(&line) {
        build(&line, backend)
    } else {
        compile_each(&line, backend)
    }
}

fn is_header_only(line: &CommandLine) -> bool {
    !line.inputs.is_empty() && line.inputs.iter().all(|input| input.kind == InputKind::Header)
}

/// `-c` and `-S`: each source by itself.
fn compile_each(line: &CommandLine, backend: Backend) -> Result<(), DriverError> {
    let sources = line.inputs.iter().filter(|input| input.kind != InputKind::Object);
    let count = sources.clone().count();
    if let Some(output) = line.output.clone().filter(|_| count > 1) {
        return Err(DriverError::OneOutputForSeveral { output, sources: count });
    }
    for input in sources {
        let output = line.output.clone().unwrap_or_else(|| compile::default_output(input, line.last));
        compile::compile(line, input, backend, &output, line.last)?;
    }
    Ok(())
}

/// Sources to temporary objects, then the link.
fn build(line: &CommandLine, backend: Backend) -> Result<(), DriverError> {
    let workspace = Workspace::create()?;
    let mut objects = Vec::with_capacity(line.inputs.len());
    for (at, input) in line.inputs.iter().enumerate() {
        if input.kind == InputKind::Object {
            objects.push(input.path.clone());
            continue;
        }
        let object = workspace.path().join(format!("{at}.o"));
        compile::compile(line, input, backend, &object, Last::Object)?;
        objects.push(object);
    }
    let line = without_languages(line);
    link::link(&line, &objects, backend, workspace.path())
}

/// The line for the linker: what only concerned sources is gone.
fn without_languages(line: &CommandLine) -> CommandLine {
    let mut line = line.clone();
    line.items.retain(|item| match item {
        Item::Pair(option, _) => {
            !matches!(option.as_str(), "-include" | "-imacros" | "-include-pch" | "-Xpreprocessor")
        }
        _ => true,
    });
    line
}
