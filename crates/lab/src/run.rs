//! One command in a guest, from the machine to the exit code.

use crate::boot::Starter;
use crate::files::FileServer;
use crate::session::{self, Command};
use crate::signals::Watch;
use crate::{Accelerator, Computer, LabError, kernel};
use olifant_machine::{Bytes, Machine};
use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// What a shell adds to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;

/// What to run, where.
#[derive(Debug, Clone)]
pub struct LabRun {
    /// The machine whose topology the guest has.
    pub machine: Machine,
    /// Memory of each node that has memory.
    pub memory_per_node: Bytes,
    /// The kernel; `None` fetches Debian's.
    pub kernel: Option<PathBuf>,
    /// How instructions are carried out; `None` for the best there is.
    pub accelerator: Option<Accelerator>,
    /// Whether a saved guest may be continued, and this one be saved.
    pub use_saved: bool,
    /// How long the command may take.
    pub time_limit: Option<Duration>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The folder that the command starts in and may write to.
    pub folder: PathBuf,
    /// This executable: it is the agent in the guest.
    pub olifant: PathBuf,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this code; 128 + n for a signal n.
    Code(i32),
    /// It took longer than allowed, and the guest was switched off.
    TimedOut,
}

/// Boots or continues a guest, runs the command and waits for its end. `talk` hears what a person may want to know.
/// # Errors  See [`LabError`]; how the command ends is no error.
pub fn run(lab: &LabRun, talk: &dyn Fn(&str)) -> Result<Ending, LabError> {
    if lab.folder.parent().is_none() {
        return Err(LabError::RootShared);
    }
    let computer = Computer::of(&lab.machine, lab.memory_per_node)?;
    let kernel = kernel::find(lab.kernel.as_deref(), talk)?;
    let best = lab.accelerator.unwrap_or_else(Accelerator::best);
    let watch = Watch::begin()?;
    let start = |accelerator| {
        let starter = Starter {
            computer: &computer,
            accelerator,
            kernel: &kernel,
            olifant: &lab.olifant,
            use_saved: lab.use_saved,
            watch: &watch,
            talk,
        };
        starter.start()
    };
    let guest = match start(best) {
        Err(error) if best == Accelerator::Kvm && lab.accelerator.is_none() && watch.ended_by().is_none() => {
            talk(&format!("KVM is there but does not work ({error}); emulating"));
            start(Accelerator::Emulated)
        }
        guest => guest,
    };
    let command = Command {
        words: &lab.command,
        folder: &lab.folder,
        olifant: &lab.olifant,
        time_limit: lab.time_limit,
    };
    let ending = guest.and_then(|guest| session::run(guest, &command, &watch));
    match watch.ended_by() {
        // Whatever it broke off, a person or another program wanted it.
        Some(signal) => Ok(Ending::Code(SIGNALLED + signal)),
        None => ending,
    }
}

/// Serves the host's files on a connection until it ends.
pub fn serve_files(connection: UnixStream, writable: PathBuf) {
    std::thread::spawn(move || FileServer::new("/".into(), writable).serve(connection));
}
