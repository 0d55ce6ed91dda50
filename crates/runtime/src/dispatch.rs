//! System calls that reach the kernel from anywhere but the runtime come here first (Syscall User Dispatch, Linux 5.11).
//!
//! A call that waits in the kernel would stop every thread of the program, wherever it is made: in the program, in OpenMP's
//! inlined futex calls, in the C library's stdio. The kernel sends SIGSYS instead, and the handler, on the context's own
//! stack, does what the call means on the simulated machine or passes it on. Where the kernel lacks the feature,
//! only calls through `syscall` are caught.
//!
//! Cost: about 2 us of host time per call. Processes made by fork start without it; exec ends it.

use crate::state::{is_free, with};
use crate::{clock, errno, futex, io, process, signal_calls, signals, spin, sys};
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;
const PR_SYS_DISPATCH_ON: usize = 1;
const ALLOW: u8 = 0;
const BLOCK: u8 = 1;
/// Bytes of the `syscall` instruction.
const INSTRUCTION_BYTES: i64 = 2;

static SELECTOR: AtomicU8 = AtomicU8::new(ALLOW);
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Switches the dispatch on for this operating-system thread, where the kernel has it.
pub fn initialise() {
    signals::set_system_call_handler(on_system_call);
    let (start, length) = sys::stub_range();
    // SAFETY: the selector is a static byte; the stub's range lets the runtime's own calls pass.
    let result = unsafe {
        let arguments =
            [PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, start, length, SELECTOR.as_ptr() as usize, 0];
        sys::call(libc::SYS_prctl, arguments)
    };
    IS_ON.store(result == 0, Ordering::Relaxed);
    rearm();
}

/// Dispatches calls again after one was let through.
#[inline]
pub fn rearm() {
    if IS_ON.load(Ordering::Relaxed) {
        SELECTOR.store(BLOCK, Ordering::Relaxed);
    }
}

/// Lets calls of the C library pass while `work` runs.
pub fn let_through<R>(work: impl FnOnce() -> R) -> R {
    let before = SELECTOR.swap(ALLOW, Ordering::Relaxed);
    let result = work();
    SELECTOR.store(before, Ordering::Relaxed);
    result
}

/// The kernel's entry for a dispatched call.
unsafe extern "C" fn on_system_call(_: i32, _: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel passes a valid context, whose registers are those of the call.
    unsafe {
        let registers = &mut (*context).uc_mcontext.gregs;
        let argument = |register: i32| registers[register as usize] as usize;
        let arguments = [
            argument(libc::REG_RDI),
            argument(libc::REG_RSI),
            argument(libc::REG_RDX),
            argument(libc::REG_R10),
            argument(libc::REG_R8),
            argument(libc::REG_R9),
        ];
        let number = registers[libc::REG_RAX as usize];
        if makes_process(number) {
            // The new process or thread returns from the instruction itself, so it must be run in its place.
            SELECTOR.store(ALLOW, Ordering::Relaxed);
            registers[libc::REG_RIP as usize] -= INSTRUCTION_BYTES;
            return;
        }
        let result = call(number, arguments);
        (*context).uc_mcontext.gregs[libc::REG_RAX as usize] = result as i64;
    }
}

fn makes_process(number: i64) -> bool {
    matches!(number, libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork)
}

/// Does a system call of the program. Returns what the kernel would.
///
/// # Safety
/// The arguments are a program's for this call.
unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, ..] = arguments;
    // SAFETY: the arguments are passed to what they were meant for.
    unsafe {
        if !is_free() {
            return sys::call(number, arguments);
        }
        if let Some(result) = io::call(number, arguments) {
            return result;
        }
        match number {
            libc::SYS_futex => futex::call(arguments),
            libc::SYS_sched_yield => {
                spin::yield_now();
                0
            }
            libc::SYS_nanosleep => clock::kernel_sleep(libc::CLOCK_MONOTONIC, 0, a as *const _, b as *mut _),
            libc::SYS_clock_nanosleep => clock::kernel_sleep(a as i32, b as i32, c as *const _, d as *mut _),
            libc::SYS_clock_gettime => clock::clock_gettime(a as i32, b as *mut _) as isize,
            libc::SYS_gettimeofday => clock::gettimeofday(a as *mut _, b as *mut _) as isize,
            libc::SYS_time => clock::time(a as *mut _) as isize,
            libc::SYS_rt_sigprocmask => {
                -(signal_calls::change_mask(a as i32, b as *const _, c as *mut _) as isize)
            }
            libc::SYS_rt_sigaction => signals::kernel_call(a as i32, b as *const _, c as *mut _),
            libc::SYS_gettid => process::thread_id(),
            libc::SYS_tgkill if a as i32 == sys::process_id() => process::signal_thread(b as i32, c as i32),
            libc::SYS_exit_group => crate::ending::leave_at_once(true, a as i32),
            libc::SYS_exit => crate::thread_end::returned(a),
            libc::SYS_execve | libc::SYS_execveat => {
                crate::ending::leave_profile(true, 0);
                sys::call(number, arguments)
            }
            _ => sys::call(number, arguments),
        }
    }
}

/// `syscall`.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 {
    // SAFETY: the same contract. A new process made this way returns from the stub like any call, which is right for
    // fork; new threads are refused.
    unsafe {
        if makes_process(number) {
            return match number {
                libc::SYS_fork | libc::SYS_vfork => i64::from(process::fork()),
                _ => errno::fail(libc::ENOSYS),
            };
        }
        errno::from_kernel(call(number, [a, b, c, d, e, f])) as i64
    }
}

/// In a new process: the same state, dispatched calls, no profile.
pub fn begin_child() {
    with(|runtime| runtime.may_dump = false);
    initialise();
}
