//! Files as memory, shared with whoever else maps or writes them: addresses only, no references into it.
//!
//! Source: mmap(2).

use crate::mapping::unmap;
use crate::{Errno, SysError};
use core::ops::Range;
use core::ptr::NonNull;
use std::fs::File;
use std::os::fd::AsRawFd;

/// A file, or part of it, as memory.
#[derive(Debug)]
pub struct FileMapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the type owns a range of addresses and gives out no reference into it.
unsafe impl Send for FileMapping {}
// SAFETY: as for Send.
unsafe impl Sync for FileMapping {}

impl FileMapping {
    /// Maps `bytes` bytes of `file` from `offset` (a multiple of the page size), for reading and writing, shared with
    /// all who map it.
    /// # Errors  `EACCES` if the file is not open for both; `EINVAL` for no bytes or an offset off a page; `ENOMEM`.
    /// Source: mmap(2).
    pub fn shared(file: &File, offset: u64, bytes: usize) -> Result<FileMapping, SysError> {
        let object = || format!("{bytes} bytes of a file from {offset}");
        let refused = |errno| SysError { call: "mmap", object: object(), errno };
        let offset_number = libc::off_t::try_from(offset).map_err(|_| refused(Errno::EINVAL))?;
        // SAFETY: a new mapping at a place of the kernel's choice overlaps nothing.
        let address = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                offset_number,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(SysError::last("mmap", object()));
        }
        NonNull::new(address.cast()).map(|start| FileMapping { start, bytes }).ok_or(refused(Errno::ENOMEM))
    }

    /// The addresses.
    pub fn range(&self) -> Range<usize> {
        let start = self.start.as_ptr().addr();
        start..start + self.bytes
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Gives the memory up; it stays mapped.
    pub fn into_parts(self) -> (NonNull<u8>, usize) {
        let parts = (self.start, self.bytes);
        core::mem::forget(self);
        parts
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        unmap(self.start.as_ptr(), self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_size;

    #[test]
    fn a_file_is_seen_as_memory() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(page_size() as u64).unwrap();
        let mapping = FileMapping::shared(&file, 0, page_size()).unwrap();
        // SAFETY: the range is mapped, and only this test writes the file.
        unsafe { mapping.as_ptr().write(9) };
        let mut byte = [0];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut byte, 0).unwrap();
        assert_eq!(byte, [9]);
    }
}
