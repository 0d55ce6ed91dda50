//! Condition variables. No wake-up is spurious: a waiter returns after a signal, a broadcast, its time limit, or to
//! be cancelled.
//!
//! The program's `pthread_cond_t` holds the clock of timed waits and a word that stands for the real one's counters, so
//! that its traffic is simulated.

use crate::access::touch_update;
use crate::cancel::{self, CANCELLED, cancellation_point};
use crate::clock;
use crate::mutex::{self, Mutex};
use crate::schedule::{Wake, charge, queue_up, wait_queued, wake_all, wake_one};

/// Instructions of a signal or of the entry into a wait.
const INSTRUCTIONS: u64 = 60;

/// A condition variable as we use its 48 bytes.
#[repr(C)]
pub struct Condition {
    sequence: u64,
    clock: u32,
}

unsafe fn wait(condition: *mut Condition, mutex: *mut Mutex, deadline: Option<u64>) -> i32 {
    if cancel::is_due() {
        return CANCELLED;
    }
    let address = condition as usize;
    touch_update(address);
    charge(INSTRUCTIONS);
    // The waiter queues before it unlocks, because unlocking may let the thread that signals run.
    queue_up(address);
    // SAFETY: the caller passes a mutex that it holds.
    unsafe { mutex::unlock(mutex) };
    let wake = loop {
        match wait_queued(address, "condition variable", deadline) {
            Wake::Interrupted if !cancel::is_due() => queue_up(address),
            wake => break wake,
        }
    };
    // SAFETY: as above. The mutex is held while cancellation unwinds, as POSIX says.
    unsafe { mutex::lock(mutex, None) };
    touch_update(address);
    if wake == Wake::Interrupted {
        return CANCELLED;
    }
    if wake == Wake::TimedOut { libc::ETIMEDOUT } else { 0 }
}

/// `pthread_cond_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_init(condition: *mut Condition, attributes: *const i32) -> i32 {
    // SAFETY: the caller passes room for a condition, and null or initialised attributes, where glibc keeps the clock
    // above the bit for sharing.
    unsafe {
        condition.cast::<libc::pthread_cond_t>().write_bytes(0, 1);
        if !attributes.is_null() {
            (*condition).clock = (*attributes as u32 >> 1) & 1;
        }
    }
    crate::access::touch(condition as usize, crate::access::WRITE + INSTRUCTIONS);
    0
}

/// `pthread_cond_destroy`.
#[unsafe(no_mangle)]
extern "C" fn pthread_cond_destroy(_condition: *mut Condition) -> i32 {
    0
}

/// `pthread_cond_wait`.
pub unsafe extern "C" fn cond_wait(condition: *mut Condition, mutex: *mut Mutex) -> i32 {
    // SAFETY: the same contract.
    unsafe { wait(condition, mutex, None) }
}

/// `pthread_cond_timedwait`.
pub unsafe extern "C" fn cond_timedwait(
    condition: *mut Condition,
    mutex: *mut Mutex,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe {
        let clock = if (*condition).clock == 1 { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME };
        if !clock::is_valid(until) {
            return libc::EINVAL;
        }
        wait(condition, mutex, clock::deadline_at(clock, until))
    }
}

/// `pthread_cond_clockwait`.
unsafe extern "C" fn cond_clockwait(
    condition: *mut Condition,
    mutex: *mut Mutex,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe {
        if !clock::is_valid(until) {
            return libc::EINVAL;
        }
        wait(condition, mutex, clock::deadline_at(clock, until))
    }
}

cancellation_point!(
    pthread_cond_wait => cond_wait,
    pthread_cond_timedwait => cond_timedwait,
    pthread_cond_clockwait => cond_clockwait,
);

/// `pthread_cond_signal`.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cond_signal(condition: *mut Condition) -> i32 {
    touch_update(condition as usize);
    wake_one(condition as usize);
    charge(INSTRUCTIONS);
    0
}

/// `pthread_cond_broadcast`.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cond_broadcast(condition: *mut Condition) -> i32 {
    touch_update(condition as usize);
    wake_all(condition as usize);
    charge(INSTRUCTIONS);
    0
}
