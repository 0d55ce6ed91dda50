//! `malloc`, `calloc`, `realloc`, `free` and the rest of the C library's allocation calls, and C++'s `new` and `delete`.
//!
//! Each entry passes its return address and the caller's frame pointer on, from which the call path is walked. `new` is
//! here, not in the C++ library, because that one keeps no frame pointers.

use super::{is_recorded, large, quiet, site};
use crate::errno;
use crate::layout::LARGE;
use crate::real::real;
use crate::state::{is_free, with};
use core::arch::naked_asm;

/// Defines a C function with N word arguments that calls `$body` with the return address and the frame pointer as arguments
/// N + 1 and N + 2.
macro_rules! entry {
    (1: $($name:ident => $body:ident),*) => { $( entry!(@ $name, $body, "mov rsi, [rsp]", "mov rdx, rbp"); )* };
    (2: $($name:ident => $body:ident),*) => { $( entry!(@ $name, $body, "mov rdx, [rsp]", "mov rcx, rbp"); )* };
    (3: $($name:ident => $body:ident),*) => { $( entry!(@ $name, $body, "mov rcx, [rsp]", "mov r8, rbp"); )* };
    (@ $name:ident, $body:ident, $first:literal, $second:literal) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!($first, $second, "jmp {body}", body = sym $body)
        }
    };
}

entry!(1: malloc => plain, valloc => page_aligned, pvalloc => whole_pages, _Znwm => new, _Znam => new);
entry!(2: calloc => zeroed, realloc => resized, memalign => aligned, aligned_alloc => aligned,
    _ZnwmSt11align_val_t => new_aligned, _ZnamSt11align_val_t => new_aligned,
    _ZnwmRKSt9nothrow_t => new_or_null, _ZnamRKSt9nothrow_t => new_or_null);
entry!(3: posix_memalign => posix_aligned, reallocarray => resized_array,
    _ZnwmSt11align_val_tRKSt9nothrow_t => new_aligned_or_null,
    _ZnamSt11align_val_tRKSt9nothrow_t => new_aligned_or_null);

/// Allocates; 0 without memory.
fn allocate(bytes: usize, alignment: usize, return_address: u64, frame: u64) -> usize {
    if !is_free() {
        return quiet::allocate(bytes, alignment);
    }
    with(|runtime| {
        let (path, length) = site::walk_from(runtime, return_address, frame);
        super::allocate(runtime, bytes, alignment, &path[..length])
    })
}

fn or_no_memory(address: usize) -> usize {
    if address == 0 {
        errno::set(libc::ENOMEM);
    }
    address
}

extern "C" fn plain(bytes: usize, from: u64, frame: u64) -> usize {
    or_no_memory(allocate(bytes, 16, from, frame))
}

extern "C" fn page_aligned(bytes: usize, from: u64, frame: u64) -> usize {
    or_no_memory(allocate(bytes, super::PAGE, from, frame))
}

extern "C" fn whole_pages(bytes: usize, from: u64, frame: u64) -> usize {
    or_no_memory(allocate(crate::layout::round_up(bytes, super::PAGE), super::PAGE, from, frame))
}

extern "C" fn aligned(alignment: usize, bytes: usize, from: u64, frame: u64) -> usize {
    if !alignment.is_power_of_two() {
        errno::set(libc::EINVAL);
        return 0;
    }
    or_no_memory(allocate(bytes, alignment.max(16), from, frame))
}

extern "C" fn posix_aligned(
    result: *mut usize,
    alignment: usize,
    bytes: usize,
    from: u64,
    frame: u64,
) -> i32 {
    if !alignment.is_power_of_two() || alignment < size_of::<usize>() {
        return libc::EINVAL;
    }
    match allocate(bytes, alignment.max(16), from, frame) {
        0 => libc::ENOMEM,
        address => {
            // SAFETY: the caller passes room for a pointer.
            unsafe { *result = address };
            0
        }
    }
}

extern "C" fn zeroed(count: usize, bytes: usize, from: u64, frame: u64) -> usize {
    let Some(total) = count.checked_mul(bytes) else { return or_no_memory(0) };
    let address = allocate(total, 16, from, frame);
    if is_recorded(address) {
        let is_dirty = !LARGE.contains(address) || with(|runtime| large::is_dirty(runtime, address));
        if is_dirty {
            // SAFETY: the block was just allocated with this size.
            unsafe { (address as *mut u8).write_bytes(0, total) };
            with(|runtime| runtime.system.charge(total as u64 / 16));
        }
    }
    or_no_memory(address)
}

