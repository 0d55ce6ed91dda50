//! Processes: `fork`, thread ids, and what a child keeps.
//!
//! A child goes on with the simulator in its copied memory and leaves no profile. Only the calling thread exists in it:
//! the others are known to the scheduler and end when their turn comes. `exec` replaces everything.

use crate::real::real;
use crate::state::with;
use crate::{dispatch, errno, signals, sys};

/// `fork`.
#[unsafe(no_mangle)]
pub extern "C" fn fork() -> i32 {
    // SAFETY: the C library's fork, which runs the program's own fork handlers.
    let process = dispatch::let_through(|| unsafe { real!(c"fork" as fn() -> i32)() });
    if process == 0 {
        with(|runtime| {
            let survivor = runtime.current;
            for (number, thread) in runtime.threads.iter_mut().enumerate() {
                thread.is_ghost = number != survivor;
                if thread.is_ghost {
                    thread.has_ended = true;
                }
            }
            // The donors stayed behind; their storage is memory like any other.
            runtime.remains.clear();
            runtime.waiting.clear();
        });
        dispatch::begin_child();
    }
    process
}

/// `vfork`: as fork, since a child that shares this memory would run the simulator for both.
#[unsafe(no_mangle)]
extern "C" fn vfork() -> i32 {
    fork()
}

/// The running thread's id: main has the process's, the others follow it.
pub fn thread_id() -> isize {
    let number = with(|runtime| runtime.current);
    sys::process_id() as isize + number as isize
}

/// `gettid`.
#[unsafe(no_mangle)]
extern "C" fn gettid() -> i32 {
    thread_id() as i32
}

/// Sends a signal to the thread with this id. Returns what the kernel would.
pub fn signal_thread(id: i32, signal: i32) -> isize {
    let number = (id - sys::process_id()) as usize;
    // The C library learns the id of the operating-system thread from its control blocks too: that is the caller.
    let number = with(|runtime| if number < runtime.threads.len() { number } else { runtime.current });
    if signal != 0 {
        signals::send_to_thread(number, signal);
        signals::deliver_pending();
    }
    0
}

/// `tgkill`.
#[unsafe(no_mangle)]
extern "C" fn tgkill(process: i32, id: i32, signal: i32) -> i32 {
    if process == sys::process_id() {
        return signal_thread(id, signal) as i32;
    }
    // SAFETY: no memory is involved.
    let result =
        unsafe { sys::call(libc::SYS_tgkill, [process as usize, id as usize, signal as usize, 0, 0, 0]) };
    errno::from_kernel(result) as i32
}
