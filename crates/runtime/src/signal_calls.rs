//! The program's calls about signals: actions, masks, sending, waiting.

use crate::cancel::{self, CANCELLED, cancellation_point};
use crate::schedule::{Wake, park};
use crate::signals::{self, Action, LAST, SIGNAL_WAIT, bit, interrupts, take_pending};
use crate::state::with;
use crate::{clock, errno, sys, thread};

/// libc's layout of an action, with its set of 128 bytes of which 8 are used.
#[repr(C)]
struct LibraryAction {
    handler: usize,
    mask: [u64; 16],
    flags: i32,
    restorer: usize,
}

const SIG_ERR: usize = usize::MAX;
/// Signals that cannot be blocked.
const UNBLOCKABLE: u64 = (1 << (libc::SIGKILL - 1)) | (1 << (libc::SIGSTOP - 1));

fn is_signal(signal: i32) -> bool {
    (1..=LAST as i32).contains(&signal)
}

/// `sigaction`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: i32, new: *const LibraryAction, old: *mut LibraryAction) -> i32 {
    if !is_signal(signal) || (!new.is_null() && bit(signal) & UNBLOCKABLE != 0) {
        return errno::fail(libc::EINVAL);
    }
    // SAFETY: the caller passes null or valid records.
    unsafe {
        let new = (!new.is_null()).then(|| Action {
            handler: (*new).handler,
            flags: (*new).flags as u32 as u64,
            restorer: 0,
            mask: (*new).mask[0],
        });
        let before = signals::exchange_action(signal, new);
        if !old.is_null() {
            let mut mask = [0; 16];
            mask[0] = before.mask;
            *old = LibraryAction { handler: before.handler, mask, flags: before.flags as i32, restorer: 0 };
        }
    }
    0
}

fn set_handler(signal: i32, handler: usize, flags: i32) -> usize {
    if !is_signal(signal) || bit(signal) & UNBLOCKABLE != 0 {
        return errno::fail::<i64>(libc::EINVAL) as usize;
    }
    let new = Action { handler, flags: flags as u64, restorer: 0, mask: 0 };
    signals::exchange_action(signal, Some(new)).handler
}

/// `signal`, as BSD's: the handler stays and system calls restart.
#[unsafe(no_mangle)]
extern "C" fn signal(signal: i32, handler: usize) -> usize {
    if handler == SIG_ERR {
        errno::fail::<i64>(libc::EINVAL) as usize
    } else {
        set_handler(signal, handler, libc::SA_RESTART)
    }
}

/// `sysv_signal`: the handler is for one time.
#[unsafe(no_mangle)]
extern "C" fn __sysv_signal(signal: i32, handler: usize) -> usize {
    set_handler(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER)
}

/// Changes the running thread's mask as `sigprocmask` does; an errno.
///
/// # Safety
/// The pointers are null or point at one word.
pub unsafe fn change_mask(how: i32, new: *const u64, old: *mut u64) -> i32 {
    // SAFETY: as promised by the caller.
    unsafe {
        let before = with(|runtime| runtime.running().signals.mask);
        if !new.is_null() {
            let set = *new & !UNBLOCKABLE;
            let mask = match how {
                libc::SIG_BLOCK => before | set,
                libc::SIG_UNBLOCK => before & !set,
                libc::SIG_SETMASK => set,
                _ => return libc::EINVAL,
            };
            with(|runtime| runtime.running().signals.mask = mask);
        }
        if !old.is_null() {
            *old = before;
        }
    }
    signals::deliver_pending();
    0
}

/// libc's sets are larger than the kernel's: clears what lies beyond the first word.
unsafe fn clear_rest(set: *mut u64) {
    if !set.is_null() {
        // SAFETY: the caller passes a set of libc's size, 16 words.
        unsafe { set.add(1).write_bytes(0, 15) };
    }
}

/// `pthread_sigmask`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(how: i32, new: *const u64, old: *mut u64) -> i32 {
    // SAFETY: the same contract.
    unsafe {
        clear_rest(old);
        change_mask(how, new, old)
    }
}

/// `sigprocmask`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(how: i32, new: *const u64, old: *mut u64) -> i32 {
    // SAFETY: the same contract.
    match unsafe { pthread_sigmask(how, new, old) } {
        0 => 0,
        error => errno::fail(error),
    }
}

/// `sigpending`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigpending(set: *mut u64) -> i32 {
    // SAFETY: the caller passes room for a set.
    unsafe {
        clear_rest(set);
        *set = signals::pending_set() & with(|runtime| runtime.running().signals.mask);
    }
    0
}

/// `raise`: to the calling thread.
#[unsafe(no_mangle)]
extern "C" fn raise(signal: i32) -> i32 {
    let number = with(|runtime| runtime.current);
    match send(number, signal) {
        0 => 0,
        error => errno::fail(error),
    }
}

/// Sends a signal to a thread; an errno.
fn send(number: usize, signal: i32) -> i32 {
    if signal == 0 {
        return 0;
    }
    if !is_signal(signal) {
        return libc::EINVAL;
    }
    if bit(signal) & UNBLOCKABLE != 0 || signals::is_left_to_kernel(signal) {
        // SAFETY: no memory is involved.
        unsafe { sys::call(libc::SYS_kill, [sys::process_id() as usize, signal as usize, 0, 0, 0, 0]) };
        return 0;
    }
    signals::send_to_thread(number, signal);
    signals::deliver_pending();
    0
}

