//! Futexes of the program and of libraries that wait by system call (OpenMP's, Rust's, the C library's own locks): waiting
//! in the kernel would stop all threads, so they wait here. Within the process only; bit sets are ignored, which makes
//! some wake-ups spurious, as futexes allow.

use crate::access::{READ, touch};
use crate::clock;
use crate::schedule::{Wake, charge, park, wake_some};

const INSTRUCTIONS: u64 = 300;
const COMMAND_MASK: i32 = !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);

fn kernel_error(errno: i32) -> isize {
    -(errno as isize)
}

unsafe fn wait(word: usize, value: u32, deadline: Option<u64>) -> isize {
    touch(word, READ + INSTRUCTIONS);
    // SAFETY: the caller passes a futex word; nothing switches between the check and the wait.
    if unsafe { (word as *const u32).read_volatile() } != value {
        return kernel_error(libc::EAGAIN);
    }
    match park(word, "futex", deadline) {
        Wake::Woken => 0,
        Wake::TimedOut => kernel_error(libc::ETIMEDOUT),
        Wake::Interrupted => kernel_error(libc::EINTR),
    }
}

fn wake(word: usize, most: usize) -> isize {
    let woken = wake_some(word, most) as isize;
    charge(INSTRUCTIONS);
    woken
}

/// The system call. Returns what the kernel would.
///
/// # Safety
/// The arguments are a program's for futex(2).
pub unsafe fn call(arguments: [usize; 6]) -> isize {
    let [word, operation, value, timeout, _, expected] = arguments;
    let operation = operation as i32;
    let time = timeout as *const libc::timespec;
    // SAFETY: for waits the fourth argument is null or a time, as promised.
    unsafe {
        match operation & COMMAND_MASK {
            libc::FUTEX_WAIT => {
                let deadline = (!time.is_null()).then(|| {
                    clock::after(
                        ((*time).tv_sec as u64).saturating_mul(1_000_000_000) + (*time).tv_nsec as u64,
                    )
                });
                wait(word, value as u32, deadline)
            }
            libc::FUTEX_WAIT_BITSET => {
                let is_real = operation & libc::FUTEX_CLOCK_REALTIME != 0;
                let clock = if is_real { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
                wait(word, value as u32, clock::deadline_at(clock, time))
            }
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => wake(word, value as u32 as usize),
            libc::FUTEX_REQUEUE => wake(word, (value as u32 as usize).saturating_add(timeout)),
            libc::FUTEX_CMP_REQUEUE => {
                if (word as *const u32).read_volatile() != expected as u32 {
                    return kernel_error(libc::EAGAIN);
                }
                wake(word, (value as u32 as usize).saturating_add(timeout))
            }
            _ => kernel_error(libc::ENOSYS),
        }
    }
}
