//! The functions that interpose. Each does what its manual page says by calling the real one, and tells of it.
//!
//! Source: malloc(3), posix_memalign(3), malloc_usable_size(3).

use crate::allocator::{Function, early, early_rest, real};
use crate::tell;
use core::ffi::{c_int, c_void};

/// Calls the real function if there is one, with the type that its manual page gives it.
macro_rules! call_real {
    ($function:ident as $type:ty, ($($argument:expr),*), else $early:expr) => {
        match real(Function::$function) {
            0 => $early,
            address => {
                // SAFETY: the loader found this address under the function's name, so it has the function's type.
                unsafe { core::mem::transmute::<usize, $type>(address)($($argument),*) }
            }
        }
    };
}

/// malloc(3).
/// # Safety
/// As malloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    let pointer =
        call_real!(Malloc as unsafe extern "C" fn(usize) -> *mut c_void, (bytes), else early(bytes));
    tell::allocated(pointer, bytes);
    pointer
}

/// calloc(3).
/// # Safety
/// As calloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    let pointer = call_real!(
        Calloc as unsafe extern "C" fn(usize, usize) -> *mut c_void, (count, bytes),
        else early(count.saturating_mul(bytes))
    );
    tell::allocated(pointer, count.saturating_mul(bytes));
    pointer
}

/// realloc(3).
/// # Safety
/// As realloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(old: *mut c_void, bytes: usize) -> *mut c_void {
    if let Some(rest) = early_rest(old) {
        // SAFETY: the new piece is new, and no more is copied than either has.
        unsafe {
            let new = malloc(bytes);
            if !new.is_null() {
                core::ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast(), bytes.min(rest));
            }
            return new;
        }
    }
    // The end is told before the call, as another thread may get the same address at once; a call that fails after all
    // has its memory told anew.
    let size = if old.is_null() { 0 } else { usable_size(old) };
    let was_told = tell::is_large(size);
    if was_told {
        tell::freed(old);
    }
    let new = call_real!(
        Realloc as unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void, (old, bytes), else early(bytes)
    );
    if new.is_null() && bytes > 0 && was_told {
        tell::allocated(old, size);
    }
    tell::allocated(new, bytes);
    new
}

/// free(3).
/// # Safety
/// As free(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(pointer: *mut c_void) {
    if pointer.is_null() || early_rest(pointer).is_some() {
        return;
    }
    if tell::is_large(usable_size(pointer)) {
        tell::freed(pointer);
    }
    call_real!(Free as unsafe extern "C" fn(*mut c_void), (pointer), else ());
}

/// aligned_alloc(3).
/// # Safety
/// As aligned_alloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    let pointer = call_real!(
        AlignedAlloc as unsafe extern "C" fn(usize, usize) -> *mut c_void, (alignment, bytes),
        else core::ptr::null_mut()
    );
    tell::allocated(pointer, bytes);
    pointer
}

/// memalign(3).
/// # Safety
/// As memalign(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    let pointer = call_real!(
        Memalign as unsafe extern "C" fn(usize, usize) -> *mut c_void, (alignment, bytes),
        else core::ptr::null_mut()
    );
    tell::allocated(pointer, bytes);
    pointer
}

/// posix_memalign(3).
/// # Safety
/// As posix_memalign(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(into: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    let answer = call_real!(
        PosixMemalign as unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int, (into, alignment, bytes),
        else libc::ENOMEM
    );
    if answer == 0 {
        // SAFETY: the call succeeded, so it stored a pointer there.
        tell::allocated(unsafe { *into }, bytes);
    }
    answer
}

/// The bytes that the allocator gave for a pointer of its own.
fn usable_size(pointer: *mut c_void) -> usize {
    call_real!(UsableSize as unsafe extern "C" fn(*mut c_void) -> usize, (pointer), else 0)
}