extern "C" fn resized(old: usize, bytes: usize, from: u64, frame: u64) -> usize {
    if old == 0 {
        return or_no_memory(allocate(bytes, 16, from, frame));
    }
    if bytes == 0 {
        release(old);
        return 0;
    }
    let room = usable(old);
    let is_roomy = room > 2 * super::PAGE && bytes < room / 2;
    if bytes <= room && !is_roomy && (is_recorded(old) || !is_free()) {
        return old;
    }
    let new = allocate(bytes, 16, from, frame);
    if new != 0 {
        // SAFETY: both blocks are alive, disjoint, and at least this large.
        unsafe { (new as *mut u8).copy_from_nonoverlapping(old as *const u8, room.min(bytes)) };
        if is_free() {
            with(|runtime| runtime.system.charge(room.min(bytes) as u64 / 16));
        }
        release(old);
    }
    or_no_memory(new)
}

extern "C" fn resized_array(old: usize, count: usize, bytes: usize, from: u64, frame: u64) -> usize {
    match count.checked_mul(bytes) {
        Some(total) => resized(old, total, from, frame),
        None => or_no_memory(0),
    }
}

/// `new`: never null. Without memory the C++ library's own says so by its exception.
extern "C" fn new(bytes: usize, from: u64, frame: u64) -> usize {
    match allocate(bytes, 16, from, frame) {
        0 => no_memory_for_new(bytes),
        address => address,
    }
}

extern "C" fn new_aligned(bytes: usize, alignment: usize, from: u64, frame: u64) -> usize {
    match allocate(bytes, alignment.max(16), from, frame) {
        0 => no_memory_for_new(bytes),
        address => address,
    }
}

extern "C" fn new_or_null(bytes: usize, _nothrow: usize, from: u64, frame: u64) -> usize {
    allocate(bytes, 16, from, frame)
}

extern "C" fn new_aligned_or_null(
    bytes: usize,
    alignment: usize,
    _nothrow: usize,
    from: u64,
    frame: u64,
) -> usize {
    allocate(bytes, alignment.max(16), from, frame)
}

fn no_memory_for_new(bytes: usize) -> usize {
    // SAFETY: the C++ library's operator new; it will find no memory either.
    unsafe { real!(c"_Znwm" as fn(usize) -> usize)(bytes) }
}

fn usable(address: usize) -> usize {
    if !is_recorded(address) {
        // SAFETY: what is not recorded came from the quiet memory.
        return unsafe { quiet::usable_bytes(address) };
    }
    match with(|runtime| super::usable_bytes(runtime, address)) {
        Some(bytes) => bytes,
        None => stop("resize", address),
    }
}

fn release(address: usize) {
    if address == 0 {
        return;
    }
    if !is_recorded(address) {
        // SAFETY: what is not recorded came from the quiet memory.
        unsafe { quiet::release(address) };
    } else if is_free() && !with(|runtime| super::release(runtime, address)) {
        stop("free", address);
    }
}

/// What the C library does about a pointer that is no allocation: it aborts.
fn stop(what: &str, address: usize) -> ! {
    crate::say::say(&format!("the program passed {address:#x} to {what}, which is no live allocation"));
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// `free`.
#[unsafe(no_mangle)]
extern "C" fn free(address: usize) {
    release(address);
}

/// `cfree` of older programs.
#[unsafe(no_mangle)]
extern "C" fn cfree(address: usize) {
    release(address);
}

/// `malloc_usable_size`.
#[unsafe(no_mangle)]
extern "C" fn malloc_usable_size(address: usize) -> usize {
    if address == 0 { 0 } else { usable(address) }
}

/// Defines C++'s operators `delete`, whose further arguments say nothing new.
macro_rules! deletes {
    ($($name:ident),*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name(address: usize) {
            release(address);
        }
    )* };
}

deletes!(
    _ZdlPv,
    _ZdaPv,
    _ZdlPvm,
    _ZdaPvm,
    _ZdlPvSt11align_val_t,
    _ZdaPvSt11align_val_t,
    _ZdlPvmSt11align_val_t,
    _ZdaPvmSt11align_val_t,
    _ZdlPvRKSt9nothrow_t,
    _ZdaPvRKSt9nothrow_t
);
