//! Tells the recorder: what was allocated, by which call path, or what is freed.

use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering};
use olifant_heaplog::{Entry, Kind, LOG_VARIABLE, LONGEST_PATH, Log};

static LOG: AtomicPtr<Log> = AtomicPtr::new(core::ptr::null_mut());

thread_local! {
    /// Whether this thread is in here: what it allocates meanwhile is ours and not told.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as being in here; false if it is already.
pub fn enter() -> bool {
    // A thread whose storage is gone is about to end; what it still does is not told.
    IS_INSIDE.try_with(|inside| !inside.replace(true)).unwrap_or(false)
}

/// The end of [`enter`].
pub fn leave() {
    let _a_thread_that_ends = IS_INSIDE.try_with(|inside| inside.set(false));
}

/// Opens the log that the environment names.
pub fn begin() {
    if !enter() {
        return;
    }
    if let Some(log) = std::env::var_os(LOG_VARIABLE).and_then(|path| Log::open(path.as_ref()).ok()) {
        // Stays until the process ends: other threads may be using it at any time.
        LOG.store(Box::into_raw(Box::new(log)), Ordering::Release);
    }
    leave();
}

fn log() -> Option<&'static Log> {
    // SAFETY: the pointer is null or of a value that is never dropped.
    unsafe { LOG.load(Ordering::Acquire).as_ref() }
}

/// Whether an allocation of so many bytes is to be told.
pub fn is_large(bytes: usize) -> bool {
    log().is_some_and(|log| bytes as u64 >= log.least_bytes())
}

/// `bytes` were allocated at `address`.
pub fn allocated(address: *mut c_void, bytes: usize) {
    if address.is_null() || !is_large(bytes) || !enter() {
        return;
    }
    if !log().is_some_and(Log::has_room) {
        leave();
        return;
    }
    let mut path = Path { addresses: [0; LONGEST_PATH], depth: 0 };
    // SAFETY: the callback matches libgcc's type, and `path` lives until the call returns.
    unsafe { _Unwind_Backtrace(frame, (&raw mut path).cast()) };
    append(Kind::Allocated, address, bytes as u64, path.addresses, path.depth);
    leave();
}

/// The memory at `address`, which was told of, is about to be freed.
pub fn freed(address: *mut c_void) {
    if enter() {
        append(Kind::Freed, address, 0, [0; LONGEST_PATH], 0);
        leave();
    }
}

fn append(kind: Kind, address: *mut c_void, bytes: u64, path: [u64; LONGEST_PATH], depth: u8) {
    let Some(log) = log() else { return };
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is valid; the calls for numbers take nothing and cannot fail. They are made each time because a fork
    // changes their answers.
    let (process, thread) = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now);
        (libc::getpid(), libc::gettid())
    };
    let time_ns = now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned();
    log.append(&Entry { kind, process, thread, time_ns, address: address as u64, bytes, path, depth });
}

/// A call path being collected.
struct Path {
    addresses: [u64; LONGEST_PATH],
    depth: u8,
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32,
        argument: *mut c_void,
    ) -> i32;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    /// The first and the last address of this library, set by the linker.
    static __ehdr_start: u8;
    static _end: u8;
}

/// Keeps a frame that is not ours. 0 goes on, anything else stops.
unsafe extern "C" fn frame(context: *mut c_void, argument: *mut c_void) -> i32 {
    // SAFETY: the unwinder passes its context and the `Path` that it was given.
    let (address, path) = unsafe { (_Unwind_GetIP(context), &mut *argument.cast::<Path>()) };
    let own = &raw const __ehdr_start as usize..&raw const _end as usize;
    if own.contains(&address) {
        return 0;
    }
    let Some(place) = path.addresses.get_mut(usize::from(path.depth)) else { return 1 };
    if address == 0 {
        return 1;
    }
    *place = address as u64;
    path.depth += 1;
    0
}
