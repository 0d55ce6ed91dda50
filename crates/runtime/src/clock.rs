//! Time for the program: simulated, from a fixed epoch.
//!
//! Every clock shows the running thread's simulated clock; CPU-time clocks start at zero, the others at the epoch (monotonic ones
//! a day after "boot"). Sleeping is waiting until a simulated time.

use crate::cancel::{self, CANCELLED, cancellation_point};
use crate::errno;
use crate::schedule::{Wake, charge, park};
use crate::state::{is_free, with};

/// 2001-09-09 01:46:40 UTC: what the program takes for the start of its run.
const EPOCH_SECONDS: u64 = 1_000_000_000;
/// What monotonic clocks show at the start.
const BOOT_SECONDS: u64 = 86_400;
/// Cost of reading a clock.
const INSTRUCTIONS: u64 = 50;
const NANOS: u64 = 1_000_000_000;

/// Seconds that a clock showed when the run began.
fn offset_seconds(clock: libc::clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => EPOCH_SECONDS,
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => BOOT_SECONDS,
        _ => 0,
    }
}

/// Simulated nanoseconds since the start.
fn now_nanos() -> u64 {
    if !is_free() {
        return 0;
    }
    with(|runtime| {
        let hertz = runtime.system.clock().0;
        let now = (runtime.system.now_cycles() as f64 * 1e9 / hertz) as u64;
        // Processors are up to a quantum apart; a clock that two threads read in turn must not go back.
        runtime.latest_nanos = runtime.latest_nanos.max(now);
        runtime.latest_nanos
    })
}

/// Simulated cycles that so many nanoseconds take, rounded up.
pub fn cycles(nanos: u64) -> u64 {
    with(|runtime| (nanos as f64 * runtime.system.clock().0 / 1e9).ceil() as u64)
}

/// The cycle at which a sleep of so many nanoseconds ends.
pub fn after(nanos: u64) -> u64 {
    let length = cycles(nanos);
    with(|runtime| runtime.system.now_cycles().saturating_add(length))
}

/// The cycle at which `clock` shows `until`; `None` for a null pointer.
///
/// # Safety
/// `until` must be null or valid for reading.
pub unsafe fn deadline_at(clock: libc::clockid_t, until: *const libc::timespec) -> Option<u64> {
    if until.is_null() {
        return None;
    }
    // SAFETY: as promised by the caller.
    let until = unsafe { until.read() };
    let seconds = (until.tv_sec as i128 - offset_seconds(clock) as i128).max(0);
    let nanos = seconds * NANOS as i128 + until.tv_nsec as i128;
    Some(cycles(nanos.min(i128::from(u64::MAX / 4)) as u64))
}

/// Whether a time is well formed.
///
/// # Safety
/// `time` must be null or valid for reading.
pub unsafe fn is_valid(time: *const libc::timespec) -> bool {
    // SAFETY: as promised by the caller.
    !time.is_null() && unsafe { (0..NANOS as i64).contains(&(*time).tv_nsec) }
}

fn read(clock: libc::clockid_t) -> libc::timespec {
    let nanos = now_nanos();
    if is_free() {
        with(|runtime| runtime.system.charge(INSTRUCTIONS));
    }
    libc::timespec { tv_sec: (offset_seconds(clock) + nanos / NANOS) as i64, tv_nsec: (nanos % NANOS) as i64 }
}

/// `clock_gettime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> i32 {
    // SAFETY: the caller passes room for a time.
    unsafe { *time = read(clock) };
    0
}

/// `timespec_get`.
#[unsafe(no_mangle)]
unsafe extern "C" fn timespec_get(time: *mut libc::timespec, base: i32) -> i32 {
    // SAFETY: the caller passes room for a time.
    unsafe { *time = read(libc::CLOCK_REALTIME) };
    base
}

/// `clock_getres`: one nanosecond.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_getres(_clock: libc::clockid_t, time: *mut libc::timespec) -> i32 {
    if !time.is_null() {
        // SAFETY: the caller passes null or room for a time.
        unsafe { *time = libc::timespec { tv_sec: 0, tv_nsec: 1 } };
    }
    0
}

/// `gettimeofday`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut libc::timeval, zone: *mut [i32; 2]) -> i32 {
    let now = read(libc::CLOCK_REALTIME);
    // SAFETY: the caller passes null or room for each.
    unsafe {
        if !time.is_null() {
            *time = libc::timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000 };
        }
        if !zone.is_null() {
            *zone = [0; 2];
        }
    }
    0
}

/// `time`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(result: *mut libc::time_t) -> libc::time_t {
    let now = read(libc::CLOCK_REALTIME).tv_sec;
    if !result.is_null() {
        // SAFETY: the caller passes null or room for a time.
        unsafe { *result = now };
    }
    now
}

/// `clock`: simulated microseconds since the start.
#[unsafe(no_mangle)]
extern "C" fn clock() -> libc::clock_t {
    (now_nanos() / 1000) as libc::clock_t
}

