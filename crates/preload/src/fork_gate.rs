//! A gate in front of the allocator's locks, which nobody holds while the process forks.
//!
//! A child of fork has the calling thread only: a lock that another thread held stays locked in it for ever. mimalloc has no
//! handlers for that, so the linker sends its locks (`--wrap`, see build.rs) through here: a thread that holds one is
//! counted, and closing the gate lets those out that are in and no new ones in.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Threads inside.
static INSIDE: AtomicU32 = AtomicU32::new(0);
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Locks that the calling thread holds.
    static HELD: Cell<u32> = const { Cell::new(0) };
}

fn wait() {
    // SAFETY: gives the processor away for a moment.
    unsafe { libc::sched_yield() };
}

fn enter() {
    let held = HELD.get();
    // A thread that holds a lock must get on, or it would never come out.
    if held == 0 {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        while IS_CLOSED.load(Ordering::SeqCst) {
            INSIDE.fetch_sub(1, Ordering::SeqCst);
            while IS_CLOSED.load(Ordering::SeqCst) {
                wait();
            }
            INSIDE.fetch_add(1, Ordering::SeqCst);
        }
    }
    HELD.set(held + 1);
}

fn leave() {
    let held = HELD.get().saturating_sub(1);
    HELD.set(held);
    if held == 0 {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Closes the gate and waits until nobody is inside. Two threads that fork come one after the other.
pub fn close() {
    while IS_CLOSED.swap(true, Ordering::SeqCst) {
        wait();
    }
    while INSIDE.load(Ordering::SeqCst) > 0 {
        wait();
    }
}

/// Opens it again, in the parent.
pub fn open() {
    IS_CLOSED.store(false, Ordering::SeqCst);
}

/// Opens it in the child, where threads that stood before the gate are gone.
pub fn open_in_child() {
    INSIDE.store(0, Ordering::SeqCst);
    open();
}

unsafe extern "C" {
    fn __real_pthread_mutex_lock(mutex: *mut libc::pthread_mutex_t) -> c_int;
    fn __real_pthread_mutex_trylock(mutex: *mut libc::pthread_mutex_t) -> c_int;
    fn __real_pthread_mutex_unlock(mutex: *mut libc::pthread_mutex_t) -> c_int;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_pthread_mutex_lock(mutex: *mut libc::pthread_mutex_t) -> c_int {
    enter();
    // SAFETY: the allocator's own lock.
    unsafe { __real_pthread_mutex_lock(mutex) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_pthread_mutex_trylock(mutex: *mut libc::pthread_mutex_t) -> c_int {
    enter();
    // SAFETY: the allocator's own lock.
    let answer = unsafe { __real_pthread_mutex_trylock(mutex) };
    if answer != 0 {
        leave();
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_pthread_mutex_unlock(mutex: *mut libc::pthread_mutex_t) -> c_int {
    // SAFETY: the allocator's own lock, which it holds.
    let answer = unsafe { __real_pthread_mutex_unlock(mutex) };
    leave();
    answer
}
