//! Spin locks: `pthread_spin_*`. A thread that finds one taken polls it, which the simulator parks.

use crate::access::touch_update;
use crate::schedule::charge;
use crate::state::with;
use crate::{locks, spin};
use olifant_opium::facts::LockKind;

const INSTRUCTIONS: u64 = 4;

/// `pthread_spin_init`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_init(lock: *mut i32, _shared: i32) -> i32 {
    // SAFETY: the caller passes room for a lock.
    unsafe { *lock = 0 };
    0
}

/// `pthread_spin_destroy`.
#[unsafe(no_mangle)]
extern "C" fn pthread_spin_destroy(_lock: *mut i32) -> i32 {
    0
}

/// `pthread_spin_lock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_lock(lock: *mut i32) -> i32 {
    // SAFETY: the caller passes a lock; nothing switches between the check and the store.
    unsafe {
        touch_update(lock as usize);
        while lock.read_volatile() != 0 {
            with(|runtime| locks::waits(runtime, lock as usize));
            spin::poll(lock as usize, 1, spin::UPDATE);
            touch_update(lock as usize);
        }
        *lock = 1;
    }
    with(|runtime| locks::acquired(runtime, LockKind::SpinLock, lock as usize));
    spin::forget();
    0
}

/// `pthread_spin_trylock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_trylock(lock: *mut i32) -> i32 {
    touch_update(lock as usize);
    // SAFETY: as in `pthread_spin_lock`.
    unsafe {
        if *lock != 0 {
            with(|runtime| locks::waits(runtime, lock as usize));
            spin::poll(lock as usize, 1, spin::UPDATE);
            return libc::EBUSY;
        }
        *lock = 1;
    }
    with(|runtime| locks::acquired(runtime, LockKind::SpinLock, lock as usize));
    charge(INSTRUCTIONS);
    0
}

/// `pthread_spin_unlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_unlock(lock: *mut i32) -> i32 {
    crate::access::touch(lock as usize, crate::access::WRITE + INSTRUCTIONS);
    // SAFETY: the caller passes a lock that it holds.
    unsafe { *lock = 0 };
    0
}
