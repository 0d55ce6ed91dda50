//! The calls that make threads and name them: pthread_create, thrd_create, pthread_setname_np, prctl.
//!
//! A placed thread begins in [`begin`], which binds it and then jumps to the program's function, so that the stack is as
//! without us when the thread is cancelled or leaves.

use crate::real::real;
use crate::{counters, threads};
use core::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use olifant_sys::Tid;

real! {
    PTHREAD_CREATE, real_pthread_create: fn(
        thread: *mut libc::pthread_t, attributes: *const c_void, function: *const c_void, argument: *mut c_void
    ) -> c_int = c"pthread_create" or libc::EAGAIN;
    THRD_CREATE, real_thrd_create: fn(
        thread: *mut libc::pthread_t, function: *const c_void, argument: *mut c_void
    ) -> c_int = c"thrd_create" or THRD_ERROR;
    PTHREAD_SETNAME, real_pthread_setname: fn(thread: libc::pthread_t, name: *const c_char) -> c_int
        = c"pthread_setname_np" or libc::ENOSYS;
}

/// thrd_error of threads.h.
const THRD_ERROR: c_int = 2;

/// What a new thread is to do.
struct Start {
    function: *const c_void,
    argument: *mut c_void,
    number: u32,
}

/// A function and its argument, in the two registers of an answer.
#[repr(C)]
struct Call {
    function: *const c_void,
    argument: *mut c_void,
}

/// Where placed threads begin.
#[unsafe(naked)]
unsafe extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    core::arch::naked_asm!(
        // The stack is at a multiple of 16 for the call.
        "push rbp",
        "call {place}",
        "pop rbp",
        "mov rdi, rdx",
        "jmp rax",
        place = sym place,
    )
}

/// Binds the new thread; says what it is to do.
unsafe extern "C" fn place(start: *mut c_void) -> Call {
    // SAFETY: `placed` made the box for this thread alone.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    threads::place_calling(start.number);
    Call { function: start.function, argument: start.argument }
}

/// Makes a thread by `make`, which takes a function and its argument, and has it begin in [`begin`].
fn placed(
    function: *const c_void,
    argument: *mut c_void,
    make: impl FnOnce(*const c_void, *mut c_void) -> c_int,
) -> c_int {
    // The number is that of the call, so that threads are numbered in the order of their making.
    let number = counters::current().next_thread();
    let start: *mut Start = Box::into_raw(Box::new(Start { function, argument, number }));
    let answer = make(begin as *const c_void, start.cast());
    if answer != 0 {
        // SAFETY: no thread was made, so the box is still ours.
        drop(unsafe { Box::from_raw(start) });
    }
    answer
}

/// pthread_create(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const c_void,
    function: *const c_void,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the arguments are the caller's, or `begin` with what it takes.
    let make = |function, argument| unsafe { real_pthread_create(thread, attributes, function, argument) };
    if threads::rules().is_some() { placed(function, argument, make) } else { make(function, argument) }
}

/// thrd_create(3), which the C library does not make by pthread_create.
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_create(
    thread: *mut libc::pthread_t,
    function: *const c_void,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: as above; the function's answer is an int, which `begin` passes through.
    let make = |function, argument| unsafe { real_thrd_create(thread, function, argument) };
    if threads::rules().is_some() { placed(function, argument, make) } else { make(function, argument) }
}

/// pthread_setname_np(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setname_np(thread: libc::pthread_t, name: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's.
    let answer = unsafe { real_pthread_setname(thread, name) };
    if answer == 0 && threads::rules().is_some() {
        // SAFETY: the C library has just read the name.
        let name = unsafe { CStr::from_ptr(name) };
        // SAFETY: no arguments.
        if thread == unsafe { libc::pthread_self() } {
            threads::renamed(Tid::CALLING, name.to_bytes());
        } else {
            renamed_other(thread, name.to_bytes());
        }
    }
    answer
}

/// Another thread was named. Its number in the kernel is told by the clock that the C library makes of it.
fn renamed_other(thread: libc::pthread_t, name: &[u8]) {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: the thread was just named, so it is there; one number is written.
    if unsafe { libc::pthread_getcpuclockid(thread, &raw mut clock) } == 0 {
        // Source: clock_getcpuclockid(3) of glibc, CPUCLOCK_PID: the number is kept inverted above the low three bits.
        threads::renamed(Tid(!(clock >> 3)), name);
    }
}

/// prctl(2): PR_SET_NAME names the calling thread.
#[unsafe(no_mangle)]
unsafe extern "C" fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int {
    // SAFETY: the arguments are the caller's. A call with fewer leaves the rest to chance, as the C library does.
    let answer = unsafe { libc::syscall(libc::SYS_prctl, option, a, b, c, d) };
    if option == libc::PR_SET_NAME && answer == 0 && threads::rules().is_some() {
        // SAFETY: the kernel has just read the name, of which 15 letters count.
        let name = unsafe { CStr::from_ptr(a as *const c_char) };
        let letters = name.to_bytes();
        threads::renamed(Tid::CALLING, &letters[..letters.len().min(15)]);
    }
    answer as c_int
}

/// Finds the C library's versions before they are needed.
pub fn find_real() {
    PTHREAD_CREATE.address();
    THRD_CREATE.address();
    PTHREAD_SETNAME.address();
}
