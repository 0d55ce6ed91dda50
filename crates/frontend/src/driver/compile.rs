//! One source file to an instrumented object or assembly file.
//!
//! clang: source -> IR -> (IR pass) -> assembly -> (counting pass) -> object. gcc: source -> assembly with calls of hooks ->
//! (counting pass) -> object. The program's own options are kept; the compiler optimises exactly as it would without
//! us, except that loops are not vectorised unless OLIFANT_VECTORIZE=1 (the simulated machines have no vector units, and
//! an access is then what the source says it is).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::arguments::{CommandLine, Input, InputKind, Item, Language, Last};
use super::assembly;
use super::error::DriverError;
use super::ir;
use super::options;
use super::process::{Tool, to_bytes};
use super::toolchain::{self, Backend};

/// Compiles `input` of `line` to `output` (`-` is standard output); `last` is `Object` or `Assembly`.
/// # Errors the compiler's failure.
pub fn compile(
    line: &CommandLine,
    input: &Input,
    backend: Backend,
    output: &Path,
    last: Last,
) -> Result<(), DriverError> {
    let language = match input.kind {
        InputKind::Source(language) => language,
        _ => return compile_alone(line, input, backend, output, last),
    };
    let target = dependency_target(line, input, output);
    let counted = match backend {
        Backend::Clang => clang_assembly(line, input, language, &target)?,
        Backend::Gcc => gcc_assembly(line, input, language, &target)?,
    };
    if std::env::var_os("OLIFANT_VERBOSE").is_some() {
        eprintln!(
            "olifant: {}: {} hooks, {} instructions without a place to count",
            input.path.display(),
            counted.hooks,
            counted.uncounted
        );
    }
    if last == Last::Assembly {
        return write(output, &counted.text);
    }
    let mut assembler = toolchain::compiler(backend, Language::C)?;
    assembler.arguments(line.plain_options().filter(|option| options::is_for_assembler(option)));
    for item in &line.items {
        if let Item::Pair(option, value) = item
            && matches!(option.as_str(), "-Xassembler" | "-target")
        {
            assembler.argument(option).argument(value);
        }
    }
    // The text is a compiler's: what an assembler warns about in it (mixed checksums of sources) is nobody's concern.
    assembler.arguments(["-Wa,--no-warn", "-c", "-x", "assembler", "-", "-o"]).argument(output);
    if backend == Backend::Clang {
        assembler.argument("-Qunused-arguments");
    }
    assembler.consume(&counted.text)
}

/// Assembly sources and headers: the compiler does them as it would without us.
fn compile_alone(
    line: &CommandLine,
    input: &Input,
    backend: Backend,
    output: &Path,
    last: Last,
) -> Result<(), DriverError> {
    let mut tool = toolchain::compiler(backend, line.language)?;
    add_options(line, backend, &mut tool);
    if input.kind != InputKind::Header {
        tool.argument(if last == Last::Assembly { "-S" } else { "-c" });
    }
    add_input(input, &mut tool);
    if output != default_output(input, last) || input.kind != InputKind::Header {
        tool.argument("-o").argument(output);
    }
    tool.run()
}

fn clang_assembly(
    line: &CommandLine,
    input: &Input,
    language: Language,
    target: &[OsString],
) -> Result<assembly::Counted, DriverError> {
    let mut front = toolchain::compiler(Backend::Clang, language)?;
    add_line_tables(line, &mut front);
    add_options(line, Backend::Clang, &mut front);
    if !keeps_vectors(line) {
        // Behind the program's -O, which would turn it on again.
        front.arguments(["-fno-vectorize", "-fno-slp-vectorize"]);
    }
    front.arguments(target.iter().cloned()).arguments(["-S", "-emit-llvm", "-o", "-", "-Qunused-arguments"]);
    add_input(input, &mut front);
    let module = front.output()?;
    if let Some(version) =
        toolchain::clang_version(&module).filter(|version| *version < toolchain::OLDEST_CLANG)
    {
        return Err(DriverError::OldClang { version });
    }

    let mut back = toolchain::compiler(Backend::Clang, Language::C)?;
    back.arguments(line.plain_options().filter(|option| options::is_for_code_generator(option)));
    for item in &line.items {
        if let Item::Pair(option, value) = item
            && matches!(option.as_str(), "-mllvm" | "-target")
        {
            back.argument(option).argument(value);
        }
    }
    back.arguments([
        "-Xclang",
        "-disable-llvm-passes",
        "-Qunused-arguments",
        "-S",
        "-o",
        "-",
        "-x",
        "ir",
        "-",
    ]);
    let text = back.filter(&ir::instrument(&module))?;
    Ok(assembly::instrument(&text, assembly::LibraryCalls::Keep))
}

