//! Requests to end (Ctrl-C, a terminal that closes, kill) as something that can be asked for, so that what was done can be
//! put in order.

use core::sync::atomic::{AtomicBool, Ordering};

const CAUGHT: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: i32) {
    ASKED.store(true, Ordering::Relaxed);
}

/// As long as it lives, a request to end is noted and nothing else. One at a time.
pub struct Interrupts {
    before: [libc::sigaction; CAUGHT.len()],
}

impl Interrupts {
    /// Begins to note requests. Source: sigaction(2).
    pub fn catch() -> Interrupts {
        ASKED.store(false, Ordering::Relaxed);
        let before = CAUGHT.map(|signal| {
            // SAFETY: both records are valid; all zeros is a valid action, and the handler stores one atomic.
            unsafe {
                let mut action: libc::sigaction = core::mem::zeroed();
                action.sa_sigaction = note as *const () as usize;
                let mut old: libc::sigaction = core::mem::zeroed();
                libc::sigaction(signal, &raw const action, &raw mut old);
                old
            }
        });
        Interrupts { before }
    }

    /// Whether somebody asked us to end.
    pub fn is_asked(&self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        for (signal, old) in CAUGHT.iter().zip(&self.before) {
            // SAFETY: restores an action that the system gave.
            unsafe { libc::sigaction(*signal, old, core::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_to_end_is_noted() {
        let interrupts = Interrupts::catch();
        assert!(!interrupts.is_asked());
        // SAFETY: the handler for this signal is ours.
        unsafe { libc::raise(libc::SIGTERM) };
        assert!(interrupts.is_asked());
    }
}
