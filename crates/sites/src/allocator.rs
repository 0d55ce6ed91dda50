//! The allocator behind ours: the next definitions of malloc and its family in the order of the loader.
//!
//! Finding them may itself allocate (dlsym does in some C libraries), before there is an allocator to do it: such calls,
//! a few hundred bytes at most, are served from a buffer that is never given back.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The functions that interpose, by their places in [`FOUND`].
#[derive(Debug, Clone, Copy)]
pub enum Function {
    Malloc,
    Calloc,
    Realloc,
    Free,
    AlignedAlloc,
    PosixMemalign,
    Memalign,
    UsableSize,
}

const NAMES: [&CStr; 8] = [
    c"malloc",
    c"calloc",
    c"realloc",
    c"free",
    c"aligned_alloc",
    c"posix_memalign",
    c"memalign",
    c"malloc_usable_size",
];

static FOUND: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Finds all of them. The first allocation of a process may come before our initialiser, so each use asks again.
pub fn find() {
    for (name, found) in NAMES.iter().zip(&FOUND) {
        // SAFETY: the name ends with a zero byte; RTLD_NEXT skips this library.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        found.store(address as usize, Ordering::Release);
    }
}

/// The address of the real function; 0 if there is none, or not yet.
pub fn real(function: Function) -> usize {
    let found = &FOUND[function as usize];
    match found.load(Ordering::Acquire) {
        0 if crate::tell::enter() => {
            find();
            crate::tell::leave();
            found.load(Ordering::Acquire)
        }
        address => address,
    }
}

const EARLY_BYTES: usize = 1 << 16;

/// Zeros for those who allocate before there is an allocator.
#[repr(align(16))]
struct Early(core::cell::UnsafeCell<[u8; EARLY_BYTES]>);

// SAFETY: pieces are handed out once each, by an atomic counter.
unsafe impl Sync for Early {}

static EARLY: Early = Early(core::cell::UnsafeCell::new([0; EARLY_BYTES]));
static EARLY_USED: AtomicUsize = AtomicUsize::new(0);

/// A piece of the early buffer, zeroed and aligned to 16; null when it is used up.
pub fn early(bytes: usize) -> *mut c_void {
    let bytes = bytes.saturating_add(15) & !15;
    let at = EARLY_USED.fetch_add(bytes, Ordering::Relaxed);
    if at.saturating_add(bytes) > EARLY_BYTES {
        return core::ptr::null_mut();
    }
    // SAFETY: the piece is within the buffer and nobody else gets it.
    unsafe { EARLY.0.get().cast::<u8>().add(at).cast() }
}

/// Whether a pointer is of the early buffer, and how many bytes follow it there.
pub fn early_rest(pointer: *mut c_void) -> Option<usize> {
    let offset = (pointer as usize).checked_sub(EARLY.0.get() as usize)?;
    (offset < EARLY_BYTES).then(|| EARLY_BYTES - offset)
}
