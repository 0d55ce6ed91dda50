//! Starts an instrumented program and collects its profile.
//!
//! The program gets the launcher's standard input, output and error; its exit code or signal passes through. The run's
//! specification and, unless the caller names another place, the profile go through a private folder for temporary
//! files. Signals sent to the launcher go on to the program, which leaves its profile before it ends; what a
//! terminal sends reaches the program by itself.

use crate::forward::Forwarding;
use crate::spec::{MARKER_SYMBOL, RUN_VARIABLE, RunSpec, SpecError};
use olifant_opium::profile::Profile;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The program's exit code; 128 + n if signal n ended it.
    pub code: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What the run showed, up to its end or as of its last checkpoint; `None` if nothing was written.
    pub profile: Option<Profile>,
}

/// Why a program could not be run, or its profile not be had.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no such file.
    #[error("{0}: no such program{hint}", hint = if .0.contains('/') { "" } else { " in PATH; give a path to a file" })]
    NotFound(String),
    /// The file cannot be executed.
    #[error("{0}: not an executable file")]
    NotExecutable(String),
    /// The file is a script.
    #[error("{0}: a script; give the program that it starts, built with `olifant cc`")]
    Script(String),
    /// The program has no runtime in it.
    #[error(
        "{0}: not built with `olifant cc`: rebuild it with CC='olifant cc' (CXX='olifant c++', FC='olifant fc'), which \
         compiles and links like gcc and clang"
    )]
    NotInstrumented(String),
    /// The loader gave up before the program began.
    #[error(
        "{0}: the dynamic loader could not start it (its message is above); is a shared library missing?"
    )]
    NotStarted(String),
    /// The folder for temporary files cannot be used.
    #[error("cannot write {path}: {source}; set TMPDIR to a folder with space")]
    Temporary {
        /// The file or folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The place for the profile cannot be written.
    #[error("profile {path}: cannot write: {source}")]
    Output {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The system refused to start it.
    #[error("{program}: cannot start: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The profile is damaged.
    #[error("profile {path}: damaged ({reason}): rebuild the program with the `olifant cc` of this version")]
    Damaged {
        /// The file.
        path: String,
        /// What the reader found.
        reason: String,
    },
    /// The specification could not be written down.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl LaunchError {
    /// The exit code that a launcher uses, as env(1) does: 127 not found, 126 cannot be executed, 125 its own failure.
    pub fn exit_code(&self) -> i32 {
        match self {
            LaunchError::NotFound(_) | LaunchError::NotStarted(_) => 127,
            LaunchError::NotExecutable(_)
            | LaunchError::Script(_)
            | LaunchError::NotInstrumented(_)
            | LaunchError::Start { .. } => 126,
            _ => 125,
        }
    }
}

/// Runs `program` with `arguments` as `spec` says and waits for its end. `spec.dump` is where the profile goes; where it is
/// `None`, it goes to a temporary file that is gone afterwards.
/// # Errors  See [`LaunchError`]; a program that starts and fails is an [`Outcome`].
pub fn launch(program: &Path, arguments: &[OsString], spec: &RunSpec) -> Result<Outcome, LaunchError> {
    launch_to(program, arguments, spec, Stdio::inherit())
}

/// [`launch`] with another place for the program's standard output: where ours is taken, `std::io::stderr().into()`.
/// # Errors  As [`launch`].
pub fn launch_to(
    program: &Path,
    arguments: &[OsString],
    spec: &RunSpec,
    stdout: Stdio,
) -> Result<Outcome, LaunchError> {
    let path = locate(program)?;
    let folder = Folder::new()?;
    let mut spec = spec.clone();
    let dump = match &spec.dump {
        Some(path) => std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path)),
        None => folder.path.join("profile"),
    };
    spec.dump = Some(dump.display().to_string());
    let spec_path = folder.path.join("spec");
    write(&spec_path, &spec.to_bytes()?)?;
    // A stale profile must not pass for this run's; that the place can be written is known before hours of work.
    std::fs::write(&dump, [])
        .map_err(|source| LaunchError::Output { path: dump.display().to_string(), source })?;
    let mut command = Command::new(&path);
    command.args(arguments).env(RUN_VARIABLE, &spec_path).stdout(stdout);
    std::os::unix::process::CommandExt::arg0(&mut command, program);
    let child = command
        .spawn()
        .map_err(|source| LaunchError::Start { program: program.display().to_string(), source })?;
    let status = wait(child)
        .map_err(|source| LaunchError::Start { program: program.display().to_string(), source })?;
    let profile = read_profile(&dump)?;
    if profile.is_none() {
        // Nobody needs an empty file.
        let _ = std::fs::remove_file(&dump);
        if status.code() == Some(127) {
            return Err(LaunchError::NotStarted(program.display().to_string()));
        }
    }
    let signal = status.signal();
    let code = status.code().unwrap_or_else(|| 128 + signal.unwrap_or(0));
    Ok(Outcome { code, signal, profile })
}

