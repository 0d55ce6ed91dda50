//! Signals on their way to a program that we started: what asks us to end goes on to it, so that it can end in order and
//! we can keep what was measured. What a terminal sends reaches the program by itself.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicI32, Ordering};

/// Signals that ask a program to end, or that it may define.
const FORWARDED: [i32; 6] =
    [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// The program that signals go to; 0 for none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

extern "C" fn forward(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let program = PROGRAM.load(Ordering::Relaxed);
    // SAFETY: the kernel passes a valid record; kill is allowed in a signal handler.
    unsafe {
        // A terminal's signal goes to the whole group and has the kernel's code.
        if program > 0 && (*info).si_code != libc::SI_KERNEL {
            libc::kill(program, signal);
        }
    }
}

/// As long as it lives, signals go on to the program. One at a time.
pub struct Forwarding {
    before: [libc::sigaction; FORWARDED.len()],
}

impl Forwarding {
    /// Begins to send signals on to the process of this number.
    pub fn to(program: i32) -> Forwarding {
        PROGRAM.store(program, Ordering::Relaxed);
        let before = FORWARDED.map(|signal| {
            // SAFETY: both records are valid; all zeros is a valid action, and the handler calls only what a handler may.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = forward as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                let mut old: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &action, &mut old);
                old
            }
        });
        Forwarding { before }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        PROGRAM.store(0, Ordering::Relaxed);
        for (signal, old) in FORWARDED.iter().zip(&self.before) {
            // SAFETY: restores an action that the system gave.
            unsafe { libc::sigaction(*signal, old, std::ptr::null_mut()) };
        }
    }
}
