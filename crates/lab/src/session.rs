//! The host's side of a running command: input in, output and the exit code out. Signals are in `signals.rs`.

use crate::boot::Guest;
use crate::protocol::{CHUNK_BYTES, Start, ToGuest, ToHost, receive, send};
use crate::run::{Ending, serve_files};
use crate::signals::Watch;
use crate::{LabError, terminal};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// A command to run in a guest.
pub struct Command<'a> {
    /// The program and its arguments.
    pub words: &'a [OsString],
    /// Where it starts, and may write.
    pub folder: &'a Path,
    /// This executable, to be found in the guest under its own path.
    pub olifant: &'a Path,
    /// How long it may take.
    pub time_limit: Option<Duration>,
}

/// Runs the command and switches the guest off.
/// # Errors  `Stopped`, `Guest`, `File`.
pub fn run(mut guest: Guest, command: &Command, watch: &Watch) -> Result<Ending, LabError> {
    let until = command.time_limit.map(|limit| Instant::now() + limit);
    let guest_error = |error: io::Error| LabError::Guest(error.to_string());
    serve_files(guest.files.try_clone().map_err(guest_error)?, command.folder.to_owned());
    let interactive = terminal::is_interactive();
    let to_guest = Arc::new(Mutex::new(guest.agent.try_clone().map_err(guest_error)?));
    say(&to_guest, &ToGuest::Start(start(command, interactive))).map_err(guest_error)?;
    let raw = if interactive { Some(terminal::RawTerminal::new().map_err(guest_error)?) } else { None };
    watch.pass_to(Arc::clone(&to_guest));
    pass_input(Arc::clone(&to_guest));
    let ending = pass_output(&mut guest.agent, until);
    drop(raw);
    match ending {
        Ok(Some(ending)) => Ok(ending),
        Ok(None) => {
            guest.qemu.wait_briefly();
            Err(LabError::Stopped(guest.qemu.last_words()))
        }
        Err(error) => Err(error),
    }
}

fn start(command: &Command, interactive: bool) -> Start {
    let bytes = |text: &OsStr| text.as_bytes().to_vec();
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut entropy = vec![0; 64];
    // Without it the guest's numbers are those of its state, which harms only who counts on chance.
    let _ = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut entropy));
    Start {
        command: command.words.iter().map(|word| bytes(word)).collect(),
        environment: std::env::vars_os().map(|(name, value)| (bytes(&name), bytes(&value))).collect(),
        folder: bytes(command.folder.as_os_str()),
        olifant: bytes(command.olifant.as_os_str()),
        terminal: interactive.then(terminal::size),
        seconds: i64::try_from(seconds).unwrap_or(i64::MAX),
        entropy,
    }
}

/// Passes output on until the command ends; `None` if the guest is gone before.
fn pass_output(agent: &mut UnixStream, until: Option<Instant>) -> Result<Option<Ending>, LabError> {
    loop {
        if let Some(until) = until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Some(Ending::TimedOut));
            }
            agent.set_read_timeout(Some(left)).map_err(|error| LabError::Guest(error.to_string()))?;
        }
        match receive(agent) {
            Ok(Some(ToHost::Ready)) => {}
            Ok(Some(ToHost::Output(bytes))) => write_out(&mut io::stdout().lock(), &bytes)?,
            Ok(Some(ToHost::Error(bytes))) => write_out(&mut io::stderr().lock(), &bytes)?,
            Ok(Some(ToHost::Ended(code))) => return Ok(Some(Ending::Code(code))),
            Ok(Some(ToHost::Failed(problem))) => return Err(LabError::Guest(problem)),
            Ok(None) => return Ok(None),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Ok(Some(Ending::TimedOut));
            }
            Err(_) => return Ok(None),
        }
    }
}

/// A reader that has seen enough is no failure: the command goes on, as with a remote shell.
fn write_out(to: &mut impl Write, bytes: &[u8]) -> Result<(), LabError> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(LabError::File { what: "cannot write", path: "standard output".into(), source: error })
        }
        _ => Ok(()),
    }
}

fn pass_input(to_guest: Arc<Mutex<UnixStream>>) {
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let message = match io::stdin().lock().read(&mut chunk) {
                Ok(0) | Err(_) => ToGuest::EndOfInput,
                Ok(got) => ToGuest::Input(chunk[..got].to_vec()),
            };
            if say(&to_guest, &message).is_err() || message == ToGuest::EndOfInput {
                return;
            }
        }
    });
}

fn say(to_guest: &Mutex<UnixStream>, message: &ToGuest) -> io::Result<()> {
    match to_guest.lock() {
        Ok(mut stream) => send(&mut *stream, message),
        Err(_) => Err(io::Error::other("another thread failed")),
    }
}
