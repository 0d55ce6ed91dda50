//! Input and output that may wait: reading from pipes and sockets, `poll` and its like, waiting for children.
//!
//! While other threads live, a call that would wait in the kernel is tried without waiting, and tried again after some simulated
//! time in which the others run; if nobody else runs, a millisecond of host time passes first. So a pipe between two
//! threads works and stays deterministic. Standard input, and everything when only one thread lives, simply waits in the
//! kernel: simulated time stands still.

use crate::clock;
use crate::schedule::{Wake, park, switches};
use crate::state::with;
use crate::{signals, sys};

/// Simulated nanoseconds between two tries.
const STEP_NANOS: u64 = 200_000;
/// Host milliseconds to wait when no other thread runs.
const IDLE_MILLIS: usize = 1;
/// What a pipe that is ready for writing takes at least (PIPE_BUF).
const PIECE_BYTES: usize = 4096;
/// Bytes of an fd_set.
const SET_BYTES: usize = 128;

/// Whether a try gave a result; `None` means "not yet".
type Try<'a> = &'a mut dyn FnMut() -> Option<isize>;

fn others_live() -> bool {
    with(|runtime| runtime.threads.iter().filter(|thread| !thread.has_ended).count() > 1)
}

/// Tries until there is a result, a signal came, or the deadline passed (then `at_deadline`).
fn retry(attempt: Try, deadline: Option<u64>, at_deadline: isize) -> isize {
    let queue = with(|runtime| &raw const runtime.threads[runtime.current].polls as usize);
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        let before = switches();
        let step = clock::after(STEP_NANOS);
        let until = deadline.map_or(step, |deadline| deadline.min(step));
        let wake = park(queue, "input or output", Some(until));
        if wake != Wake::TimedOut && signals::interrupts() {
            return -(libc::EINTR as isize);
        }
        if deadline.is_some_and(|deadline| until >= deadline) {
            return attempt().unwrap_or(at_deadline);
        }
        if switches() == before {
            // SAFETY: poll without descriptors only waits.
            unsafe { sys::call(libc::SYS_poll, [0, 0, IDLE_MILLIS, 0, 0, 0]) };
        }
    }
}

/// Whether a descriptor is ready (or in error) for `events`.
fn is_ready(fd: usize, events: i16) -> bool {
    let mut query = libc::pollfd { fd: fd as i32, events, revents: 0 };
    // SAFETY: the kernel writes one record.
    unsafe { sys::call(libc::SYS_poll, [(&raw mut query) as usize, 1, 0, 0, 0, 0]) != 0 }
}

fn is_nonblocking(fd: usize) -> bool {
    // SAFETY: no memory is involved.
    let flags = unsafe { sys::call(libc::SYS_fcntl, [fd, libc::F_GETFL as usize, 0, 0, 0, 0]) };
    flags < 0 || flags as i32 & libc::O_NONBLOCK != 0
}

/// Simulated cycle at which a timeout ends; `None` for none.
fn after_millis(millis: i32) -> Option<u64> {
    (millis >= 0).then(|| clock::after(millis as u64 * 1_000_000))
}

unsafe fn after_time(time: *const libc::timespec) -> Option<u64> {
    // SAFETY: the caller passes null or a time.
    unsafe {
        (!time.is_null()).then(|| {
            clock::after(((*time).tv_sec as u64).saturating_mul(1_000_000_000) + (*time).tv_nsec as u64)
        })
    }
}

/// A call that waits for a descriptor: waits without the kernel, then does it.
unsafe fn when_ready(number: i64, arguments: [usize; 6], events: i16) -> Option<isize> {
    let fd = arguments[0];
    if fd == 0 || !others_live() || is_nonblocking(fd) || is_ready(fd, events) {
        return None;
    }
    let interrupted = retry(&mut || is_ready(fd, events).then_some(0), None, 0);
    // SAFETY: the program's own call.
    Some(if interrupted < 0 { interrupted } else { unsafe { sys::call(number, arguments) } })
}

/// Whether a descriptor is a byte stream that a large write may fill.
fn is_stream(fd: usize) -> bool {
    let mut kind = 0i32;
    let mut bytes = size_of::<i32>() as u32;
    // SAFETY: the kernel writes one status record, or one int.
    unsafe {
        let mut status: libc::stat = core::mem::zeroed();
        if sys::call(libc::SYS_fstat, [fd, (&raw mut status) as usize, 0, 0, 0, 0]) < 0 {
            return false;
        }
        if status.st_mode & libc::S_IFMT == libc::S_IFIFO {
            return true;
        }
        let (level, option) = (libc::SOL_SOCKET as usize, libc::SO_TYPE as usize);
        let arguments = [fd, level, option, (&raw mut kind) as usize, (&raw mut bytes) as usize, 0];
        sys::call(libc::SYS_getsockopt, arguments) == 0 && kind == libc::SOCK_STREAM
    }
}

