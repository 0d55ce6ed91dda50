//! Which compilers there are and which one does the work.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::arguments::{CommandLine, InputKind, Language};
use super::error::DriverError;
use super::process::Tool;

/// The two ways to instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// Hooks inlined in LLVM's IR.
    Clang,
    /// Hooks called, from gcc's thread sanitizer.
    Gcc,
}

/// The newest clang is looked for first under its plain name, then under these.
const CLANG_VERSIONS: std::ops::RangeInclusive<u32> = 14..=22;
/// The oldest whose IR the pass knows.
pub const OLDEST_CLANG: u32 = 14;
const GCC_VERSIONS: std::ops::RangeInclusive<u32> = 11..=16;

/// Chooses the backend for a command line. gcc compiles OpenMP (its runtime library is the one that is supported) and
/// Fortran, and everything if there is no clang.
/// # Errors a value of `OLIFANT_CC_BACKEND` that is neither; no compiler at all.
pub fn choose(line: &CommandLine) -> Result<Backend, DriverError> {
    let wanted = std::env::var_os("OLIFANT_CC_BACKEND").filter(|value| !value.is_empty());
    let wanted = match wanted.as_deref().map(OsStr::to_string_lossy).as_deref() {
        None => None,
        Some("gcc") => Some(Backend::Gcc),
        Some("clang") => Some(Backend::Clang),
        Some(_) => {
            return Err(DriverError::Environment {
                variable: "OLIFANT_CC_BACKEND",
                value: wanted.unwrap_or_default(),
                expected: "expected clang or gcc",
            });
        }
    };
    let has_fortran = line.language == Language::Fortran
        || line.inputs.iter().any(|input| input.kind == InputKind::Source(Language::Fortran));
    if has_fortran || line.has_openmp {
        return Ok(Backend::Gcc);
    }
    Ok(match wanted {
        Some(backend) => backend,
        None if clang().is_some() => Backend::Clang,
        None if find_in_path("gcc", GCC_VERSIONS).is_some() => Backend::Gcc,
        None => return Err(DriverError::NoCompiler { program: "clang", package: "clang" }),
    })
}

/// The compiler of `backend` for `language`.
/// # Errors `NoCompiler` with the package to install.
pub fn compiler(backend: Backend, language: Language) -> Result<Tool, DriverError> {
    match backend {
        Backend::Clang => {
            let program = clang().ok_or(DriverError::NoCompiler { program: "clang", package: "clang" })?;
            let mut tool = Tool::new(program);
            if language == Language::Cxx {
                tool.argument("--driver-mode=g++");
            }
            Ok(tool)
        }
        Backend::Gcc => {
            let (program, package) = match language {
                Language::C => ("gcc", "gcc"),
                Language::Cxx => ("g++", "g++"),
                Language::Fortran => ("gfortran", "gfortran"),
            };
            let found =
                find_in_path(program, GCC_VERSIONS).ok_or(DriverError::NoCompiler { program, package })?;
            Ok(Tool::new(found))
        }
    }
}

fn clang() -> Option<OsString> {
    match std::env::var_os("OLIFANT_CLANG").filter(|path| !path.is_empty()) {
        Some(path) => Some(path),
        None => find_in_path("clang", CLANG_VERSIONS),
    }
}

/// `name`, or `name-VERSION` with the highest version, in PATH.
fn find_in_path(name: &str, versions: std::ops::RangeInclusive<u32>) -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names =
        std::iter::once(name.to_owned()).chain(versions.rev().map(|version| format!("{name}-{version}")));
    for name in names {
        if directories.iter().any(|directory| directory.join(&name).is_file()) {
            return Some(name.into());
        }
    }
    None
}

/// The version of clang that wrote `module`, from its identification line.
pub fn clang_version(module: &str) -> Option<u32> {
    let at = module.rfind("clang version ")?;
    let digits = &module[at + "clang version ".len()..];
    digits[..digits.find(|c: char| !c.is_ascii_digit())?].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_module() {
        assert_eq!(clang_version("!37 = !{!\"Debian clang version 14.0.6\"}\n"), Some(14));
        assert_eq!(clang_version("!0 = !{!\"other\"}"), None);
    }

    #[test]
    fn openmp_and_fortran_are_compiled_by_gcc() {
        let line = |text: &str| {
            let arguments: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            CommandLine::parse(Language::C, &arguments).unwrap()
        };
        assert_eq!(choose(&line("-fopenmp a.c")).unwrap(), Backend::Gcc);
        assert_eq!(choose(&line("-c a.f90")).unwrap(), Backend::Gcc);
    }
}
