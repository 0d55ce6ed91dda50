//! Into the program: what only the preload library can do there, and whether it can get in.
//!
//! The specification goes into a file without a name that stays open while this process becomes the program. Programs that
//! the loader does not put libraries into (statically linked ones, those with rights of another user, those of
//! another C library) run without, and a remark says so.

use crate::launch::locate;
use crate::{ExecError, World};
use olifant_frontend::inside::{InsideNode, InsideSpec, PRELOAD_LIBRARY, PRELOAD_VARIABLE, SPEC_OFFSET};
use olifant_sys::{elf, gains_rights, unnamed_file};
use std::ffi::{OsStr, OsString};
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What is to be done inside the program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inside {
    /// All of it, but for the plan.
    pub spec: InsideSpec,
    /// A plan's file, whose names are still to be found in the program.
    pub plan: Option<PathBuf>,
}

/// The loader's variable.
const LOADER_VARIABLE: &str = "LD_PRELOAD";
/// How the C library's loaders are named, by System V ABI and by glibc.
const LOADERS: [&str; 2] = ["ld-linux", "ld64.so"];
/// Scripts whose interpreter is a script; the kernel follows as many (execve(2), BINPRM_MAX_RECURSION).
const MOST_SCRIPTS: usize = 5;

/// What the machine looks like, and what this process may use of it, for the library.
/// # Errors  `Refused` if it cannot be read.
pub fn machine(world: &dyn World) -> Result<InsideSpec, ExecError> {
    let hierarchy = world.hierarchy()?;
    let ids: Vec<_> = hierarchy.nodes().iter().map(|node| node.id).collect();
    let row = |from| ids.iter().map(|&to| hierarchy.distance(from, to).unwrap_or(0)).collect();
    Ok(InsideSpec {
        nodes: hierarchy
            .nodes()
            .iter()
            .map(|node| InsideNode {
                id: node.id,
                cpus: node.cpus.iter().collect(),
                has_memory: node.has_memory,
            })
            .collect(),
        cpus: world.cpus()?.iter().collect(),
        distances: ids.iter().map(|&id| row(id)).collect(),
        ..InsideSpec::default()
    })
}

/// Why the library cannot get into a program; `None` if it can.
pub fn why_not(program: &OsStr) -> Option<String> {
    let name = program.to_string_lossy();
    // What cannot be found or read fails when it is started, and says so then.
    let mut path = locate(program)?;
    let mut bytes = std::fs::read(&path).ok()?;
    for _ in 0..MOST_SCRIPTS {
        let Some(interpreter) = script_interpreter(&bytes) else { break };
        if interpreter.file_name().is_some_and(|name| name == "env") {
            return Some(format!(
                "{name} is a script that env(1) starts: give the interpreter itself, or --children"
            ));
        }
        path = interpreter;
        bytes = std::fs::read(&path).ok()?;
    }
    let reason = if gains_rights(&path) {
        "it runs with other rights than yours, and the loader lets no library in"
    } else if !elf::is_native(&bytes) {
        "it is for other processors, or no program"
    } else {
        match elf::interpreter(&bytes) {
            None => "it is statically linked",
            Some(loader) if !is_glibc(&loader) => "it does not use the GNU C library",
            Some(_) => return None,
        }
    };
    Some(format!("{name} runs without what needs the preload library: {reason}"))
}

fn is_glibc(loader: &Path) -> bool {
    let name = loader.file_name().unwrap_or_default().to_string_lossy().into_owned();
    LOADERS.iter().any(|known| name.starts_with(known))
}

/// The program that the first line of a script names.
fn script_interpreter(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let word = line.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next()?;
    (!word.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(word)))
}

/// The variables with which a program finds the library and its specification, which is there as long as this process is:
/// `becomes_it` says that it will be the program itself, and not the one that waits for it.
/// # Errors  `Unsupported` if the library is not there; `Refused` by the system.
pub fn environment(spec: &InsideSpec, becomes_it: bool) -> Result<Vec<(&'static str, OsString)>, ExecError> {
    let library = library()?;
    let refused =
        |problem: String| ExecError::Refused(format!("write what the preload library is told: {problem}"));
    let mut file = unnamed_file(becomes_it).map_err(|error| refused(error.to_string()))?;
    let bytes = spec.to_bytes().map_err(|error| refused(error.to_string()))?;
    file.set_len(SPEC_OFFSET as u64)
        .and_then(|()| file.seek(SeekFrom::End(0)))
        .and_then(|_| file.write_all(&bytes))
        .map_err(|error| refused(error.to_string()))?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    // Nobody closes it: it ends with the process.
    let _ = file.into_raw_fd();
    let mut preload = library.into_os_string();
    if let Some(others) = std::env::var_os(LOADER_VARIABLE).filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    Ok(vec![(LOADER_VARIABLE, preload), (PRELOAD_VARIABLE, path.into())])
}

/// The library: OLIFANT_PRELOAD_LIBRARY, beside the executable (as built), or in the installation.
fn library() -> Result<PathBuf, ExecError> {
    let executable = std::env::current_exe().unwrap_or_default();
    let beside = executable.parent().unwrap_or(Path::new("")).to_owned();
    let candidates = match std::env::var_os("OLIFANT_PRELOAD_LIBRARY").filter(|path| !path.is_empty()) {
        Some(path) => vec![PathBuf::from(path)],
        None => vec![beside.join(PRELOAD_LIBRARY), beside.join("../lib/olifant").join(PRELOAD_LIBRARY)],
    };
    let found = candidates.iter().find_map(|path| path.canonicalize().ok());
    found
        // The loader's variable has no way to write such a name.
        .filter(|path| !path.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b':' | b' ' | b'$')))
        .ok_or_else(|| {
            let places: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
            ExecError::Unsupported {
                what: "placement inside the program".to_owned(),
                needs: format!(
                    "{PRELOAD_LIBRARY} in a folder without spaces and colons (looked at {}): build it with \
                     `make build`, or set OLIFANT_PRELOAD_LIBRARY to it",
                    places.join(", ")
                ),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scripts_first_line_names_its_interpreter() {
        let named = |text: &str| script_interpreter(text.as_bytes());
        assert_eq!(named("#!/bin/sh\necho"), Some("/bin/sh".into()));
        assert_eq!(named("#! /usr/bin/perl -w\n"), Some("/usr/bin/perl".into()));
        assert_eq!(named("#!\n"), None);
        assert_eq!(named("echo"), None);
    }

    #[test]
    fn a_program_of_the_system_can_be_entered_and_what_cannot_says_why() {
        assert_eq!(why_not(OsStr::new("true")), None);
        let folder = tempfile::tempdir().unwrap();
        let file = |text: &str| {
            let path = folder.path().join("program");
            std::fs::write(&path, text).unwrap();
            why_not(path.as_os_str()).unwrap()
        };
        assert!(file("#!/usr/bin/env python3\n").contains("--children"));
        assert!(file("no program").contains("other processors, or no program"));
    }
}
