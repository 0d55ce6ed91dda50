//! malloc and its kin. Without a policy they are mimalloc's; with one, a block comes from the heap of the policy, or from
//! the area of the plan that it is. C++'s new and delete come here by the C++ library's own, which call these.
//!
//! A block is freed by its address alone: the plan's areas lie among the addresses set aside, all others are mimalloc's,
//! whichever heap they are of. Everything works before `start` and in the loader's own calls, as mimalloc makes itself
//! ready when it is first used and needs no other library for it.

use crate::errno;
use crate::heaps::Heaps;
use crate::own_memory;
use crate::state;
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use libmimalloc_sys as mi;
use olifant_sys::page_size;
use rset::Heap;

/// What every block is aligned to (max_align_t).
const PLAIN_ALIGNMENT: usize = 16;

/// The size from which the plan has a say.
static SMALLEST_AREA: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The size from which the plan or a policy has a say: 0 where every block comes from a heap with a policy.
static PLACED_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The heap of every block, where it is one for all threads.
static ONE_HEAP: AtomicPtr<Heap> = AtomicPtr::new(null_mut());

/// This library's own blocks, which no policy is for.
struct Own;

#[global_allocator]
static OWN: Own = Own;

unsafe extern "C" {
    /// Of mimalloc.h, version 3: the heap that no policy is for.
    fn mi_heap_main() -> *mut mi::mi_heap_t;
}

// SAFETY: mimalloc's blocks have the size and alignment asked for, and are freed by its own function.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: a layout's alignment is a power of two, and the main heap is always there.
        unsafe { mi::mi_heap_malloc_aligned(mi_heap_main(), layout.size(), layout.align()).cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block came from `alloc`.
        unsafe { mi::mi_free(block.cast()) };
    }
}

/// Has errno set where there is no memory.
pub fn find_errors() {
    // SAFETY: the function stays, and takes what mimalloc gives.
    unsafe { mi::mi_register_error(Some(out_of_memory), null_mut()) };
}

/// Puts what `state` has into force.
pub fn begin() {
    if let Some(state) = state::get() {
        let smallest = state.areas.as_ref().map_or(usize::MAX, |areas| areas.smallest());
        SMALLEST_AREA.store(smallest, Ordering::Release);
        if let Some(heap) = state.heap.as_ref().and_then(Heaps::one) {
            ONE_HEAP.store(core::ptr::from_ref(heap).cast_mut(), Ordering::Release);
        }
        PLACED_FROM.store(if state.heap.is_some() { 0 } else { smallest }, Ordering::Release);
    }
}

/// The size from which the plan has a say.
#[inline]
pub fn smallest_area() -> usize {
    SMALLEST_AREA.load(Ordering::Relaxed)
}

#[inline]
fn is_placed(bytes: usize) -> bool {
    bytes >= PLACED_FROM.load(Ordering::Relaxed)
}

/// The heap of every block, unless the plan has a say for this size.
#[inline]
fn one_heap(bytes: usize) -> Option<&'static Heap> {
    let heap = ONE_HEAP.load(Ordering::Acquire);
    // SAFETY: the heap is part of the state, which stays.
    if bytes < smallest_area() { unsafe { heap.as_ref() } } else { None }
}

/// A block by the plan or the policy, or an ordinary one, which `plain` gives, where neither has one.
#[inline]
fn placed(bytes: usize, alignment: usize, is_zeroed: bool, plain: impl Fn() -> *mut c_void) -> *mut c_void {
    let block = placed_slowly(bytes, alignment, is_zeroed);
    if block.is_null() { plain() } else { block }
}

#[inline(never)]
fn placed_slowly(bytes: usize, alignment: usize, is_zeroed: bool) -> *mut c_void {
    let Some(state) = state::get() else { return null_mut() };
    let area = || state.areas.as_ref().filter(|_| bytes >= smallest_area())?.allocate(bytes, alignment);
    let block = || {
        let heap = state.heap.as_ref()?.here()?;
        if is_zeroed { heap.allocate_zeroed(bytes, alignment) } else { heap.allocate(bytes, alignment) }
    };
    area().or_else(block).map_or(null_mut(), |block| block.as_ptr().cast())
}

/// What mimalloc does where it has no memory, or too much is asked for: the caller finds the reason in errno.
unsafe extern "C" fn out_of_memory(_: c_int, _: *mut c_void) {
    errno::set(libc::ENOMEM);
}

/// The answer to a request that is too large to be a size.
fn too_much() -> *mut c_void {
    errno::set(libc::ENOMEM);
    null_mut()
}

/// malloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    if is_placed(bytes) {
        return malloc_placed(bytes);
    }
    // The way of most programs: one comparison, and a jump.
    // SAFETY: any size may be asked for.
    unsafe { mi::mi_malloc(bytes) }
}

#[inline(never)]
fn malloc_placed(bytes: usize) -> *mut c_void {
    if let Some(block) = one_heap(bytes).and_then(|heap| heap.allocate(bytes, PLAIN_ALIGNMENT)) {
        return block.as_ptr().cast();
    }
    // SAFETY: any size may be asked for.
    placed(bytes, PLAIN_ALIGNMENT, false, || unsafe { mi::mi_malloc(bytes) })
}

/// calloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return too_much() };
    // SAFETY: any size may be asked for.
    let plain = || unsafe { mi::mi_zalloc(bytes) };
    if is_placed(bytes) { placed(bytes, PLAIN_ALIGNMENT, true, plain) } else { plain() }
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
    unsafe { mi::mi_realloc(block, bytes) }
}

/// Another size for a block where the plan or a policy has a say: a new block, unless the old one fits well.
unsafe fn reallocate_placed(block: *mut c_void, bytes: usize) -> *mut c_void {
    if block.is_null() {
        // SAFETY: any size may be asked for.
        return unsafe { malloc(bytes) };
    }
    if let Some(heap) = one_heap(bytes)
        && bytes > 0
        && !own_memory::contains(block.addr())
        && let Some(old) = NonNull::new(block.cast())
    {
        // SAFETY: the block is mimalloc's and the caller's, who uses the answer in its place.
        let resize = |part: &olifant_sys::heap::Heap| unsafe { part.reallocate(old, bytes, PLAIN_ALIGNMENT) };
        if let Some(new) = heap.on_part(bytes, PLAIN_ALIGNMENT, resize) {
            return new.as_ptr().cast();
        }
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
        None => too_much(),
    }
}

/// A block at a multiple of `alignment`, a power of two.
fn aligned(alignment: usize, bytes: usize) -> *mut c_void {
    // SAFETY: any size may be asked for, and the alignment is a power of two.
    let plain = || unsafe { mi::mi_malloc_aligned(bytes, alignment) };
    if is_placed(bytes) { placed(bytes, alignment.max(PLAIN_ALIGNMENT), false, plain) } else { plain() }
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
    aligned(alignment, bytes)
}

/// memalign(3), which takes the next power of two where it is given none.
#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    match alignment.max(1).checked_next_power_of_two() {
        Some(alignment) => aligned(alignment, bytes),
        None => {
            errno::set(libc::EINVAL);
            null_mut()
        }
    }
}

/// valloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn valloc(bytes: usize) -> *mut c_void {
    aligned(page_size(), bytes)
}

/// pvalloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn pvalloc(bytes: usize) -> *mut c_void {
    let page = page_size();
    match bytes.max(1).checked_next_multiple_of(page) {
        Some(bytes) => aligned(page, bytes),
        None => too_much(),
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
