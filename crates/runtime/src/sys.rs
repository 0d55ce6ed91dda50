//! System calls without libc: one stub that every call of the runtime to the kernel goes through.
//!
//! libc's own functions are out of reach here: many of their names are ours (`mmap`, `write`, `syscall`), and system
//! calls from any other place in the process may be dispatched back to us (`dispatch`). The stub's address range is the one
//! that the kernel always lets through, so its length is known from two labels.
//!
//! Results are the kernel's: a value, or a negative errno.

use core::arch::global_asm;

global_asm!(
    ".pushsection .text.olifant_syscall,\"ax\",@progbits",
    ".globl olifant_syscall",
    ".globl olifant_syscall_end",
    ".globl olifant_sigreturn",
    ".hidden olifant_syscall",
    ".hidden olifant_syscall_end",
    ".hidden olifant_sigreturn",
    ".type olifant_syscall,@function",
    "olifant_syscall:",
    ".cfi_startproc",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, [rsp + 8]",
    "syscall",
    "ret",
    ".cfi_endproc",
    // Where signal handlers return to. Unwinders know a signal frame by these very instructions, before which they
    // look one byte back: hence the nop.
    "nop",
    "olifant_sigreturn:",
    "mov rax, 15",
    "syscall",
    "nop",
    "olifant_syscall_end:",
    ".popsection",
);

unsafe extern "C" {
    fn olifant_syscall(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;
    static olifant_syscall_end: u8;
    fn olifant_sigreturn();
}

/// One system call with up to six arguments.
///
/// # Safety
/// As the call itself: pointers must be valid for what the kernel does with them.
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the stub follows the kernel's calling convention; the caller vouches for the arguments.
    unsafe { olifant_syscall(number as usize, a, b, c, d, e, f) }
}

/// First address and length of the code from which system calls always reach the kernel.
pub fn stub_range() -> (usize, usize) {
    let start = olifant_syscall as *const () as usize;
    (start, (&raw const olifant_syscall_end) as usize - start)
}

/// Where a signal handler returns to: `sa_restorer`.
pub fn sigreturn_address() -> usize {
    olifant_sigreturn as *const () as usize
}

/// New zeroed private memory; at `address` exactly (nothing may be there) unless it is 0. Returns its address, or a
/// negative errno.
pub fn map_memory(address: usize, bytes: usize, protection: i32) -> isize {
    let mut flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    if address != 0 {
        flags |= libc::MAP_FIXED_NOREPLACE;
    }
    // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping, so no memory in use changes.
    unsafe { call(libc::SYS_mmap, [address, bytes, protection as usize, flags as usize, usize::MAX, 0]) }
}

/// Gives the pages of anonymous memory back; they read as zero afterwards.
///
/// # Safety
/// The contents of the range must not be needed.
pub unsafe fn discard(address: usize, bytes: usize) -> isize {
    // SAFETY: passed on to the caller.
    unsafe { call(libc::SYS_madvise, [address, bytes, libc::MADV_DONTNEED as usize, 0, 0, 0]) }
}

/// Asks for huge pages under a mapping (Linux 2.6.38): tables that are read here and there cost the host fewer TLB misses.
/// Where there are none, nothing changes.
pub fn prefer_huge_pages(address: usize, bytes: usize) {
    // SAFETY: the advice changes no contents; a refusal is no error.
    unsafe { call(libc::SYS_madvise, [address, bytes, libc::MADV_HUGEPAGE as usize, 0, 0, 0]) };
}

/// Removes a mapping.
///
/// # Safety
/// Nothing may use the range any more.
pub unsafe fn unmap(address: usize, bytes: usize) -> isize {
    // SAFETY: passed on to the caller.
    unsafe { call(libc::SYS_munmap, [address, bytes, 0, 0, 0, 0]) }
}

/// Writes all of `bytes`; stops at an error and returns it.
pub fn write_all(fd: i32, mut bytes: &[u8]) -> Result<(), i32> {
    while !bytes.is_empty() {
        // SAFETY: the kernel reads inside the slice only.
        let written =
            unsafe { call(libc::SYS_write, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) };
        match written {
            n if n > 0 => bytes = &bytes[n as usize..],
            n if n == -(libc::EINTR as isize) => {}
            n => return Err(-n as i32),
        }
    }
    Ok(())
}

/// The time of a host clock in nanoseconds.
pub fn host_nanos(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec.
    unsafe { call(libc::SYS_clock_gettime, [clock as usize, (&raw mut time) as usize, 0, 0, 0, 0]) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Ends the process at once.
pub fn exit_group(code: i32) -> ! {
    loop {
        // SAFETY: no memory is touched; the call does not return.
        unsafe { call(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Id of the process that started this one, or that it was left to.
pub fn parent() -> i32 {
    // SAFETY: getppid takes nothing and cannot fail.
    unsafe { call(libc::SYS_getppid, [0; 6]) as i32 }
}

/// The process's id.
pub fn process_id() -> i32 {
    // SAFETY: takes no arguments.
    unsafe { call(libc::SYS_getpid, [0; 6]) as i32 }
}

/// Waits while `*word == value`, for at most one wake-up.
pub fn futex_wait(word: &core::sync::atomic::AtomicU32, value: u32) {
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    let address = word.as_ptr() as usize;
    // SAFETY: the kernel only reads the word.
    unsafe { call(libc::SYS_futex, [address, operation as usize, value as usize, 0, 0, 0]) };
}

/// Wakes all operating-system threads that wait on `word`.
pub fn futex_wake(word: &core::sync::atomic::AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    let address = word.as_ptr() as usize;
    // SAFETY: the kernel does not write the word.
    unsafe { call(libc::SYS_futex, [address, operation as usize, i32::MAX as usize, 0, 0, 0]) };
}
