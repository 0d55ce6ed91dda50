//! The agent in the guest: takes one command from the host, runs it in the host's files, and switches the guest off.
//!
//! It waits in a read of its port; a guest saved at that point and continued later goes on from there. Once a command
//! was given, the end of the port means that the host's side is gone: the guest is switched off at once, so that
//! nothing is left behind.

use crate::guest_root::prepare;
use crate::port;
use crate::protocol::{AGENT_PORT, CHUNK_BYTES, Start, TerminalSize, ToGuest, ToHost, receive, send};
use rustix::fs::Mode;
use rustix::process::{Pid, Signal, kill_process_group, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::system::{RebootCommand, reboot};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long output of a command's descendants is waited for once it has ended.
const LINGER: Duration = Duration::from_millis(500);
/// The host may not yet be there when a continued guest looks: tries, and the time between two.
const TRIES: u32 = 3000;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

type Port = Arc<Mutex<File>>;

/// Serves one command and switches the guest off. Returns only where even that fails.
/// # Errors  Those of the port and of reboot(2).
pub fn serve() -> io::Result<()> {
    let mut input = port::open(AGENT_PORT)?;
    let output: Port = Arc::new(Mutex::new(input.try_clone()?));
    say(&output, &ToHost::Ready);
    let start = first_message(&mut input)?;
    let message = match prepare(&start).and_then(|()| run(&start, input, &output)) {
        Ok(code) => ToHost::Ended(code),
        Err(error) => ToHost::Failed(error.to_string()),
    };
    say(&output, &message);
    switch_off()
}

/// Becomes the program `words` as the leader of a session on `terminal`: the second half of starting a command there.
/// # Errors  Those of opening the terminal and of execve(2).
pub fn start_on_terminal(terminal: &Path, words: &[OsString]) -> io::Error {
    let become_leader = || -> io::Result<()> {
        setsid()?;
        // The first terminal that a session leader opens becomes its controlling one.
        OpenOptions::new().read(true).write(true).open(terminal).map(drop)
    };
    let Some((program, arguments)) = words.split_first() else { return io::ErrorKind::InvalidInput.into() };
    match become_leader() {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}

fn first_message(input: &mut File) -> io::Result<Start> {
    for _ in 0..TRIES {
        match receive(input)? {
            Some(ToGuest::Start(start)) => return Ok(start),
            Some(_) => {}
            None => std::thread::sleep(BETWEEN_TRIES),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no command came"))
}

fn switch_off() -> io::Result<()> {
    Ok(reboot(RebootCommand::PowerOff)?)
}

fn say(port: &Port, message: &ToHost) {
    if let Ok(mut port) = port.lock() {
        // The host that is gone is noticed by whoever reads.
        let _ = send(&mut *port, message);
    }
}

/// Runs the command; its exit code as a shell would give it.
fn run(start: &Start, input: File, output: &Port) -> io::Result<i32> {
    let words: Vec<OsString> = start.command.iter().cloned().map(OsString::from_vec).collect();
    let [program, arguments @ ..] = words.as_slice() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command;
    let mut controller = None;
    if let Some(size) = start.terminal {
        let (pty, path) = new_terminal(size)?;
        // Not /proc/self/exe: the agent was started through its loader, and that is what it names.
        command = Command::new(OsStr::from_bytes(&start.olifant));
        command.args(["lab-agent", "--terminal"]).arg(&path).arg("--").args(&words);
        let side = || File::options().read(true).write(true).open(&path).map(Stdio::from);
        command.stdin(side()?).stdout(side()?).stderr(side()?);
        controller = Some(pty);
    } else {
        command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let variables =
        start.environment.iter().map(|(name, value)| (OsStr::from_bytes(name), OsStr::from_bytes(value)));
    command.env_clear().envs(variables).current_dir(OsStr::from_bytes(&start.folder));
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(refuse(output, program, &error)),
    };
    // Only the child has the terminal open now, so that its end is seen.
    drop(command);
    let (ended, finished) = channel();
    take_input(input, &mut child, controller.as_ref())?;
    let mut readers = 0;
    if let Some(pty) = controller {
        pass(pty, output, ToHost::Output, ended.clone());
        readers += 1;
    }
    if let Some(stdout) = child.stdout.take() {
        pass(stdout, output, ToHost::Output, ended.clone());
        readers += 1;
    }
    if let Some(stderr) = child.stderr.take() {
        pass(stderr, output, ToHost::Error, ended);
        readers += 1;
    }
    let status = child.wait()?;
    for _ in 0..readers {
        if finished.recv_timeout(LINGER).is_err() {
            break;
        }
    }
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// Says why the program cannot be run, and with which code a shell would say so.
fn refuse(output: &Port, program: &OsStr, error: &io::Error) -> i32 {
    say(output, &ToHost::Error(format!("olifant: {}: {error}\n", program.to_string_lossy()).into_bytes()));
    if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
}

/// A new terminal: the side of whoever types and looks, and the path of the program's side.
fn new_terminal(size: TerminalSize) -> io::Result<(File, PathBuf)> {
    let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&pty)?;
    unlockpt(&pty)?;
    let path = PathBuf::from(OsString::from_vec(ptsname(&pty, Vec::new())?.into_bytes()));
    let pty = File::from(pty);
    resize(&pty, size);
    rustix::fs::chmod(&path, Mode::from_raw_mode(0o620))?;
    Ok((pty, path))
}

fn resize(pty: &File, size: TerminalSize) {
    let size = Winsize { ws_col: size.columns, ws_row: size.rows, ws_xpixel: 0, ws_ypixel: 0 };
    // A program that does not see a new size is no worse off than before.
    let _ = tcsetwinsize(pty, size);
}

/// Passes what the command writes to the host until nobody holds the other end.
fn pass(
    mut from: impl Read + Send + 'static,
    output: &Port,
    message: fn(Vec<u8>) -> ToHost,
    ended: Sender<()>,
) {
    let output = Arc::clone(output);
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Ok(got @ 1..) = from.read(&mut chunk) {
            say(&output, &message(chunk[..got].to_vec()));
        }
        // The receiver may have stopped waiting.
        let _ = ended.send(());
    });
}

/// Hears the host: input goes to a thread of its own, as a command that does not read must not hold up signals.
fn take_input(mut port: File, child: &mut Child, controller: Option<&File>) -> io::Result<()> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (to_writer, chunks) = channel::<Vec<u8>>();
    let pty = controller.map(File::try_clone).transpose()?;
    let mut stdin: Option<Box<dyn Write + Send>> = match (&pty, child.stdin.take()) {
        (Some(pty), _) => Some(Box::new(pty.try_clone()?)),
        (None, Some(pipe)) => Some(Box::new(pipe)),
        (None, None) => None,
    };
    std::thread::spawn(move || {
        for chunk in chunks {
            if let Some(writer) = &mut stdin
                && writer.write_all(&chunk).is_err()
            {
                stdin = None;
            }
        }
    });
    std::thread::spawn(move || {
        let mut to_writer = Some(to_writer);
        loop {
            match receive(&mut port) {
                Ok(Some(ToGuest::Input(bytes))) => {
                    // The writer is gone only after the end of the input.
                    let _ = to_writer.as_ref().map(|writer| writer.send(bytes));
                }
                // A terminal has no end; its program is told of one by a key.
                Ok(Some(ToGuest::EndOfInput)) => to_writer = None,
                Ok(Some(ToGuest::Signal(number))) => signal(group, number),
                Ok(Some(ToGuest::Resize(size))) => {
                    if let Some(pty) = &pty {
                        resize(pty, size);
                    }
                }
                Ok(Some(ToGuest::Start(_))) => {}
                Ok(None) | Err(_) => {
                    let _ = switch_off();
                    return;
                }
            }
        }
    });
    Ok(())
}

fn signal(group: Option<Pid>, number: i32) {
    if let Some((group, signal)) = group.zip(Signal::from_named_raw(number)) {
        // The command may just have ended.
        let _ = kill_process_group(group, signal);
    }
}