/// Runs a plain program with these variables besides ours and waits for its end; gives its exit code, 128 + n for a signal n.
/// # Errors  `NotFound`, `NotExecutable`, `Start`.
pub fn launch_plain(
    program: &Path,
    arguments: &[OsString],
    environment: &[(&'static str, OsString)],
    stdout: Stdio,
) -> Result<i32, LaunchError> {
    let path = find(program)?;
    let name = || program.display().to_string();
    let mut command = Command::new(&path);
    command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value))).stdout(stdout);
    std::os::unix::process::CommandExt::arg0(&mut command, program);
    let status = command.spawn().and_then(wait).map_err(|source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => LaunchError::NotExecutable(name()),
        _ => LaunchError::Start { program: name(), source },
    })?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// The file of an instrumented program: found as a shell finds it, and known to have our runtime.
/// # Errors  `NotFound`, `NotExecutable`, `Script`, `NotInstrumented`.
pub fn locate(program: &Path) -> Result<PathBuf, LaunchError> {
    let path = find(program)?;
    check(program, &path)?;
    Ok(path)
}

/// The file that a name means, as a shell would find it.
/// # Errors  `NotFound`.
pub fn find(program: &Path) -> Result<PathBuf, LaunchError> {
    let missing = || LaunchError::NotFound(program.display().to_string());
    if program.components().count() > 1 || program.display().to_string().contains('/') {
        return if program.exists() { Ok(program.to_owned()) } else { Err(missing()) };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .ok_or_else(missing)
}

/// Whether the file is an executable with our runtime.
fn check(program: &Path, path: &Path) -> Result<(), LaunchError> {
    let name = program.display().to_string();
    let refused = |_| LaunchError::NotExecutable(name.clone());
    let metadata = std::fs::metadata(path).map_err(refused)?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(LaunchError::NotExecutable(name));
    }
    let bytes = std::fs::read(path).map_err(refused)?;
    if bytes.starts_with(b"#!") {
        return Err(LaunchError::Script(name));
    }
    if !is_instrumented(&bytes) {
        return Err(LaunchError::NotInstrumented(name));
    }
    Ok(())
}

/// Whether an executable's string tables hold the marker symbol. `strip` keeps it, because it is exported.
fn is_instrumented(bytes: &[u8]) -> bool {
    // In a string table a name stands between zeros; the constant in this very program does not.
    let name = format!("\0{MARKER_SYMBOL}\0");
    bytes.starts_with(b"\x7fELF") && bytes.windows(name.len()).any(|window| window == name.as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LaunchError> {
    std::fs::write(path, bytes)
        .map_err(|source| LaunchError::Temporary { path: path.display().to_string(), source })
}

/// The profile in a file that a program wrote, as it stands when nobody was left to collect it; `None` if the file is
/// missing or empty.
/// # Errors  `Damaged` if it is something else.
pub fn read_profile(path: &Path) -> Result<Option<Profile>, LaunchError> {
    match std::fs::read(path) {
        Ok(bytes) if !bytes.is_empty() => postcard::from_bytes(&bytes).map(Some).map_err(|error| {
            LaunchError::Damaged { path: path.display().to_string(), reason: error.to_string() }
        }),
        _ => Ok(None),
    }
}

/// A private folder that is removed with its contents.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> Result<Self, LaunchError> {
        let parent = std::env::temp_dir();
        let fail = |path: &Path, source| LaunchError::Temporary { path: path.display().to_string(), source };
        for attempt in 0u32.. {
            let path = parent.join(format!("olifant-{}-{attempt}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => {
                    let private = std::fs::Permissions::from_mode(0o700);
                    std::fs::set_permissions(&path, private).map_err(|source| fail(&path, source))?;
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(fail(&path, source)),
            }
        }
        unreachable!("the numbers of attempts do not end")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files, where others clean up.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Waits for the program while signals go on to it.
fn wait(mut child: Child) -> std::io::Result<ExitStatus> {
    let _forwarding = Forwarding::to(child.id().cast_signed());
    child.wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_exist_is_not_found() {
        let error = find(Path::new("./no-such-program")).unwrap_err();
        assert_eq!(
            (error.exit_code(), error.to_string()),
            (127, "./no-such-program: no such program".into())
        );
        assert!(find(Path::new("no-such-program")).unwrap_err().to_string().contains("PATH"));
    }

    #[test]
    fn a_plain_program_is_told_how_to_become_instrumented() {
        let path = find(Path::new("true")).unwrap();
        let error = check(Path::new("true"), &path).unwrap_err();
        assert!(matches!(error, LaunchError::NotInstrumented(_)));
        assert!(error.to_string().contains("olifant cc"));
    }

    #[test]
    fn a_folder_or_a_text_is_not_executable() {
        let folder = Folder::new().unwrap();
        let error = check(&folder.path, &folder.path).unwrap_err();
        assert_eq!(error.exit_code(), 126);
        let script = folder.path.join("script");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        assert!(matches!(check(&script, &script), Err(LaunchError::NotExecutable(_))));
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(check(&script, &script), Err(LaunchError::Script(_))));
    }

    #[test]
    fn the_marker_counts_only_as_a_name_in_a_string_table() {
        assert!(is_instrumented(b"\x7fELF..\0__olifant_runtime_version\0.."));
        assert!(!is_instrumented(b"\x7fELF..=__olifant_runtime_version\0.."));
        assert!(!is_instrumented(b"\0__olifant_runtime_version\0"));
    }

    #[test]
    fn a_temporary_folder_is_gone_afterwards() {
        let path = {
            let folder = Folder::new().unwrap();
            std::fs::write(folder.path.join("file"), "x").unwrap();
            folder.path.clone()
        };
        assert!(!path.exists());
    }
}
