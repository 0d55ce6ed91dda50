//! Reader-writer locks. As glibc by default, readers go before writers that wait, so that a thread may read-lock twice.

use crate::access::{WRITE, touch, touch_update};
use crate::clock;
use crate::schedule::{Wake, charge, park, wake_all};
use crate::state::with;

const INSTRUCTIONS: u64 = 30;

/// A lock as we use its 56 bytes; all zero is free, as the static initialiser makes it.
#[repr(C)]
struct ReadWriteLock {
    readers: u32,
    /// Number of the writing thread plus one; 0 without.
    writer: u32,
}

fn me() -> u32 {
    with(|runtime| runtime.current as u32 + 1)
}

// Read anew each time: they change while this thread is switched away.

unsafe fn is_written(lock: *const ReadWriteLock) -> bool {
    // SAFETY: the callers pass a lock.
    unsafe { (&raw const (*lock).writer).read_volatile() != 0 }
}

unsafe fn is_read(lock: *const ReadWriteLock) -> bool {
    // SAFETY: as above.
    unsafe { (&raw const (*lock).readers).read_volatile() != 0 }
}

unsafe fn read_lock(lock: *mut ReadWriteLock, deadline: Option<u64>, may_wait: bool) -> i32 {
    touch_update(lock as usize);
    // SAFETY: the caller passes a lock; nothing switches between a check and the store that depends on it.
    unsafe {
        if (*lock).writer == me() {
            return libc::EDEADLK;
        }
        while is_written(lock) {
            if !may_wait {
                return libc::EBUSY;
            }
            if park(lock as usize, "reader-writer lock (to read)", deadline) == Wake::TimedOut {
                return libc::ETIMEDOUT;
            }
            touch_update(lock as usize);
        }
        (*lock).readers += 1;
    }
    charge(INSTRUCTIONS);
    0
}

unsafe fn write_lock(lock: *mut ReadWriteLock, deadline: Option<u64>, may_wait: bool) -> i32 {
    touch_update(lock as usize);
    // SAFETY: as in `read_lock`.
    unsafe {
        if (*lock).writer == me() {
            return libc::EDEADLK;
        }
        while is_written(lock) || is_read(lock) {
            if !may_wait {
                return libc::EBUSY;
            }
            if park(lock as usize, "reader-writer lock (to write)", deadline) == Wake::TimedOut {
                return libc::ETIMEDOUT;
            }
            touch_update(lock as usize);
        }
        (*lock).writer = me();
    }
    charge(INSTRUCTIONS);
    0
}

/// `pthread_rwlock_init`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_init(lock: *mut ReadWriteLock, _attributes: *const i32) -> i32 {
    // SAFETY: the caller passes room for a lock.
    unsafe { lock.cast::<libc::pthread_rwlock_t>().write_bytes(0, 1) };
    touch(lock as usize, WRITE + INSTRUCTIONS);
    0
}

/// `pthread_rwlock_destroy`.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_destroy(_lock: *mut ReadWriteLock) -> i32 {
    0
}

/// `pthread_rwlock_rdlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_rdlock(lock: *mut ReadWriteLock) -> i32 {
    // SAFETY: the same contract.
    unsafe { read_lock(lock, None, true) }
}

/// `pthread_rwlock_tryrdlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_tryrdlock(lock: *mut ReadWriteLock) -> i32 {
    // SAFETY: the same contract.
    match unsafe { read_lock(lock, None, false) } {
        libc::EDEADLK => libc::EBUSY,
        error => error,
    }
}

/// `pthread_rwlock_wrlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_wrlock(lock: *mut ReadWriteLock) -> i32 {
    // SAFETY: the same contract.
    unsafe { write_lock(lock, None, true) }
}

/// `pthread_rwlock_trywrlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_trywrlock(lock: *mut ReadWriteLock) -> i32 {
    // SAFETY: the same contract.
    match unsafe { write_lock(lock, None, false) } {
        libc::EDEADLK => libc::EBUSY,
        error => error,
    }
}

/// `pthread_rwlock_timedrdlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_timedrdlock(
    lock: *mut ReadWriteLock,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe { read_lock(lock, clock::deadline_at(libc::CLOCK_REALTIME, until), true) }
}

/// `pthread_rwlock_timedwrlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_timedwrlock(
    lock: *mut ReadWriteLock,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe { write_lock(lock, clock::deadline_at(libc::CLOCK_REALTIME, until), true) }
}

/// `pthread_rwlock_clockrdlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_clockrdlock(
    lock: *mut ReadWriteLock,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe { read_lock(lock, clock::deadline_at(clock, until), true) }
}

/// `pthread_rwlock_clockwrlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_clockwrlock(
    lock: *mut ReadWriteLock,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is valid for reading.
    unsafe { write_lock(lock, clock::deadline_at(clock, until), true) }
}

/// `pthread_rwlock_unlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_unlock(lock: *mut ReadWriteLock) -> i32 {
    touch_update(lock as usize);
    // SAFETY: as in `read_lock`.
    unsafe {
        if (*lock).writer != 0 {
            if (*lock).writer != me() {
                return libc::EPERM;
            }
            (*lock).writer = 0;
        } else if (*lock).readers > 0 {
            (*lock).readers -= 1;
        } else {
            return libc::EPERM;
        }
        if (*lock).readers == 0 {
            wake_all(lock as usize);
        }
    }
    charge(INSTRUCTIONS);
    0
}