/// `pthread_kill`.
#[unsafe(no_mangle)]
extern "C" fn pthread_kill(handle: u64, signal: i32) -> i32 {
    match thread::number_of(handle) {
        Some(number) => send(number, signal),
        None => libc::ESRCH,
    }
}

/// `kill`: within the process, what the kernel would do; to others, the kernel does it.
#[unsafe(no_mangle)]
extern "C" fn kill(process: i32, signal: i32) -> i32 {
    if process != sys::process_id() || signals::is_left_to_kernel(signal) || !is_signal(signal) {
        // SAFETY: no memory is involved.
        let result = unsafe { sys::call(libc::SYS_kill, [process as usize, signal as usize, 0, 0, 0, 0]) };
        return errno::from_kernel(result) as i32;
    }
    signals::send_to_process(signal);
    signals::deliver_pending();
    0
}

/// `abort`: the handler for SIGABRT, if there is one and it returns, changes nothing.
#[unsafe(no_mangle)]
extern "C" fn abort() -> ! {
    if crate::state::is_free() && signals::action(libc::SIGABRT).handler > libc::SIG_IGN {
        signals::deliver(libc::SIGABRT);
    }
    signals::die_by(libc::SIGABRT)
}

/// `sigaltstack`: kept per thread; a fault's handler that asks for it gets it.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> i32 {
    with(|runtime| {
        let stack = &mut runtime.running().signals.stack;
        let before = *stack;
        // SAFETY: the caller passes null or valid records.
        unsafe {
            if !new.is_null() {
                let is_off = (*new).ss_flags & libc::SS_DISABLE != 0;
                *stack = if is_off { (0, 0) } else { ((*new).ss_sp as usize, (*new).ss_size) };
            }
            if !old.is_null() {
                let ss_flags = if before.1 == 0 { libc::SS_DISABLE } else { 0 };
                *old = libc::stack_t { ss_sp: before.0 as *mut _, ss_flags, ss_size: before.1 };
            }
        }
    });
    0
}

/// Waits for one of `set`, which are blocked, and takes it; else an errno or [`CANCELLED`].
fn wait_for(set: u64, deadline: Option<u64>) -> Result<i32, i32> {
    let number = with(|runtime| runtime.current);
    loop {
        if let Some(signal) = take_pending(set) {
            return Ok(signal);
        }
        if cancel::is_due() {
            return Err(CANCELLED);
        }
        with(|runtime| runtime.running().signals.awaited = set);
        let wake = park(signals::wait_queue(number), SIGNAL_WAIT, deadline);
        with(|runtime| runtime.running().signals.awaited = 0);
        match wake {
            Wake::TimedOut => return take_pending(set).ok_or(libc::EAGAIN),
            _ if interrupts() => return take_pending(set).ok_or(libc::EINTR),
            _ => {}
        }
    }
}

unsafe extern "C" fn wait_one(set: *const u64, signal: *mut i32) -> i32 {
    // SAFETY: the caller passes a set and room for a signal.
    unsafe {
        loop {
            match wait_for(*set, None) {
                Ok(found) => {
                    *signal = found;
                    return 0;
                }
                Err(libc::EINTR) => {}
                Err(error) => return error,
            }
        }
    }
}

unsafe fn wait_info(set: *const u64, info: *mut libc::siginfo_t, deadline: Option<u64>) -> i32 {
    // SAFETY: the caller passes a set, and null or room for the information.
    unsafe {
        match wait_for(*set, deadline) {
            Ok(found) => {
                if !info.is_null() {
                    info.write_bytes(0, 1);
                    (*info).si_signo = found;
                }
                found
            }
            Err(CANCELLED) => CANCELLED,
            Err(error) => errno::fail(error),
        }
    }
}

unsafe extern "C" fn wait_with_info(set: *const u64, info: *mut libc::siginfo_t) -> i32 {
    // SAFETY: the same contract.
    unsafe { wait_info(set, info, None) }
}

unsafe extern "C" fn wait_timed(
    set: *const u64,
    info: *mut libc::siginfo_t,
    time: *const libc::timespec,
) -> i32 {
    // SAFETY: the same contract; the time is null or valid for reading.
    unsafe {
        let deadline = (!time.is_null())
            .then(|| clock::after((*time).tv_sec as u64 * 1_000_000_000 + (*time).tv_nsec as u64));
        wait_info(set, info, deadline)
    }
}

/// Waits until a handler has run, with this mask.
fn suspend_with(mask: u64) -> i32 {
    let number = with(|runtime| runtime.current);
    let before = with(|runtime| core::mem::replace(&mut runtime.running().signals.mask, mask));
    let ran = with(|runtime| runtime.threads[number].signals.handlers_run);
    signals::deliver_pending();
    let mut is_cancelled = false;
    while with(|runtime| runtime.threads[number].signals.handlers_run) == ran && !is_cancelled {
        park(signals::wait_queue(number), SIGNAL_WAIT, None);
        is_cancelled = cancel::is_due();
    }
    interrupts();
    with(|runtime| runtime.running().signals.mask = before);
    if is_cancelled { CANCELLED } else { errno::fail(libc::EINTR) }
}

unsafe extern "C" fn suspend(mask: *const u64) -> i32 {
    // SAFETY: the caller passes a set.
    suspend_with(unsafe { *mask })
}

extern "C" fn pause_thread() -> i32 {
    suspend_with(with(|runtime| runtime.running().signals.mask))
}

cancellation_point!(
    sigwait => wait_one,
    sigwaitinfo => wait_with_info,
    sigtimedwait => wait_timed,
    sigsuspend => suspend,
    pause => pause_thread,
);
