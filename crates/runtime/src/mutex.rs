//! Mutexes: normal, recursive, error-checking and adaptive; robust ones as normal.
//!
//! The state lives in the program's `pthread_mutex_t` at glibc's places, so static initialisers work: lock word, depth,
//! owner, and the kind. The lock word is 0 free, 1 taken, 2 taken with waiters. An unlock wakes the first waiter, which tries
//! again: another thread may get in between, as with the real one. Each operation makes the accesses of the real one: a
//! read and a write of the lock word.

use crate::access::touch_update;
use crate::clock;
use crate::locks;
use crate::schedule::{Wake, charge, is_waited_for, park, wake_one};
use crate::state::with;
use olifant_opium::facts::LockKind;

/// Instructions of a lock or an unlock beside its accesses.
const INSTRUCTIONS: u64 = 20;
/// Instructions of going to sleep or of waking somebody.
const WAIT_INSTRUCTIONS: u64 = 500;

const RECURSIVE: i32 = 1;
const ERROR_CHECK: i32 = 2;

/// glibc's layout of a mutex, as far as it is used.
#[repr(C)]
pub struct Mutex {
    lock: i32,
    depth: u32,
    owner: u32,
    users: u32,
    kind: i32,
}

impl Mutex {
    fn kind(&self) -> i32 {
        self.kind & 3
    }
}

/// Owner mark of the running thread: its number plus one.
fn me() -> u32 {
    with(|runtime| runtime.current as u32 + 1)
}

/// Locks; with a deadline in cycles, `ETIMEDOUT` after it.
///
/// # Safety
/// `mutex` must point at an initialised mutex.
pub unsafe fn lock(mutex: *mut Mutex, deadline: Option<u64>) -> i32 {
    let me = me();
    // SAFETY: the caller passes a mutex, and all accesses to it are made by contexts of one operating-system thread.
    // Nothing switches between a check and the store that depends on it.
    unsafe {
        touch_update(&raw const (*mutex).lock as usize);
        if (*mutex).lock != 0 && (*mutex).owner == me {
            match (*mutex).kind() {
                RECURSIVE => {
                    (*mutex).depth += 1;
                    charge(INSTRUCTIONS);
                    return 0;
                }
                ERROR_CHECK => return libc::EDEADLK,
                _ => {}
            }
        }
        while (*mutex).lock != 0 {
            (*mutex).lock = 2;
            with(|runtime| locks::waits(runtime, mutex as usize));
            charge(WAIT_INSTRUCTIONS);
            if (*mutex).lock == 0 {
                break;
            }
            (*mutex).lock = 2;
            let wake = park(mutex as usize, "mutex", deadline);
            if wake == Wake::TimedOut {
                return libc::ETIMEDOUT;
            }
            touch_update(&raw const (*mutex).lock as usize);
        }
        take(mutex, me);
    }
    with(|runtime| locks::acquired(runtime, LockKind::Mutex, mutex as usize));
    charge(INSTRUCTIONS);
    0
}

/// Marks a free mutex as taken.
unsafe fn take(mutex: *mut Mutex, me: u32) {
    // SAFETY: as in the callers.
    unsafe {
        (*mutex).lock = if is_waited_for(mutex as usize) { 2 } else { 1 };
        (*mutex).owner = me;
        (*mutex).depth = 1;
    }
}

/// Unlocks.
///
/// # Safety
/// `mutex` must point at an initialised mutex.
pub unsafe fn unlock(mutex: *mut Mutex) -> i32 {
    let me = me();
    // SAFETY: as in `lock`.
    unsafe {
        touch_update(&raw const (*mutex).lock as usize);
        if (*mutex).kind() != 0 && (*mutex).kind() != 3 && ((*mutex).lock == 0 || (*mutex).owner != me) {
            return libc::EPERM;
        }
        if (*mutex).kind() == RECURSIVE && (*mutex).depth > 1 {
            (*mutex).depth -= 1;
            charge(INSTRUCTIONS);
            return 0;
        }
        let had_waiters = (*mutex).lock == 2;
        (*mutex).lock = 0;
        (*mutex).owner = 0;
        (*mutex).depth = 0;
        if had_waiters && wake_one(mutex as usize) {
            charge(WAIT_INSTRUCTIONS);
        }
    }
    charge(INSTRUCTIONS);
    0
}

/// Takes a mutex if it is free.
unsafe fn try_lock(mutex: *mut Mutex) -> i32 {
    let me = me();
    // SAFETY: as in `lock`.
    unsafe {
        touch_update(&raw const (*mutex).lock as usize);
        if (*mutex).lock == 0 {
            take(mutex, me);
            with(|runtime| locks::acquired(runtime, LockKind::Mutex, mutex as usize));
            crate::spin::forget();
        } else if (*mutex).owner == me && (*mutex).kind() == RECURSIVE {
            (*mutex).depth += 1;
        } else {
            with(|runtime| locks::waits(runtime, mutex as usize));
            crate::spin::poll(&raw const (*mutex).lock as usize, 1, crate::spin::UPDATE);
            return libc::EBUSY;
        }
    }
    charge(INSTRUCTIONS);
    0
}

/// `pthread_mutex_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_init(mutex: *mut Mutex, attributes: *const i32) -> i32 {
    // SAFETY: the caller passes room for a mutex, and null or initialised attributes, whose low bits are the kind.
    unsafe {
        mutex.cast::<libc::pthread_mutex_t>().write_bytes(0, 1);
        if !attributes.is_null() {
            (*mutex).kind = *attributes & 3;
        }
        crate::access::touch(mutex as usize, crate::access::WRITE + INSTRUCTIONS);
    }
    0
}

/// `pthread_mutex_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_destroy(mutex: *mut Mutex) -> i32 {
    // SAFETY: the caller passes a mutex.
    if unsafe { (*mutex).lock } != 0 { libc::EBUSY } else { 0 }
}

/// `pthread_mutex_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_lock(mutex: *mut Mutex) -> i32 {
    if !crate::state::is_free() {
        return 0;
    }
    // SAFETY: the caller passes a mutex.
    unsafe { lock(mutex, None) }
}

/// `pthread_mutex_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_unlock(mutex: *mut Mutex) -> i32 {
    if !crate::state::is_free() {
        return 0;
    }
    // SAFETY: the caller passes a mutex.
    unsafe { unlock(mutex) }
}

/// `pthread_mutex_trylock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_trylock(mutex: *mut Mutex) -> i32 {
    // SAFETY: the caller passes a mutex.
    unsafe { try_lock(mutex) }
}

/// `pthread_mutex_timedlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_timedlock(mutex: *mut Mutex, until: *const libc::timespec) -> i32 {
    // SAFETY: the caller passes a mutex and a time.
    unsafe { lock(mutex, clock::deadline_at(libc::CLOCK_REALTIME, until)) }
}

/// `pthread_mutex_clocklock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_clocklock(
    mutex: *mut Mutex,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the caller passes a mutex and a time.
    unsafe { lock(mutex, clock::deadline_at(clock, until)) }
}

/// `pthread_mutex_consistent`: robust mutexes are normal ones here, always consistent.
#[unsafe(no_mangle)]
extern "C" fn pthread_mutex_consistent(_mutex: *mut Mutex) -> i32 {
    0
}
