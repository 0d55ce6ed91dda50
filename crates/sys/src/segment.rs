//! System V shared memory: segments that live by a key until they are removed, whoever attaches them.
//!
//! Sources: ftok(3), shmget(2), shmat(2), shmctl(2), Linux 1.0; SHM_HUGETLB, Linux 2.6.

use crate::error::checked;
use crate::{Errno, SysError};
use core::ops::Range;
use core::ptr::NonNull;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The name of a segment, made from a file and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentKey(i32);

impl SegmentKey {
    /// The key of an existing file and the low eight bits of `number`, as ftok(3) makes it: from eight bits of the
    /// device's number and sixteen of the inode's. Different files may have one key.
    /// # Errors  Those of stat(2).
    pub fn of_file(path: &Path, number: u32) -> std::io::Result<SegmentKey> {
        let about = std::fs::metadata(path)?;
        let low = |value: u64, bits: u32| u32::try_from(value & ((1 << bits) - 1)).unwrap_or(0);
        let key = low(about.ino(), 16) | low(about.dev(), 8) << 16 | (number & 0xff) << 24;
        Ok(SegmentKey(key.cast_signed()))
    }
}

/// A segment attached to this process; dropping it detaches it, and the segment stays.
#[derive(Debug)]
pub struct SharedSegment {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the type owns a range of addresses and gives out no reference into it.
unsafe impl Send for SharedSegment {}
// SAFETY: as for Send.
unsafe impl Sync for SharedSegment {}

impl SharedSegment {
    /// Attaches the segment of a key; `create` makes one of so many bytes with this mode where there is none.
    /// # Errors  `ENOENT` if there is none and none shall be made; `EACCES`; `EINVAL` for a size of zero;
    /// `ENOMEM` and `ENOSPC` beyond the limits of memory, huge pages and segments.
    pub fn attach(
        key: SegmentKey,
        is_huge: bool,
        create: Option<(usize, u32)>,
    ) -> Result<SharedSegment, SysError> {
        let object = || format!("shared memory segment {:#x}", key.0);
        let huge = if is_huge { libc::SHM_HUGETLB } else { 0 };
        // SAFETY: shmget takes numbers and touches no memory of ours.
        let mut found = checked(unsafe { libc::shmget(key.0, 0, huge) }.into(), "shmget", object);
        if let (Err(error), Some((bytes, mode))) = (&found, create)
            && error.errno == Errno::ENOENT
        {
            let mode = i32::try_from(mode & 0o777).unwrap_or(0);
            // SAFETY: as above.
            let made = unsafe { libc::shmget(key.0, bytes, libc::IPC_CREAT | mode | huge) };
            found = checked(made.into(), "shmget", object);
        }
        let id = i32::try_from(found?).unwrap_or(-1);
        // SAFETY: all zeros is a valid record of numbers, which shmctl fills.
        let mut about: libc::shmid_ds = unsafe { core::mem::zeroed() };
        // SAFETY: shmctl writes one record of this type to `about`.
        checked(unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut about) }.into(), "shmctl", object)?;
        // SAFETY: an attachment at a place of the kernel's choice overlaps nothing.
        let address = unsafe { libc::shmat(id, core::ptr::null(), 0) };
        // shmat says -1, as a pointer, for a failure.
        match NonNull::new(address.cast::<u8>()).filter(|start| start.as_ptr().addr() != usize::MAX) {
            Some(start) => Ok(SharedSegment { start, bytes: about.shm_segsz }),
            None => Err(SysError::last("shmat", object())),
        }
    }

    /// The addresses.
    pub fn range(&self) -> Range<usize> {
        let start = self.start.as_ptr().addr();
        start..start + self.bytes
    }
}

impl Drop for SharedSegment {
    fn drop(&mut self) {
        // SAFETY: the address came from shmat, and nobody refers to the memory.
        unsafe { libc::shmdt(self.start.as_ptr().cast()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_found_again_by_its_key_with_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "").unwrap();
        let key = SegmentKey::of_file(&file, 0x1_07).unwrap();
        assert_eq!(key, SegmentKey::of_file(&file, 7).unwrap());
        assert_ne!(key, SegmentKey::of_file(&file, 8).unwrap());
        assert_eq!(SharedSegment::attach(key, false, None).unwrap_err().errno, Errno::ENOENT);
        let made = SharedSegment::attach(key, false, Some((3 << 12, 0o600))).unwrap();
        let again = SharedSegment::attach(key, false, Some((1, 0o600))).unwrap();
        assert_eq!(made.range().len(), 3 << 12);
        assert_eq!(again.range().len(), 3 << 12);
        assert_ne!(made.range().start, again.range().start);
        // SAFETY: removes by number the segment that this test made; it is gone when both are detached.
        unsafe { libc::shmctl(libc::shmget(key.0, 0, 0), libc::IPC_RMID, core::ptr::null_mut()) };
    }
}