fn gcc_assembly(
    line: &CommandLine,
    input: &Input,
    language: Language,
    target: &[OsString],
) -> Result<assembly::Counted, DriverError> {
    if line.plain_options().any(|option| option.starts_with("-masm=intel")) {
        return Err(DriverError::Refused {
            option: "-masm=intel".to_owned(),
            reason: "the counting pass reads AT&T syntax; leave the option out",
        });
    }
    let mut tool = toolchain::compiler(Backend::Gcc, language)?;
    add_line_tables(line, &mut tool);
    add_options(line, Backend::Gcc, &mut tool);
    if !keeps_vectors(line) {
        tool.argument("-fno-tree-vectorize");
    }
    tool.arguments([
        "-fsanitize=thread",
        "--param=tsan-instrument-func-entry-exit=0",
        "--param=tsan-distinguish-volatile=1",
        "-fno-tree-loop-distribute-patterns",
    ]);
    if language != Language::Fortran {
        // gcc's sanitizer leaves built-in copies out, and its macro would make the program another one.
        tool.arguments([
            "-fno-builtin-memcpy",
            "-fno-builtin-memmove",
            "-fno-builtin-memset",
            "-U__SANITIZE_THREAD__",
        ]);
    }
    tool.arguments(target.iter().cloned()).arguments(["-S", "-o", "-"]);
    add_input(input, &mut tool);
    let text = tool.output()?;
    Ok(assembly::instrument(&text, assembly::LibraryCalls::Rename))
}

/// Every option of the program's own, without inputs.
fn add_options(line: &CommandLine, backend: Backend, tool: &mut Tool) {
    for item in &line.items {
        match item {
            Item::Input(_) => {}
            Item::Pair(option, value) => {
                if backend == Backend::Gcc && matches!(option.as_str(), "-Xclang" | "-mllvm") {
                    continue;
                }
                if !options::LINKER_WITH_VALUE.contains(&option.as_str()) {
                    tool.argument(option).argument(value);
                }
            }
            Item::Plain(option) => {
                let text = option.to_string_lossy();
                if !options::is_for_linker(&text) || text == "-pthread" {
                    tool.argument(for_backend(&text, backend).unwrap_or_else(|| option.clone()));
                }
            }
        }
    }
}

/// An option that one compiler spells otherwise than the other.
pub fn for_backend(option: &str, backend: Backend) -> Option<OsString> {
    if backend == Backend::Clang {
        return None;
    }
    let other = match option {
        "-fcolor-diagnostics" => "-fdiagnostics-color=always",
        "-fno-color-diagnostics" => "-fdiagnostics-color=never",
        "-Weverything" => "-Wall",
        "-Qunused-arguments" => "-w",
        "-fopenmp=libomp" | "-fopenmp=libgomp" | "-fopenmp=libiomp5" => "-fopenmp",
        _ => return None,
    };
    Some(other.into())
}

fn add_input(input: &Input, tool: &mut Tool) {
    if let Some(language) = &input.forced_language {
        tool.argument("-x").argument(language);
    }
    tool.argument(&input.path);
}

/// Allocations are reported with their lines, so lines are recorded even if nobody asked for debug information.
fn add_line_tables(line: &CommandLine, tool: &mut Tool) {
    let is_debug = |option: &str| {
        option.starts_with("-g")
            && !option.starts_with("-gcc")
            && !option.starts_with("-gnu")
            && option != "-gz"
    };
    if !line.plain_options().any(is_debug) {
        tool.argument("-g1");
    }
}

/// Whether loops may be vectorised: the user asks for it, by the environment or in so many words.
fn keeps_vectors(line: &CommandLine) -> bool {
    std::env::var_os("OLIFANT_VECTORIZE").is_some_and(|value| value == "1")
        || line
            .plain_options()
            .any(|option| matches!(option, "-fvectorize" | "-fslp-vectorize" | "-ftree-vectorize"))
}

/// Where the output goes without `-o`.
pub fn default_output(input: &Input, last: Last) -> PathBuf {
    let mut name = PathBuf::from(input.path.file_name().unwrap_or_default());
    if input.kind == InputKind::Header {
        let mut header = input.path.clone().into_os_string();
        header.push(".gch");
        return header.into();
    }
    name.set_extension(if last == Last::Assembly { "s" } else { "o" });
    name
}

/// Options that keep a dependency file's name and target as they would be without us: the compiler itself is told to
/// write to standard output, and would take both from that.
fn dependency_target(line: &CommandLine, input: &Input, output: &Path) -> Vec<OsString> {
    let writes = |option: &str| {
        matches!(option, "-MD" | "-MMD") || option.starts_with("-Wp,-MD,") || option.starts_with("-Wp,-MMD,")
    };
    let Some(option) = line.plain_options().find(|option| writes(option)) else { return vec![] };
    let has_pair = |names: &[&str]| {
        line.items.iter().any(|item| match item {
            Item::Pair(option, _) => names.contains(&option.as_str()),
            Item::Plain(text) => names.iter().any(|name| text.to_string_lossy().starts_with(name)),
            Item::Input(_) => false,
        })
    };
    let mut extra = Vec::new();
    let object = match line.last {
        Last::Link => default_output(input, Last::Object),
        _ => output.to_owned(),
    };
    if !has_pair(&["-MT", "-MQ"]) && !option.contains(",-MT,") {
        extra.extend([OsString::from("-MQ"), object.clone().into_os_string()]);
    }
    if !has_pair(&["-MF"]) && !option.starts_with("-Wp,") {
        let beside = line.output.clone().filter(|_| line.last != Last::Link).unwrap_or(object);
        extra.extend([OsString::from("-MF"), beside.with_extension("d").into_os_string()]);
    }
    extra
}

fn write(path: &Path, text: &str) -> Result<(), DriverError> {
    let written = if path == Path::new("-") {
        use std::io::Write;
        std::io::stdout().write_all(&to_bytes(text))
    } else {
        std::fs::write(path, to_bytes(text))
    };
    written.map_err(|source| DriverError::File { path: path.to_owned(), source })
}
