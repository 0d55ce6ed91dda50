//! Cancellation, deferred always: it takes effect at the next call that waits (or `pthread_testcancel`).
//!
//! A cancelled thread leaves by `pthread_exit`, which unwinds its stack. No Rust function may be unwound (the runtime aborts
//! on panics), so a call that waits returns [`CANCELLED`] and the entry in assembler, from which all Rust frames have
//! returned, goes on into the C library's `pthread_exit` as if the program had called that.

use crate::real::real;
use crate::schedule::charge;
use crate::state::with;

/// What the Rust half of a waiting call returns for "leave by pthread_exit"; no such call returns this otherwise.
pub const CANCELLED: i32 = i32::MIN;

const PTHREAD_CANCEL_ENABLE: i32 = 0;
const PTHREAD_CANCEL_DISABLE: i32 = 1;
const PTHREAD_CANCELED: usize = usize::MAX;

/// Defines a C function that waits: its Rust half, and what to do if that says [`CANCELLED`].
macro_rules! cancellation_point {
    ($($name:ident => $rust_half:path),* $(,)?) => { $(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "call {rust_half}",
                "cmp eax, -2147483648",
                "je 2f",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "ret",
                "2:",
                ".cfi_adjust_cfa_offset 8",
                "call {prepare}",
                "mov rdi, -1",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "jmp rax",
                ".cfi_endproc",
                rust_half = sym $rust_half,
                prepare = sym $crate::cancel::prepare_exit,
            )
        }
    )* };
}
pub(crate) use cancellation_point;

/// Notes that the running thread ends as cancelled; returns the address of the C library's `pthread_exit`.
pub extern "C" fn prepare_exit() -> usize {
    note_result(PTHREAD_CANCELED)
}

/// Notes the running thread's result; returns the address of the C library's `pthread_exit`.
extern "C" fn note_result(result: usize) -> usize {
    with(|runtime| {
        let thread = runtime.running();
        thread.result = result;
        thread.defers_cancel = true;
    });
    real!(c"pthread_exit" as fn(usize)) as usize
}

/// `pthread_exit`: unwinds the stack, which runs destructors and cleanup handlers, down to the context's start.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn pthread_exit(result: usize) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "call {note_result}",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp rax",
        ".cfi_endproc",
        note_result = sym note_result,
    )
}

/// Whether the running thread must leave now.
pub fn is_due() -> bool {
    with(|runtime| {
        let thread = runtime.running();
        thread.is_cancelled && !thread.defers_cancel
    })
}

extern "C" fn test() -> i32 {
    if is_due() { CANCELLED } else { 0 }
}

cancellation_point!(pthread_testcancel => test);

/// `pthread_cancel`.
#[unsafe(no_mangle)]
extern "C" fn pthread_cancel(handle: u64) -> i32 {
    let Some(number) = crate::thread::number_of(handle) else { return libc::ESRCH };
    with(|runtime| {
        let thread = &mut runtime.threads[number];
        if !thread.has_ended {
            thread.is_cancelled = true;
            if !thread.defers_cancel {
                runtime.rouse(number);
            }
        }
    });
    charge(100);
    0
}

/// `pthread_setcancelstate`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setcancelstate(state: i32, old: *mut i32) -> i32 {
    if state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE {
        return libc::EINVAL;
    }
    let before = with(|runtime| {
        let thread = runtime.running();
        core::mem::replace(&mut thread.defers_cancel, state == PTHREAD_CANCEL_DISABLE)
    });
    if !old.is_null() {
        // SAFETY: the caller passes null or room for an int.
        unsafe { *old = i32::from(before) };
    }
    0
}

/// `pthread_setcanceltype`: accepted; asynchronous cancellation is deferred all the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setcanceltype(kind: i32, old: *mut i32) -> i32 {
    if kind != 0 && kind != 1 {
        return libc::EINVAL;
    }
    if !old.is_null() {
        // SAFETY: the caller passes null or room for an int.
        unsafe { *old = 0 };
    }
    0
}
