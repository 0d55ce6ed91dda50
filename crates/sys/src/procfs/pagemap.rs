//! /proc/PID/pagemap: what backs each page of a process.
//!
//! Source: Documentation/admin-guide/mm/pagemap.rst, Linux 2.6.25. Frame numbers show as 0 without CAP_SYS_ADMIN (Linux
//! 4.2), the other bits need only the right to trace the process.

use super::directory;
use crate::{Pid, ReadError, Root, page_size};
use core::ops::Range;
use std::os::unix::fs::FileExt;

/// What backs one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageEntry(u64);

impl PageEntry {
    /// It is in memory.
    pub fn is_present(self) -> bool {
        self.0 >> 63 & 1 == 1
    }

    /// It is swapped out.
    pub fn is_swapped(self) -> bool {
        self.0 >> 62 & 1 == 1
    }

    /// It belongs to a file or to shared memory. Linux 3.5.
    pub fn is_of_file(self) -> bool {
        self.0 >> 61 & 1 == 1
    }

    /// Only this process maps it. Linux 4.2.
    pub fn is_exclusive(self) -> bool {
        self.0 >> 56 & 1 == 1
    }

    /// It was written since the soft-dirty bits were cleared. Linux 3.11.
    pub fn is_soft_dirty(self) -> bool {
        self.0 >> 55 & 1 == 1
    }

    /// The number of its frame, if it is in memory and the reader may know.
    pub fn frame(self) -> Option<u64> {
        let frame = self.0 & ((1 << 55) - 1);
        (self.is_present() && frame != 0).then_some(frame)
    }
}

/// The entries of the pages that `range` meets, in order.
/// # Errors  [`ReadError`]; `is_gone` if there is no such process; permission is denied for processes of others.
pub fn page_entries(root: &Root, process: Pid, range: Range<usize>) -> Result<Vec<PageEntry>, ReadError> {
    let path = root.path(format!("{}/pagemap", directory(process)));
    let unreadable = |source| ReadError::Unreadable { path: path.clone(), source };
    let file = std::fs::File::open(&path).map_err(unreadable)?;
    let pages = range.start / page_size()..range.end.div_ceil(page_size());
    let mut bytes = vec![0; pages.len() * size_of::<u64>()];
    file.read_exact_at(&mut bytes, (pages.start * size_of::<u64>()) as u64).map_err(unreadable)?;
    let entries = bytes.chunks_exact(size_of::<u64>());
    Ok(entries.map(|entry| PageEntry(u64::from_ne_bytes(entry.try_into().unwrap_or_default()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touched_page_is_present_and_its_neighbour_is_not() {
        let options = crate::MappingOptions {
            huge_pages: crate::HugePages::Never,
            ..crate::MappingOptions::new(2 * page_size())
        };
        let mut mapping = crate::Mapping::anonymous(&options).unwrap();
        mapping.as_mut_slice()[0] = 1;
        let entries = page_entries(&Root::default(), Pid::CALLING, mapping.range()).unwrap();
        assert_eq!(entries.len(), 2);
        assert!(entries[0].is_present() && entries[0].is_exclusive() && !entries[0].is_of_file());
        assert!(!entries[1].is_present());
        assert_eq!(entries[1].frame(), None);
    }
}
