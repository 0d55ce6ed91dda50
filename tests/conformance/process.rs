//! Runs a command to its end, or to the end of the patience.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// No conformance program takes more than a few seconds; one that hangs is ended after this.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a command ended.
pub struct Ended {
    /// Its exit code, 128 + n for signal n; nothing if it had to be ended.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

/// Runs `command` without input. Output goes to files, so that a full pipe never stops it.
pub fn run(mut command: Command) -> std::io::Result<Ended> {
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    // A group of its own, so that a program that hangs is ended together with its launcher.
    let mut child = command.process_group(0).spawn()?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if started.elapsed() > PATIENCE {
            Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ok(Ended { code: status.and_then(code), stdout: text(&mut stdout)?, stderr: text(&mut stderr)? })
}

fn code(status: ExitStatus) -> Option<i32> {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal))
}

fn text(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
