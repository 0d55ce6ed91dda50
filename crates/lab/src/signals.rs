//! Signals to this process, from the first moment of a guest to its last: they go to the command once it runs, and switch
//! the guest off before that.
//!
//! The first two interrupts go to the command; from the third on the guest is switched off. A command on a terminal gets
//! every key through that terminal, Ctrl-C included.

use crate::protocol::{ToGuest, send};
use crate::{LabError, terminal};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

/// Interrupts that reach the command; the next one switches the guest off.
const INTERRUPTS_PASSED: u32 = 2;

/// Where signals go.
#[derive(Default)]
struct Target {
    qemu: Option<Pid>,
    command: Option<Arc<Mutex<UnixStream>>>,
    /// Interrupts that the command got.
    passed: u32,
    /// The signal that switched the guest off.
    ended_by: Option<i32>,
}

impl Target {
    fn take(&mut self, signal: i32) {
        if signal == SIGWINCH {
            self.tell(&ToGuest::Resize(terminal::size()));
            return;
        }
        if self.command.is_some() && self.passed < INTERRUPTS_PASSED {
            self.passed += 1;
            self.tell(&ToGuest::Signal(signal));
            return;
        }
        self.ended_by = Some(signal);
        if let Some(qemu) = self.qemu {
            // Its end closes the port, which ends this run. It may be gone already.
            let _ = kill_process(qemu, Signal::KILL);
        }
    }

    fn tell(&self, message: &ToGuest) {
        if let Some(command) = &self.command
            && let Ok(mut stream) = command.lock()
        {
            // A guest that is gone is noticed by whoever reads.
            let _ = send(&mut *stream, message);
        }
    }
}

/// The watch over signals.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Target>>);

impl Watch {
    /// Begins to watch.
    /// # Errors  `Guest` where the system has no pipe or thread left.
    pub fn begin() -> Result<Watch, LabError> {
        let watch = Watch::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH])
            .map_err(|error| LabError::Guest(error.to_string()))?;
        let target = watch.clone();
        std::thread::spawn(move || {
            for signal in signals.forever() {
                target.with(|target| target.take(signal));
            }
        });
        Ok(watch)
    }

    /// There is a process to switch off; one that was to be ended already is.
    pub fn guard(&self, qemu: u32) {
        self.with(|target| {
            target.qemu = i32::try_from(qemu).ok().and_then(Pid::from_raw);
            if let Some(signal) = target.ended_by {
                target.take(signal);
            }
        });
    }

    /// The command runs: it gets the signals.
    pub fn pass_to(&self, command: Arc<Mutex<UnixStream>>) {
        self.with(|target| target.command = Some(command));
    }

    /// The signal that switched the guest off.
    pub fn ended_by(&self) -> Option<i32> {
        self.with(|target| target.ended_by)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Target) -> T) -> T {
        // What is under the lock is whole at any moment.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
