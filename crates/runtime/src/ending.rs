//! How a run ends: `exit` and its like, a deadlock, a fatal signal; and the profile that each leaves.

use crate::profile;
use crate::real::real;
use crate::say::say;
use crate::state::{is_free, with};
use crate::{sys, thread_end};
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

/// Calls between two looks at the host's clock.
const CALLS_PER_LOOK: u32 = 256;
/// Exit code of a run that cannot go on.
const FAILURE: i32 = 2;
/// The exit code when Olifant, not the program, gives up, as of env(1).
const REFUSAL: i32 = 125;

static IS_COMPLETE: AtomicBool = AtomicBool::new(false);
/// Who started the process, and collects the profile.
static LAUNCHER: AtomicI32 = AtomicI32::new(0);
static CALLS: AtomicU32 = AtomicU32::new(0);
static NEXT_CHECKPOINT: AtomicU64 = AtomicU64::new(u64::MAX);

unsafe extern "C" {
    fn on_exit(handler: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut c_void), library: *mut c_void) -> i32;
}

extern "C" fn at_exit(code: i32, _: *mut c_void) {
    leave_profile(true, code & 0xff);
}

extern "C" fn at_quick_exit(_: *mut c_void) {
    leave_profile(true, 0);
}

/// Sets up what happens at the end: the profile is written after all of the program's own exit handlers.
pub fn initialise(checkpoint_seconds: u32) {
    LAUNCHER.store(sys::parent(), Ordering::Relaxed);
    // SAFETY: the handlers have the right types and need no data. Handlers run in reverse order, and these are registered
    // before any other.
    unsafe {
        on_exit(at_exit, core::ptr::null_mut());
        __cxa_at_quick_exit(at_quick_exit, core::ptr::null_mut());
    }
    if checkpoint_seconds > 0 {
        NEXT_CHECKPOINT.store(next_checkpoint(checkpoint_seconds), Ordering::Relaxed);
    }
}

fn next_checkpoint(seconds: u32) -> u64 {
    sys::host_nanos(libc::CLOCK_MONOTONIC) + u64::from(seconds) * 1_000_000_000
}

/// Writes the profile as it stands, if the run is to leave one; says so if it cannot. After the complete one none follows.
pub fn leave_profile(is_complete: bool, exit_code: i32) {
    if IS_COMPLETE.load(Ordering::Relaxed)
        || !is_free()
        || !with(|runtime| runtime.may_dump && runtime.spec.dump.is_some())
    {
        return;
    }
    IS_COMPLETE.store(is_complete, Ordering::Relaxed);
    crate::modules::refresh();
    match with(|runtime| profile::write(runtime, is_complete, exit_code)) {
        Err(text) => say(&text),
        Ok(path) if sys::parent() != LAUNCHER.load(Ordering::Relaxed) => {
            say(&format!("olifant itself was ended: `olifant report {path}` shows what was measured"));
        }
        Ok(_) => {}
    }
}

/// Writes a checkpoint of the profile if the last one is old enough, so that a killed run loses little.
pub fn checkpoint_if_due() {
    let calls = CALLS.load(Ordering::Relaxed).wrapping_add(1);
    CALLS.store(calls, Ordering::Relaxed);
    if calls.is_multiple_of(CALLS_PER_LOOK)
        && sys::host_nanos(libc::CLOCK_MONOTONIC_COARSE) >= NEXT_CHECKPOINT.load(Ordering::Relaxed)
    {
        leave_profile(false, 0);
        let seconds = with(|runtime| runtime.spec.checkpoint_seconds);
        NEXT_CHECKPOINT.store(next_checkpoint(seconds), Ordering::Relaxed);
    }
}

/// Leaves the profile and ends the process at once.
pub fn leave_at_once(is_complete: bool, code: i32) -> ! {
    leave_profile(is_complete, code & 0xff);
    sys::exit_group(code)
}

/// Nobody can run: says who waits for what, leaves the profile, ends with code 2.
pub fn all_blocked() -> ! {
    let lines = with(|runtime| {
        let alive = runtime.threads.iter().enumerate().filter(|(_, thread)| !thread.has_ended);
        alive
            .map(|(number, thread)| {
                let name = if thread.name.is_empty() { String::new() } else { format!(" ({})", thread.name) };
                let what = match thread.wait {
                    Some(wait) if wait.object < 0x1_0000 => {
                        format!("{} (thread {})", wait.what, wait.object - 1)
                    }
                    Some(wait) if wait.object < 0x10_0000 => "a signal".to_string(),
                    Some(wait) => format!("{} {:#x}", wait.what, wait.object),
                    None => "nothing known".to_string(),
                };
                format!("\n  thread {number}{name} waits for {what}")
            })
            .collect::<String>()
    });
    say(&format!("deadlock: every thread of the program waits, and none can end another's wait:{lines}"));
    leave_at_once(false, FAILURE)
}

/// More threads than processors: the run is refused, not the program at fault.
pub fn oversubscribed(threads: usize, cpus: usize) -> ! {
    say(&format!(
        "{threads} threads of the program want to run and the machine has {cpus} processors: use a larger machine or \
         configuration, fewer threads, or let them take turns with --oversubscribe"
    ));
    leave_at_once(false, REFUSAL)
}

/// `exit`: destructors of the thread's objects, then the C library's own, whose last handler leaves the profile.
///
/// # Safety
/// As for `exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn exit(code: i32) -> ! {
    if is_free() {
        thread_end::run_destructors();
    }
    // SAFETY: the C library's exit does not return.
    unsafe { real!(c"exit" as fn(i32))(code) };
    sys::exit_group(code)
}

/// `_exit`.
#[unsafe(no_mangle)]
extern "C" fn _exit(code: i32) -> ! {
    leave_at_once(true, code)
}

/// `_Exit`.
#[unsafe(no_mangle)]
extern "C" fn _Exit(code: i32) -> ! {
    leave_at_once(true, code)
}
