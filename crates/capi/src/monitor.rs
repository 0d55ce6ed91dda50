//! The monitor, where there is none: librset runs on the host's own hardware, which has no card that a program could ask.
//! Programs built with `olifant cc` get these calls from the runtime of the simulated machine instead.

use crate::answer::{Answer, Failure, done};
use core::ffi::{c_char, c_int, c_uint, c_void};
use olifant_sys::Errno;

fn none() -> c_int {
    let refused: Answer<()> = Err(Failure::new(
        Errno(libc::EOPNOTSUPP),
        "there is no monitor here: build the program with `olifant cc` and run it with `olifant run`",
    ));
    done(refused)
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_init() -> c_int {
    none()
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_region(
    _: *const c_char,
    _: *const c_void,
    _: usize,
    _: usize,
    _: c_uint,
) -> c_int {
    none()
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_start() -> c_int {
    none()
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_stop() -> c_int {
    none()
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_read(_: c_int, _: *const c_void, _: c_int, _: *mut u64) -> c_int {
    none()
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_clear(_: c_int) -> c_int {
    none()
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_threshold(_: c_int, _: u64, _: *const c_void, _: *mut c_void) -> c_int {
    none()
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_phase(_: *const c_char) -> c_int {
    none()
}
