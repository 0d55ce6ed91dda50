//! The C interface from C: the test programs compiled with gcc and clang without a warning, against the static and the
//! shared library, and the header as C++17.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The static library that cargo built with this test: the newest of its name.
fn archive() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("libolifant_capi") && name.ends_with(".a")
    };
    let found = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_ours);
    found
        .max_by_key(|path| path.metadata().unwrap().modified().unwrap())
        .expect("a static library beside the test")
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    output
}

/// The functions that the header declares, sorted.
fn declared() -> Vec<String> {
    let header = std::fs::read_to_string(here("include/rset.h")).unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with(['*', '/']) && line.ends_with([';', ',']);
    let name = |line: &str| {
        let end = line.find('(')?;
        let start = line[..end].rfind([' ', '*']).map_or(0, |at| at + 1);
        line[start..end].starts_with("rset_").then(|| line[start..end].to_owned())
    };
    let mut names: Vec<String> = header.lines().filter(is_code).filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The installed form of the library, made once, in cargo's folder for such things.
fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("librset");
        succeed(Command::new(here("link.sh")).arg(archive()).arg(&folder).arg("/usr/local"));
        folder
    })
}

#[test]
fn every_program_passes_with_both_compilers_and_both_libraries() {
    let library = installed();
    let home = tempfile::tempdir().unwrap();
    for compiler in ["gcc", "clang"] {
        for kind in ["static", "shared"] {
            for name in ["sets", "memory", "seccomp"] {
                let program = library.join(format!("{name}-{compiler}-{kind}"));
                let mut command = Command::new(compiler);
                // Without debug information, of which the library has a hundred megabytes.
                command.args(["-std=c11", "-D_DEFAULT_SOURCE", "-Wl,-S"]).args(WARNINGS);
                command.arg("-I").arg(here("include")).arg(here("tests/c").join(name).with_extension("c"));
                command.arg("-o").arg(&program);
                match kind {
                    "static" => command.arg(library.join("librset.a")).args(["-lpthread", "-ldl", "-lm"]),
                    _ => command.arg("-L").arg(library).args(["-lrset", "-lpthread"]),
                };
                succeed(&mut command);
                let output = succeed(
                    Command::new(&program)
                        .env("LD_LIBRARY_PATH", library)
                        .env("XDG_CONFIG_HOME", home.path()),
                );
                assert!(String::from_utf8_lossy(&output.stdout).starts_with("librset 1.0.0: "), "{name}");
            }
        }
    }
}

#[test]
fn the_header_is_c_plus_plus_too() {
    for compiler in ["g++", "clang++"] {
        let mut command = Command::new(compiler);
        command.args(["-std=c++17", "-fsyntax-only"]).args(WARNINGS);
        succeed(command.arg("-I").arg(here("include")).arg(here("tests/c/header.cc")));
    }
}

#[test]
fn the_shared_library_exports_the_header_and_nothing_else() {
    let library = installed();
    let output = succeed(Command::new("nm").args(["-D", "--defined-only"]).arg(library.join("librset.so.1")));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut exported: Vec<&str> = text
        .lines()
        .map(|line| line.split_whitespace().nth(2).unwrap())
        .filter(|name| *name != "RSET_1.0")
        .collect();
    exported.sort_unstable();
    let declared: Vec<String> = declared().iter().map(|name| format!("{name}@@RSET_1.0")).collect();
    assert_eq!(exported, declared);
    let dynamic = succeed(Command::new("readelf").arg("-d").arg(library.join("librset.so.1")));
    assert!(String::from_utf8_lossy(&dynamic.stdout).contains("Library soname: [librset.so.1]"));
    let description = std::fs::read_to_string(library.join("rset.pc")).unwrap();
    assert!(description.contains("prefix=/usr/local\n") && description.contains("Version: 1.0.0\n"));
}

#[test]
fn every_function_has_its_prototype_in_a_manual_page() {
    let pages =
        std::fs::read_dir(here("man")).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()));
    let pages: Vec<String> = pages.collect::<Result<_, _>>().unwrap();
    for name in declared() {
        let page = pages.iter().find(|page| page.contains(&format!("{name}(")));
        let page = page.unwrap_or_else(|| panic!("{name} has no prototype in a page"));
        let heading = page.split(".SH SYNOPSIS").next().unwrap();
        assert!(heading.contains(&name), "{name} is not under NAME of its page");
    }
}
