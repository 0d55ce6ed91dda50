//! Semaphores: `sem_*`, unnamed ones and named ones (which glibc keeps in shared memory; ours within a process).

use crate::access::touch_update;
use crate::cancel::{self, CANCELLED, cancellation_point};
use crate::schedule::{Wake, charge, is_waited_for, park, wake_one};
use crate::{clock, errno};

const INSTRUCTIONS: u64 = 30;

/// A semaphore as we use its 32 bytes; glibc's `sem_open` keeps the value in the same place.
#[repr(C)]
struct Semaphore {
    value: u32,
}

/// `sem_init`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sem_init(semaphore: *mut Semaphore, _shared: i32, value: u32) -> i32 {
    if value > i32::MAX as u32 {
        return errno::fail(libc::EINVAL);
    }
    // SAFETY: the caller passes room for a semaphore.
    unsafe {
        semaphore.cast::<libc::sem_t>().write_bytes(0, 1);
        (*semaphore).value = value;
    }
    0
}

/// `sem_destroy`.
#[unsafe(no_mangle)]
extern "C" fn sem_destroy(_semaphore: *mut Semaphore) -> i32 {
    0
}

/// `sem_post`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sem_post(semaphore: *mut Semaphore) -> i32 {
    touch_update(semaphore as usize);
    // SAFETY: the caller passes a semaphore.
    unsafe {
        if (*semaphore).value == i32::MAX as u32 {
            return errno::fail(libc::EOVERFLOW);
        }
        (*semaphore).value += 1;
    }
    wake_one(semaphore as usize);
    charge(INSTRUCTIONS);
    0
}

unsafe fn wait(semaphore: *mut Semaphore, deadline: Option<u64>) -> i32 {
    if cancel::is_due() {
        return CANCELLED;
    }
    touch_update(semaphore as usize);
    // SAFETY: the caller passes a semaphore; nothing switches between the last check and the decrement.
    unsafe {
        while (&raw const (*semaphore).value).read_volatile() == 0 {
            match park(semaphore as usize, "semaphore", deadline) {
                Wake::Woken => {}
                Wake::TimedOut => return errno::fail(libc::ETIMEDOUT),
                Wake::Interrupted => {
                    if cancel::is_due() {
                        return CANCELLED;
                    }
                    if crate::signals::interrupts() {
                        return errno::fail(libc::EINTR);
                    }
                }
            }
            touch_update(semaphore as usize);
        }
        (*semaphore).value -= 1;
        if (*semaphore).value > 0 && is_waited_for(semaphore as usize) {
            wake_one(semaphore as usize);
        }
    }
    charge(INSTRUCTIONS);
    0
}

/// `sem_wait`.
unsafe extern "C" fn semaphore_wait(semaphore: *mut Semaphore) -> i32 {
    // SAFETY: the same contract.
    unsafe { wait(semaphore, None) }
}

/// `sem_trywait`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sem_trywait(semaphore: *mut Semaphore) -> i32 {
    touch_update(semaphore as usize);
    charge(INSTRUCTIONS);
    // SAFETY: the caller passes a semaphore.
    unsafe {
        if (*semaphore).value == 0 {
            crate::spin::poll(semaphore as usize, 0, crate::spin::UPDATE);
            return errno::fail(libc::EAGAIN);
        }
        (*semaphore).value -= 1;
    }
    0
}

/// `sem_timedwait`.
unsafe extern "C" fn semaphore_timedwait(semaphore: *mut Semaphore, until: *const libc::timespec) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe { semaphore_clockwait(semaphore, libc::CLOCK_REALTIME, until) }
}

/// `sem_clockwait`.
unsafe extern "C" fn semaphore_clockwait(
    semaphore: *mut Semaphore,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe {
        if (*semaphore).value == 0 && !clock::is_valid(until) {
            return errno::fail(libc::EINVAL);
        }
        wait(semaphore, clock::deadline_at(clock, until))
    }
}

cancellation_point!(
    sem_wait => semaphore_wait,
    sem_timedwait => semaphore_timedwait,
    sem_clockwait => semaphore_clockwait,
);

/// `sem_getvalue`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sem_getvalue(semaphore: *mut Semaphore, value: *mut i32) -> i32 {
    // SAFETY: the caller passes a semaphore and room for a value.
    unsafe { *value = (*semaphore).value as i32 };
    0
}
