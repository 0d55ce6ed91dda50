//! C11's `threads.h`, on top of the POSIX calls: same objects, other result codes.

use crate::cond::{self, Condition};
use crate::mutex::{self, Mutex};
use crate::thread;

const THRD_SUCCESS: i32 = 0;
const THRD_BUSY: i32 = 1;
const THRD_ERROR: i32 = 2;
const THRD_NOMEM: i32 = 3;
const THRD_TIMEDOUT: i32 = 4;

/// `mtx_recursive`: the bit of a kind.
const MTX_RECURSIVE: i32 = 1;

/// C11's result for an errno.
pub fn from_errno(error: i32) -> i32 {
    match error {
        0 => THRD_SUCCESS,
        libc::EBUSY => THRD_BUSY,
        libc::ENOMEM | libc::EAGAIN => THRD_NOMEM,
        libc::ETIMEDOUT => THRD_TIMEDOUT,
        _ => THRD_ERROR,
    }
}

/// `mtx_init`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_init(mutex: *mut Mutex, kind: i32) -> i32 {
    let attributes = kind & MTX_RECURSIVE;
    // SAFETY: the same contract; POSIX's recursive kind is 1 as well.
    from_errno(unsafe { mutex::pthread_mutex_init(mutex, &attributes) })
}

/// `mtx_destroy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_destroy(mutex: *mut Mutex) {
    // SAFETY: the same contract.
    unsafe { mutex::pthread_mutex_destroy(mutex) };
}

/// `mtx_lock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_lock(mutex: *mut Mutex) -> i32 {
    // SAFETY: the same contract.
    from_errno(unsafe { mutex::pthread_mutex_lock(mutex) })
}

/// `mtx_trylock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_trylock(mutex: *mut Mutex) -> i32 {
    // SAFETY: the same contract.
    from_errno(unsafe { mutex::pthread_mutex_trylock(mutex) })
}

/// `mtx_timedlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_timedlock(mutex: *mut Mutex, until: *const libc::timespec) -> i32 {
    // SAFETY: the same contract.
    from_errno(unsafe { mutex::pthread_mutex_timedlock(mutex, until) })
}

/// `mtx_unlock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_unlock(mutex: *mut Mutex) -> i32 {
    // SAFETY: the same contract.
    from_errno(unsafe { mutex::pthread_mutex_unlock(mutex) })
}

/// `cnd_init`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_init(condition: *mut Condition) -> i32 {
    // SAFETY: the same contract.
    from_errno(unsafe { cond::pthread_cond_init(condition, core::ptr::null()) })
}

/// `cnd_destroy`.
#[unsafe(no_mangle)]
extern "C" fn cnd_destroy(_condition: *mut Condition) {}

/// `cnd_wait`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_wait(condition: *mut Condition, mutex: *mut Mutex) -> i32 {
    // SAFETY: the same contract.
    from_errno(unsafe { cond::cond_wait(condition, mutex) })
}

/// `cnd_timedwait`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_timedwait(
    condition: *mut Condition,
    mutex: *mut Mutex,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract.
    from_errno(unsafe { cond::cond_timedwait(condition, mutex, until) })
}

/// `cnd_signal`.
#[unsafe(no_mangle)]
extern "C" fn cnd_signal(condition: *mut Condition) -> i32 {
    from_errno(cond::pthread_cond_signal(condition))
}

/// `cnd_broadcast`.
#[unsafe(no_mangle)]
extern "C" fn cnd_broadcast(condition: *mut Condition) -> i32 {
    from_errno(cond::pthread_cond_broadcast(condition))
}

/// `thrd_create`.
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_create(
    handle: *mut libc::pthread_t,
    routine: crate::context::Routine,
    argument: usize,
) -> i32 {
    // The routine returns an int in the low half of the result register.
    // SAFETY: the same contract; the attributes are absent.
    from_errno(unsafe { thread::pthread_create(handle, core::ptr::null(), routine, argument) })
}

/// `thrd_join`.
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_join(handle: u64, result: *mut i32) -> i32 {
    let mut value = 0usize;
    // SAFETY: the value has room for a result; the caller passes null or room for an int.
    unsafe {
        let error = thread::join(handle, &mut value, None, true);
        if error == 0 && !result.is_null() {
            *result = value as i32;
        }
        from_errno(error)
    }
}

/// `thrd_detach`.
#[unsafe(no_mangle)]
extern "C" fn thrd_detach(handle: u64) -> i32 {
    from_errno(thread::pthread_detach(handle))
}

/// `thrd_exit`: its int goes where a thread's result is kept.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn thrd_exit(result: i32) {
    core::arch::naked_asm!("movsxd rdi, edi", "jmp {exit}", exit = sym crate::cancel::pthread_exit)
}

/// `thrd_current`.
#[unsafe(no_mangle)]
extern "C" fn thrd_current() -> u64 {
    crate::registers::fs()
}

/// `thrd_equal`.
#[unsafe(no_mangle)]
extern "C" fn thrd_equal(one: u64, other: u64) -> i32 {
    i32::from(one == other)
}

/// `thrd_yield`.
#[unsafe(no_mangle)]
extern "C" fn thrd_yield() {
    crate::spin::yield_now();
}

/// `thrd_sleep`: 0, or -1 if interrupted.
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_sleep(time: *const libc::timespec, left: *mut libc::timespec) -> i32 {
    // SAFETY: the same contract.
    match unsafe { crate::clock::sleep_for(time, left) } {
        0 => 0,
        libc::EINTR => -1,
        _ => -2,
    }
}
