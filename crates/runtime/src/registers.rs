//! The two segment bases: FS points at the running thread's thread-local storage, GS at the fast-path block of the
//! processor it runs on.
//!
//! With the FSGSBASE instructions (Linux 5.9, AT_HWCAP2 bit 1) a base costs a few cycles; without them a system call each.

use crate::sys;
use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering};

const ARCH_SET_GS: usize = 0x1001;
const ARCH_SET_FS: usize = 0x1002;
const ARCH_GET_FS: usize = 0x1003;
const HWCAP2_FSGSBASE: libc::c_ulong = 2;

static HAS_INSTRUCTIONS: AtomicBool = AtomicBool::new(false);

/// Finds out whether the kernel lets programs write the bases; call once before the others.
pub fn initialise() {
    // SAFETY: getauxval reads the auxiliary vector and nothing else.
    let capabilities = unsafe { libc::getauxval(libc::AT_HWCAP2) };
    HAS_INSTRUCTIONS.store(capabilities & HWCAP2_FSGSBASE != 0, Ordering::Relaxed);
}

/// The FS base.
pub fn fs() -> u64 {
    let mut base = 0u64;
    if HAS_INSTRUCTIONS.load(Ordering::Relaxed) {
        // SAFETY: the kernel allows the instruction; it only reads a register.
        unsafe { asm!("rdfsbase {}", out(reg) base, options(nomem, nostack, preserves_flags)) };
    } else {
        // SAFETY: the kernel writes the base to one u64.
        unsafe { sys::call(libc::SYS_arch_prctl, [ARCH_GET_FS, (&raw mut base) as usize, 0, 0, 0, 0]) };
    }
    base
}

/// Sets the FS base.
///
/// # Safety
/// `base` must be a thread control block that no running operating-system thread but this one uses, and the caller
/// must not hold a reference into the thread-local storage of the old one.
pub unsafe fn set_fs(base: u64) {
    if HAS_INSTRUCTIONS.load(Ordering::Relaxed) {
        // SAFETY: the kernel allows the instruction; the caller vouches for the base.
        unsafe { asm!("wrfsbase {}", in(reg) base, options(nostack, preserves_flags)) };
    } else {
        // SAFETY: as above.
        unsafe { sys::call(libc::SYS_arch_prctl, [ARCH_SET_FS, base as usize, 0, 0, 0, 0]) };
    }
}

/// Sets the GS base, which no code but the hooks uses.
///
/// # Safety
/// `base` must be the address of a fast-path block that stays valid until the next call.
pub unsafe fn set_gs(base: u64) {
    if HAS_INSTRUCTIONS.load(Ordering::Relaxed) {
        // SAFETY: the kernel allows the instruction; the caller vouches for the base.
        unsafe { asm!("wrgsbase {}", in(reg) base, options(nostack, preserves_flags)) };
    } else {
        // SAFETY: as above.
        unsafe { sys::call(libc::SYS_arch_prctl, [ARCH_SET_GS, base as usize, 0, 0, 0, 0]) };
    }
}
