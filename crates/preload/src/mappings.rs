//! mmap and munmap: the program's own anonymous mappings are placed by the plan. All else goes to the kernel as it came.

use crate::{malloc, state};
use core::ffi::{c_int, c_void};

/// The kernel's mmap, without a look at the plan.
///
/// # Safety
/// As mmap(2).
pub unsafe fn kernel_mmap(
    address: *mut c_void,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // SAFETY: passed on to the caller.
    let answer = unsafe { libc::syscall(libc::SYS_mmap, address, bytes, access, flags, file, offset) };
    core::ptr::with_exposed_provenance_mut(answer.cast_unsigned() as usize)
}

/// The allocator's own mmap: the linker sends it here (see build.rs), as it may hold locks that a look at the plan needs.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_mmap(
    address: *mut c_void,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // SAFETY: the arguments are the allocator's.
    unsafe { kernel_mmap(address, bytes, access, flags, file, offset) }
}

/// The allocator's own munmap, likewise.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_munmap(address: *mut c_void, bytes: usize) -> c_int {
    // SAFETY: the arguments are the allocator's.
    unsafe { kernel_munmap(address, bytes) }
}

/// The kernel's munmap.
unsafe fn kernel_munmap(address: *mut c_void, bytes: usize) -> c_int {
    // SAFETY: passed on to the caller.
    let answer = unsafe { libc::syscall(libc::SYS_munmap, address, bytes) };
    if answer == 0 { 0 } else { -1 }
}

/// mmap as the program calls it, by either name. A call path that enters this library here is the program's.
unsafe extern "C" fn program_mmap(
    address: *mut c_void,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // SAFETY: the arguments are the caller's.
    let mapped = unsafe { kernel_mmap(address, bytes, access, flags, file, offset) };
    let own = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    if bytes >= malloc::smallest_area()
        && flags & own == own
        && access & libc::PROT_WRITE != 0
        && mapped != libc::MAP_FAILED
        && let Some(areas) = state::get().and_then(|state| state.areas.as_ref())
    {
        areas.map(mapped.addr()..mapped.addr() + bytes, program_mmap as *const () as usize);
    }
    mapped
}

/// mmap(2).
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn mmap() {
    core::arch::naked_asm!("jmp {program_mmap}", program_mmap = sym program_mmap)
}

/// mmap64, the same on 64-bit systems.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn mmap64() {
    core::arch::naked_asm!("jmp {program_mmap}", program_mmap = sym program_mmap)
}

/// munmap(2).
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, bytes: usize) -> c_int {
    if bytes >= malloc::smallest_area()
        && let Some(areas) = state::get().and_then(|state| state.areas.as_ref())
    {
        areas.unmap(&(address.addr()..address.addr().saturating_add(bytes)));
    }
    // SAFETY: the arguments are the caller's.
    unsafe { kernel_munmap(address, bytes) }
}
