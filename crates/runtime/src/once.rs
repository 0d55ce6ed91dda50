//! `pthread_once` and `call_once`.
//!
//! The C library's own runs the routine, because exceptions must pass through it and none may pass through Rust; this file
//! only keeps a second caller from waiting inside of it, where the wait would stop all threads.

use crate::access::{READ, touch};
use crate::real::real;
use crate::schedule::charge;

/// The bit by which glibc marks a routine that is running.
const IN_PROGRESS: i32 = 1;
/// The bit by which glibc marks one that has returned.
const DONE: i32 = 2;
/// Instructions between two looks at the control word.
const POLL_INSTRUCTIONS: u64 = 200;

/// Waits until no other thread runs the routine; returns the address of the C library's `pthread_once`.
unsafe extern "C" fn wait_for_others(control: *mut i32) -> usize {
    if crate::state::is_free() {
        touch(control as usize, READ + 3);
        // SAFETY: the caller passes a control word. It changes while this thread is switched away.
        unsafe {
            while control.read_volatile() & DONE == 0 && control.read_volatile() & IN_PROGRESS != 0 {
                charge(POLL_INSTRUCTIONS);
            }
        }
    }
    real!(c"pthread_once" as fn(*mut i32, usize) -> i32) as usize
}

macro_rules! once {
    ($($name:ident),*) => { $(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(control: *mut i32, routine: usize) {
            core::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "sub rsp, 8",
                "call {wait}",
                "add rsp, 8",
                "pop rsi",
                "pop rdi",
                "jmp rax",
                wait = sym wait_for_others,
            )
        }
    )* };
}

once!(pthread_once, call_once);
