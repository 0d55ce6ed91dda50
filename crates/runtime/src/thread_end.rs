//! How a thread ends: destructors, thread-specific data, the joiner, and giving the processor away for good.
//!
//! Stack and donor stay until another thread takes them back, because the ending thread runs on them to the last
//! instruction.

use crate::schedule::{run_next, wake_all};
use crate::state::{Remains, with};
use crate::{ending, keys};

/// The queue of those that wait for a thread's end: an address that no object has.
pub fn end_queue(thread: usize) -> usize {
    // Below the first page nothing is mapped.
    thread + 1
}

/// A context's routine returned `result`.
pub extern "C" fn returned(result: usize) -> ! {
    with(|runtime| runtime.running().result = result);
    end()
}

/// A context was unwound by `pthread_exit`, which noted the result before.
pub extern "C" fn unwound() -> ! {
    end()
}

fn end() -> ! {
    run_destructors();
    keys::run_destructors();
    let (number, is_last) = with(|runtime| {
        let number = runtime.current;
        let is_detached = {
            let thread = runtime.running();
            thread.has_ended = true;
            thread.is_detached
        };
        if is_detached {
            let storage = runtime.running().storage;
            runtime.handles.remove(&storage);
        }
        (number, runtime.threads.iter().all(|thread| thread.has_ended))
    });
    if is_last {
        // SAFETY: what the C library does when the last thread ends.
        unsafe { ending::exit(0) };
    }
    wake_all(end_queue(number));
    with(|runtime| {
        let stack = runtime.threads[number].stack.take();
        let donor = runtime.threads[number].donor.take();
        if let (Some(stack), Some((donor, donor_slot))) = (stack, donor) {
            runtime.areas.end_stack(stack, &mut runtime.system);
            runtime.remains.push(Remains { stack, donor, donor_slot, thread: number });
        }
        runtime.system.exit();
    });
    run_next();
    unreachable!("a thread that ended was scheduled")
}

/// Runs the destructors of the running thread's `thread_local` objects, last first; they may add more.
pub fn run_destructors() {
    while let Some((destructor, object)) = with(|runtime| runtime.running().destructors.pop()) {
        // SAFETY: the program registered the pair for this moment.
        unsafe { destructor(object) };
    }
}

/// What C++ calls to have an object destroyed at the thread's end.
#[unsafe(no_mangle)]
extern "C" fn __cxa_thread_atexit_impl(
    destructor: crate::context::Routine,
    object: usize,
    _library: usize,
) -> i32 {
    with(|runtime| runtime.running().destructors.push((destructor, object)));
    0
}
