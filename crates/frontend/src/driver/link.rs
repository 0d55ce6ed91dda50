//! The link step: the program's own line, non-PIE, with the whole runtime in the executable.
//!
//! The runtime stands in the executable so that its versions of library functions win over the C library's, for shared
//! libraries too. A shared library gets no runtime: its hooks are left undefined and found in the executable when it is
//! loaded; in a plain program the loader then names the first of them, `__olifant_...`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::arguments::{CommandLine, Item};
use super::compile::for_backend;
use super::error::DriverError;
use super::hooks_library;
use super::options;
use super::process::Tool;
use super::toolchain::{self, Backend};

/// The runtime's file name.
const RUNTIME: &str = "libolifant_rt.a";

/// What the runtime (a Rust library) needs of the system.
const SYSTEM_LIBRARIES: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

/// Links `line` with `inputs`, one for each input of the line, in order.
/// # Errors no runtime, no compiler, or the linker's failure.
pub fn link(
    line: &CommandLine,
    inputs: &[PathBuf],
    backend: Backend,
    directory: &Path,
) -> Result<(), DriverError> {
    let mut tool = toolchain::compiler(backend, line.language)?;
    let kind = Product::of(line);
    for item in &line.items {
        match item {
            Item::Input(at) => {
                tool.argument(&inputs[*at]);
            }
            Item::Pair(option, value) => {
                let is_foreign = backend == Backend::Gcc && matches!(option.as_str(), "-Xclang" | "-mllvm");
                if !options::DEPENDENCY_WITH_VALUE.contains(&option.as_str()) && !is_foreign {
                    tool.argument(option).argument(value);
                }
            }
            Item::Plain(option) => {
                let text = option.to_string_lossy();
                if !text.starts_with("-M") && !text.starts_with("-Wp,") {
                    tool.argument(for_backend(&text, backend).unwrap_or_else(|| option.clone()));
                }
            }
        }
    }
    if backend == Backend::Clang {
        tool.argument("-Qunused-arguments");
    }
    match kind {
        Product::Executable => add_runtime(&mut tool, backend, directory)?,
        // Whatever the build says about undefined symbols, the hooks are undefined on purpose.
        Product::SharedLibrary => {
            tool.argument("-Wl,-z,undefs");
        }
        Product::Relocatable => {}
    }
    if let Some(output) = &line.output {
        tool.argument("-o").argument(output);
    }
    tool.run_long(directory)
}

enum Product {
    Executable,
    SharedLibrary,
    Relocatable,
}

impl Product {
    fn of(line: &CommandLine) -> Product {
        if line.has("-r") || line.has("-Wl,-r") || line.has("-Wl,--relocatable") {
            Product::Relocatable
        } else if line.has("-shared") || line.has("--shared") || line.has("-Wl,-shared") {
            Product::SharedLibrary
        } else {
            Product::Executable
        }
    }
}

fn add_runtime(tool: &mut Tool, backend: Backend, directory: &Path) -> Result<(), DriverError> {
    let runtime = find_runtime()?;
    let hooks = hooks_library::find_or_build(&runtime, backend, directory)?;
    let exports = directory.join("exports");
    std::fs::write(&exports, "{ __olifant_*; __tsan_*; };\n")
        .map_err(|source| DriverError::File { path: exports.clone(), source })?;
    let mut exports_option = OsString::from("-Wl,--dynamic-list=");
    exports_option.push(&exports);
    tool.argument("-no-pie")
        .argument(exports_option)
        .argument("-Wl,-u,__olifant_runtime_version")
        .argument("-Wl,-u,rset_replicate");
    tool.argument("-Wl,--whole-archive").argument(&runtime).argument("-Wl,--no-whole-archive");
    tool.arguments(hooks).arguments(SYSTEM_LIBRARIES);
    Ok(())
}

/// The runtime: OLIFANT_RUNTIME (the file or its folder), beside the executable (as built), or in the installation.
fn find_runtime() -> Result<PathBuf, DriverError> {
    let candidates: Vec<PathBuf> = match std::env::var_os("OLIFANT_RUNTIME").filter(|value| !value.is_empty())
    {
        Some(path) => vec![PathBuf::from(&path), Path::new(&path).join(RUNTIME)],
        None => {
            let executable = std::env::current_exe().unwrap_or_default();
            let beside = executable.parent().unwrap_or(Path::new("")).to_owned();
            vec![
                beside.join(RUNTIME),
                beside.join("../lib/olifant").join(RUNTIME),
                beside.join("..").join(RUNTIME),
            ]
        }
    };
    candidates.iter().find(|path| path.is_file()).cloned().ok_or_else(|| DriverError::NoRuntime {
        looked_in: candidates.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
    })
}
