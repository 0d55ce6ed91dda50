//! malloc and its kin. Without a policy they are mimalloc's; with one, a block comes from the heap of the policy, or from
//! the area of the plan that it is. C++'s new and delete come here by the C++ library's own, which call these.
//!
//! A block is freed by its address alone: the plan's areas lie among the addresses set aside, all others are mimalloc's,
//! whichever heap they are of. Everything works before `start` and in the loader's own calls, as mimalloc makes itself
//! ready when it is first used and needs no other library for it.

use crate::errno;
use crate::own_memory;
use crate::state;
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use libmimalloc_sys as mi;
use olifant_sys::page_size;

/// What every block is aligned to (max_align_t).
const PLAIN_ALIGNMENT: usize = 16;

/// The size from which the plan has a say.
static SMALLEST_AREA: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Whether a policy says where blocks come from.
static HAS_HEAP: AtomicBool = AtomicBool::new(false);

/// This library's own blocks, which no policy is for.
struct Own;

#[global_allocator]
static OWN: Own = Own;

// SAFETY: mimalloc's blocks have the size and alignment asked for, and are freed by its own function.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: a layout's alignment is a power of two.
        unsafe { mi::mi_malloc_aligned(layout.size(), layout.align()).cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block came from `alloc`.
        unsafe { mi::mi_free(block.cast()) };
    }
}

/// Puts what `state` has into force.
pub fn begin() {
    if let Some(state) = state::get() {
        HAS_HEAP.store(state.heap.is_some(), Ordering::Release);
        let smallest = state.areas.as_ref().map_or(usize::MAX, |areas| areas.smallest());
        SMALLEST_AREA.store(smallest, Ordering::Release);
    }
}

/// The size from which the plan has a say.
#[inline]
pub fn smallest_area() -> usize {
    SMALLEST_AREA.load(Ordering::Relaxed)
}

#[inline]
fn is_placed(bytes: usize) -> bool {
    HAS_HEAP.load(Ordering::Relaxed) || bytes >= smallest_area()
}

/// A block by the plan or the policy; null where neither has one, and the caller takes an ordinary one.
#[inline(never)]
fn placed(bytes: usize, alignment: usize, is_zeroed: bool) -> *mut c_void {
    let Some(state) = state::get() else { return null_mut() };
    let area = || state.areas.as_ref().filter(|_| bytes >= smallest_area())?.allocate(bytes, alignment);
    let block = || {
        let heap = state.heap.as_ref()?.here()?;
        if is_zeroed { heap.allocate_zeroed(bytes, alignment) } else { heap.allocate(bytes, alignment) }
    };
    area().or_else(block).map_or(null_mut(), |block| block.as_ptr().cast())
}

/// The block, or no memory.
#[inline]
fn checked(block: *mut c_void) -> *mut c_void {
    if block.is_null() {
        errno::set(libc::ENOMEM);
    }
    block
}

/// malloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    if is_placed(bytes) {
        let block = placed(bytes, PLAIN_ALIGNMENT, false);
        if !block.is_null() {
            return block;
        }
    }
    // SAFETY: any size may be asked for.
    checked(unsafe { mi::mi_malloc(bytes) })
}

/// calloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let bytes = count.saturating_mul(size);
    if is_placed(bytes) && bytes < usize::MAX {
        let block = placed(bytes, PLAIN_ALIGNMENT, true);
        if !block.is_null() {
            return block;
        }
    }
    // SAFETY: any count and size may be asked for; a product that overflows gives null.
    checked(unsafe { mi::mi_calloc(count, size) })
}

/// free(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: *mut c_void) {
    if own_memory::contains(block.addr()) {
        release_area(block);
    } else {
        // SAFETY: every block outside of the plan's areas is mimalloc's.
        unsafe { mi::mi_free(block) };
    }
}

#[cold]
fn release_area(block: *mut c_void) {
    if let Some(areas) = state::get().and_then(|state| state.areas.as_ref()) {
        areas.release(block.addr());
    }
}

/// realloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    if own_memory::contains(block.addr()) || is_placed(bytes) {
        // SAFETY: the block is the caller's.
        return unsafe { reallocate_placed(block, bytes) };
    }
    // SAFETY: as above, and it is mimalloc's.
    checked(unsafe { mi::mi_realloc(block, bytes) })
}

/// Another size for a block where the plan or a policy has a say: a new block, unless the old one fits well.
unsafe fn reallocate_placed(block: *mut c_void, bytes: usize) -> *mut c_void {
    if block.is_null() {
        // SAFETY: any size may be asked for.
        return unsafe { malloc(bytes) };
    }
    // SAFETY: the block is the caller's.
    let old = unsafe { malloc_usable_size(block) };
    if bytes == 0 {
        // As the C library does: gone, and nothing in its place.
        // SAFETY: as above.
        unsafe { free(block) };
        return null_mut();
    }
    if bytes <= old && bytes >= old / 2 {
        return block;
    }
    // SAFETY: any size may be asked for.
    let new = unsafe { malloc(bytes) };
    if !new.is_null() {
        // SAFETY: both blocks have so many bytes, and they are two.
        unsafe {
            core::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast::<u8>(), old.min(bytes));
            free(block);
        }
    }
    new
}

/// reallocarray(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the block is the caller's.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => checked(null_mut()),
    }
}

/// A block at a multiple of `alignment`, a power of two.
fn aligned(alignment: usize, bytes: usize) -> *mut c_void {
    if is_placed(bytes) {
        let block = placed(bytes, alignment.max(PLAIN_ALIGNMENT), false);
        if !block.is_null() {
            return block;
        }
    }
    // SAFETY: any size may be asked for, and the alignment is a power of two.
    unsafe { mi::mi_malloc_aligned(bytes, alignment) }
}

/// posix_memalign(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
        return libc::EINVAL;
    }
    match NonNull::new(aligned(alignment, bytes)) {
        None => libc::ENOMEM,
        Some(block) => {
            // SAFETY: the caller gives a place for the answer.
            unsafe { *place = block.as_ptr() };
            0
        }
    }
}

/// aligned_alloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    if !alignment.is_power_of_two() {
        errno::set(libc::EINVAL);
        return null_mut();
    }
    checked(aligned(alignment, bytes))
}

/// memalign(3), which takes the next power of two where it is given none.
#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    match alignment.max(1).checked_next_power_of_two() {
        Some(alignment) => checked(aligned(alignment, bytes)),
        None => {
            errno::set(libc::EINVAL);
            null_mut()
        }
    }
}

/// valloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn valloc(bytes: usize) -> *mut c_void {
    checked(aligned(page_size(), bytes))
}

/// pvalloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn pvalloc(bytes: usize) -> *mut c_void {
    let page = page_size();
    match bytes.max(1).checked_next_multiple_of(page) {
        Some(bytes) => checked(aligned(page, bytes)),
        None => checked(null_mut()),
    }
}

/// malloc_usable_size(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    if own_memory::contains(block.addr()) {
        let areas = state::get().and_then(|state| state.areas.as_ref());
        return areas.and_then(|areas| areas.bytes_at(block.addr())).unwrap_or(0);
    }
    // SAFETY: every block outside of the plan's areas is mimalloc's; null has no bytes.
    unsafe { mi::mi_usable_size(block) }
}

/// The C library's second names for these: programs that wrap malloc call them and free by the first.
macro_rules! second_names {
    ($($second:ident = $first:ident($($argument:ident: $kind:ty),*) $(-> $answer:ty)?;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $second($($argument: $kind),*) $(-> $answer)? {
            // SAFETY: the arguments are the caller's.
            unsafe { $first($($argument),*) }
        }
    )* };
}

second_names! {
    __libc_malloc = malloc(bytes: usize) -> *mut c_void;
    __libc_calloc = calloc(count: usize, size: usize) -> *mut c_void;
    __libc_realloc = realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    __libc_free = free(block: *mut c_void);
    __libc_memalign = memalign(alignment: usize, bytes: usize) -> *mut c_void;
    __libc_valloc = valloc(bytes: usize) -> *mut c_void;
    __libc_pvalloc = pvalloc(bytes: usize) -> *mut c_void;
}
