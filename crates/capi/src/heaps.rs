//! Heaps: malloc and its kin.

use crate::answer::{done, end, give, object, system};
use crate::memory::policy;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::NonNull;
use olifant_placement::ResourceSet;
use olifant_sys::heap;
use rset::Heap;

/// A block for C; without one, `errno` is set as malloc(3) does.
fn answer(block: Option<NonNull<u8>>) -> *mut c_void {
    match block {
        Some(block) => block.as_ptr().cast(),
        None => fail(libc::ENOMEM),
    }
}

fn fail(errno: c_int) -> *mut c_void {
    // SAFETY: the C library's address of this thread's errno is always good.
    unsafe { *libc::__errno_location() = errno };
    core::ptr::null_mut()
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_heap_new(
    set: *const ResourceSet,
    words: *const c_char,
    heap: *mut *mut Heap,
) -> c_int {
    // SAFETY: the header's contract.
    let (set, policy) = unsafe { (object(set, "set"), policy(words)) };
    let made = set.and_then(|set| Ok(Heap::new(system()?, set, &policy?)?));
    // SAFETY: the header's contract.
    done(made.and_then(|made| unsafe { give(made, heap, "heap") }))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_heap_free(heap: *mut Heap) {
    // SAFETY: the header's contract.
    unsafe { end(heap) };
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_heap_malloc(heap: *const Heap, bytes: usize) -> *mut c_void {
    // SAFETY: the header's contract.
    match unsafe { heap.as_ref() } {
        Some(heap) => answer(heap.allocate(bytes, 1)),
        None => fail(libc::EINVAL),
    }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_heap_calloc(heap: *const Heap, count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: the header's contract.
    match (unsafe { heap.as_ref() }, count.checked_mul(bytes)) {
        (Some(heap), Some(bytes)) => answer(heap.allocate_zeroed(bytes, 1)),
        (None, _) => fail(libc::EINVAL),
        (_, None) => fail(libc::ENOMEM),
    }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_heap_realloc(heap: *const Heap, block: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: the header's contract.
    let Some(heap) = (unsafe { heap.as_ref() }) else { return fail(libc::EINVAL) };
    match NonNull::new(block.cast::<u8>()) {
        None => answer(heap.allocate(bytes, 1)),
        // SAFETY: the header says that the block is live; a part that cannot serve leaves it so for the next.
        Some(block) => answer(heap.on_part(bytes, 1, |part| unsafe { part.reallocate(block, bytes, 1) })),
    }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_heap_aligned_alloc(
    heap: *const Heap,
    alignment: usize,
    bytes: usize,
) -> *mut c_void {
    // SAFETY: the header's contract.
    let Some(heap) = (unsafe { heap.as_ref() }) else { return fail(libc::EINVAL) };
    if !alignment.is_power_of_two() || alignment > heap::LARGEST_ALIGNMENT {
        return fail(libc::EINVAL);
    }
    answer(heap.allocate(bytes, alignment))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_block_free(block: *mut c_void) {
    if let Some(block) = NonNull::new(block.cast::<u8>()) {
        // SAFETY: the header says that the block is live and one of these heaps'.
        unsafe { heap::free(block) };
    }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_block_size(block: *const c_void) -> usize {
    match NonNull::new(block.cast_mut().cast::<u8>()) {
        // SAFETY: the header says that the block is live and one of these heaps'.
        Some(block) => unsafe { heap::usable_size(block) },
        None => 0,
    }
}