/// A write that could fill a pipe and wait in the kernel for its reader: in pieces, each of which fits.
unsafe fn write_in_pieces(arguments: [usize; 6]) -> Option<isize> {
    let [fd, from, bytes, ..] = arguments;
    if !others_live() || is_nonblocking(fd) || !is_stream(fd) {
        return None;
    }
    let mut written = 0;
    while written < bytes {
        // SAFETY: a piece of the program's own write.
        let result = unsafe {
            let piece = [fd, from + written, (bytes - written).min(PIECE_BYTES), 0, 0, 0];
            when_ready(libc::SYS_write, piece, libc::POLLOUT)
                .unwrap_or_else(|| sys::call(libc::SYS_write, piece))
        };
        if result <= 0 {
            return Some(if written > 0 { written as isize } else { result });
        }
        written += result as usize;
    }
    Some(written as isize)
}

/// A call with a timeout argument of its own: made with a timeout of zero until it gives something.
unsafe fn with_zero_timeout(
    number: i64,
    arguments: [usize; 6],
    which: usize,
    zero: usize,
    deadline: Option<u64>,
) -> isize {
    let mut arguments = arguments;
    arguments[which] = zero;
    // SAFETY: the program's own call but for the timeout.
    let mut attempt = || match unsafe { sys::call(number, arguments) } {
        0 => None,
        result => Some(result),
    };
    retry(&mut attempt, deadline, 0)
}

/// `select` overwrites its sets, so each try needs the original ones.
unsafe fn select(number: i64, arguments: [usize; 6], zero: usize, deadline: Option<u64>) -> isize {
    let sets = [arguments[1], arguments[2], arguments[3]];
    // SAFETY: the sets are null or as large as the program's first argument says, at most an fd_set each.
    unsafe {
        let bytes = arguments[0].div_ceil(64) * 8;
        if bytes > SET_BYTES {
            return sys::call(number, arguments);
        }
        let mut originals = [[0u8; SET_BYTES]; 3];
        for (set, original) in sets.iter().zip(&mut originals).filter(|(set, _)| **set != 0) {
            original.as_mut_ptr().copy_from_nonoverlapping(*set as *const u8, bytes);
        }
        let mut tried = arguments;
        tried[4] = zero;
        let mut attempt = || {
            for (set, original) in sets.iter().zip(&originals).filter(|(set, _)| **set != 0) {
                (*set as *mut u8).copy_from_nonoverlapping(original.as_ptr(), bytes);
            }
            match sys::call(number, tried) {
                0 => None,
                result => Some(result),
            }
        };
        retry(&mut attempt, deadline, 0)
    }
}

/// Does a call that may wait; `None` if it is none, or may as well go to the kernel.
///
/// # Safety
/// The arguments are a program's for this call.
pub unsafe fn call(number: i64, arguments: [usize; 6]) -> Option<isize> {
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let zero = (&raw const zero) as usize;
    let [_, _, third, fourth, fifth, _] = arguments;
    // SAFETY: timeouts are null or valid, as the calls demand.
    unsafe {
        match number {
            libc::SYS_read
            | libc::SYS_readv
            | libc::SYS_recvfrom
            | libc::SYS_recvmsg
            | libc::SYS_accept
            | libc::SYS_accept4 => when_ready(number, arguments, libc::POLLIN),
            libc::SYS_write if third > PIECE_BYTES => write_in_pieces(arguments),
            libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg => {
                when_ready(number, arguments, libc::POLLOUT)
            }
            libc::SYS_poll if third as i32 != 0 && (others_live() || arguments[1] == 0) => {
                Some(with_zero_timeout(number, arguments, 2, 0, after_millis(third as i32)))
            }
            libc::SYS_ppoll if others_live() || arguments[1] == 0 => {
                Some(with_zero_timeout(number, arguments, 2, zero, after_time(third as *const _)))
            }
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait if fourth as i32 != 0 && others_live() => {
                Some(with_zero_timeout(number, arguments, 3, 0, after_millis(fourth as i32)))
            }
            libc::SYS_select if others_live() || arguments[0] == 0 => {
                let time = fifth as *const libc::timeval;
                let deadline = (!time.is_null()).then(|| {
                    clock::after((*time).tv_sec as u64 * 1_000_000_000 + (*time).tv_usec as u64 * 1000)
                });
                Some(select(number, arguments, zero, deadline))
            }
            libc::SYS_pselect6 if others_live() || arguments[0] == 0 => {
                Some(select(number, arguments, zero, after_time(fifth as *const _)))
            }
            libc::SYS_wait4 if third as i32 & libc::WNOHANG == 0 && others_live() => {
                Some(with_zero_timeout(number, arguments, 2, third | libc::WNOHANG as usize, None))
            }
            _ => None,
        }
    }
}
