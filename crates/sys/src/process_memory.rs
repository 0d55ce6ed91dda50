//! The memory of another process, read without stopping it.

use crate::error::checked;
use crate::{Pid, SysError};

/// Copies the bytes at `address` of `process` into `into`; returns how many of them were there to be read.
/// # Errors  `EPERM`: not ours to trace (ptrace(2), "Ptrace access mode checking"); `EFAULT`: nothing is mapped at
/// `address`; `ESRCH`: no such process.
/// Source: process_vm_readv(2), Linux 3.2.
pub fn read_process_memory(process: Pid, address: u64, into: &mut [u8]) -> Result<usize, SysError> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec {
        iov_base: core::ptr::without_provenance_mut(usize::try_from(address).unwrap_or(usize::MAX)),
        iov_len: into.len(),
    };
    // SAFETY: the local piece is `into`; the remote one is an address of the other process that the kernel checks.
    let answer = unsafe { libc::process_vm_readv(process.0, &raw const local, 1, &raw const remote, 1, 0) };
    checked(answer as libc::c_long, "process_vm_readv", || format!("process {process} at {address:#x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Errno;

    #[test]
    fn what_is_mapped_is_read_and_what_is_not_is_refused() {
        let text = *b"from one place to another";
        let mut copy = [0; 25];
        let read = read_process_memory(Pid::own(), text.as_ptr() as u64, &mut copy);
        assert_eq!((read, copy), (Ok(25), text));
        let error = read_process_memory(Pid::own(), 0, &mut copy).unwrap_err();
        assert_eq!(error.errno, Errno::EFAULT);
    }
}