/// `times`: simulated time as user time.
#[unsafe(no_mangle)]
unsafe extern "C" fn times(buffer: *mut libc::tms) -> libc::clock_t {
    let ticks = (now_nanos() / (NANOS / 100)) as libc::clock_t;
    if !buffer.is_null() {
        // SAFETY: the caller passes null or room for the record.
        unsafe { *buffer = libc::tms { tms_utime: ticks, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 } };
    }
    ticks + (BOOT_SECONDS * 100) as libc::clock_t
}

/// `getrusage`: the kernel's answer with simulated user time and no counts that differ from run to run.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrusage(_who: i32, usage: *mut libc::rusage) -> i32 {
    let nanos = now_nanos();
    // SAFETY: the caller passes room for the record, of which all zeros is a valid value.
    unsafe {
        usage.write_bytes(0, 1);
        (*usage).ru_utime.tv_sec = (nanos / NANOS) as i64;
        (*usage).ru_utime.tv_usec = (nanos % NANOS / 1000) as i64;
    }
    0
}

/// Sleeps until a simulated cycle. `None` after it, else the cycles left when a signal came or the thread was cancelled.
fn sleep_until(deadline: u64) -> Option<u64> {
    let queue = with(|runtime| &raw const runtime.threads[runtime.current].wait as usize);
    loop {
        let wake = park(queue, "sleep", Some(deadline));
        if wake == Wake::TimedOut {
            return None;
        }
        if cancel::is_due() || crate::signals::interrupts() {
            let now = with(|runtime| runtime.system.now_cycles());
            return Some(deadline.saturating_sub(now));
        }
    }
}

fn to_timespec(cycles: u64) -> libc::timespec {
    let nanos = with(|runtime| (cycles as f64 * 1e9 / runtime.system.clock().0) as u64);
    libc::timespec { tv_sec: (nanos / NANOS) as i64, tv_nsec: (nanos % NANOS) as i64 }
}

fn sleep_to(deadline: u64, left: *mut libc::timespec) -> i32 {
    if cancel::is_due() {
        return CANCELLED;
    }
    charge(INSTRUCTIONS);
    match sleep_until(deadline) {
        None => 0,
        Some(_) if cancel::is_due() => CANCELLED,
        Some(rest) => {
            if !left.is_null() {
                // SAFETY: the caller passed null or room for a time.
                unsafe { *left = to_timespec(rest) };
            }
            libc::EINTR
        }
    }
}

/// Sleeps for a time; 0, an errno, or [`CANCELLED`].
///
/// # Safety
/// `time` must be valid for reading, `left` null or valid for writing.
pub unsafe fn sleep_for(time: *const libc::timespec, left: *mut libc::timespec) -> i32 {
    // SAFETY: as promised by the caller.
    unsafe {
        if !is_valid(time) || (*time).tv_sec < 0 {
            return libc::EINVAL;
        }
        let nanos = ((*time).tv_sec as u64).saturating_mul(NANOS).saturating_add((*time).tv_nsec as u64);
        sleep_to(after(nanos), left)
    }
}

/// Turns an errno into -1 and errno, and leaves [`CANCELLED`] alone.
fn to_result(error: i32) -> i32 {
    match error {
        0 | CANCELLED => error,
        _ => errno::fail(error),
    }
}

unsafe extern "C" fn nano_sleep(time: *const libc::timespec, left: *mut libc::timespec) -> i32 {
    // SAFETY: the same contract.
    to_result(unsafe { sleep_for(time, left) })
}

unsafe extern "C" fn clock_sleep(
    clock: libc::clockid_t,
    flags: i32,
    time: *const libc::timespec,
    left: *mut libc::timespec,
) -> i32 {
    // SAFETY: the same contract.
    unsafe {
        if flags & libc::TIMER_ABSTIME == 0 {
            return sleep_for(time, left);
        }
        if !is_valid(time) {
            return libc::EINVAL;
        }
        match deadline_at(clock, time) {
            Some(deadline) => sleep_to(deadline, core::ptr::null_mut()),
            None => libc::EFAULT,
        }
    }
}

/// The system call clock_nanosleep. Returns what the kernel would.
///
/// # Safety
/// The pointers are null or valid.
pub unsafe fn kernel_sleep(
    clock: i32,
    flags: i32,
    time: *const libc::timespec,
    left: *mut libc::timespec,
) -> isize {
    // SAFETY: the same contract.
    match unsafe { clock_sleep(clock, flags, time, left) } {
        // Cancellation takes effect at the next call of ours.
        CANCELLED => -(libc::EINTR as isize),
        error => -(error as isize),
    }
}

extern "C" fn micro_sleep(microseconds: u32) -> i32 {
    to_result(sleep_to(after(u64::from(microseconds) * 1000), core::ptr::null_mut()))
}

extern "C" fn second_sleep(seconds: u32) -> i32 {
    let mut left = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    match sleep_to(after(u64::from(seconds) * NANOS), &mut left) {
        libc::EINTR => left.tv_sec as i32 + i32::from(left.tv_nsec > 0),
        result => result,
    }
}

cancellation_point!(
    nanosleep => nano_sleep,
    clock_nanosleep => clock_sleep,
    usleep => micro_sleep,
    sleep => second_sleep,
);
