//! A file without a name, for a program that this process starts or becomes.

use crate::SysError;
use crate::error::checked;
use std::fs::File;
use std::os::fd::FromRawFd;

/// An empty file in memory; `is_inherited` keeps it open in what this process becomes or starts.
/// # Errors  `EMFILE`, `ENFILE`, `ENOMEM`; `ENOSYS` before Linux 3.17.
/// Source: memfd_create(2), Linux 3.17.
pub fn unnamed_file(is_inherited: bool) -> Result<File, SysError> {
    let flags = if is_inherited { 0 } else { libc::MFD_CLOEXEC };
    // SAFETY: the kernel reads the name, a C string.
    let answer = unsafe { libc::syscall(libc::SYS_memfd_create, c"olifant".as_ptr(), flags) };
    let number = checked(answer, "memfd_create", || "a file in memory".to_owned())?;
    // SAFETY: the descriptor is new, and nobody else has it; the kernel's numbers of descriptors are ints.
    Ok(unsafe { File::from_raw_fd(i32::try_from(number).unwrap_or(-1)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn what_is_written_is_read_back() {
        let mut file = unnamed_file(false).unwrap();
        file.write_all(b"seven").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "seven");
    }
}
