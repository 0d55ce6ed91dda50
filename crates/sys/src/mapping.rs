//! Memory of one's own: mappings that are unmapped when they go out of scope.
//!
//! Sources: mmap(2), munmap(2). Nothing is touched at creation, so that a policy can come first.
//! Mappings of files are in `file_mapping.rs`, advice in `advice.rs`.

use crate::advice::{Advice, advise};
use crate::{Errno, SysError};
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::OnceLock;

/// The size of a base page in bytes. Source: sysconf(3), _SC_PAGESIZE.
pub fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: sysconf takes a number and gives a number.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).unwrap_or(4096)
    })
}

/// What backs a mapping: base pages or larger ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HugePages {
    /// As the system is set (/sys/kernel/mm/transparent_hugepage/enabled).
    #[default]
    System,
    /// Base pages only: the kernel then places page by page.
    Never,
    /// Transparent huge pages where the kernel can. Linux 2.6.38.
    Transparent,
    /// Pages of this size from the reserved pool (hugetlb), a power of two. Linux 3.8.
    Reserved(usize),
}

/// What a new anonymous mapping shall be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappingOptions {
    /// Size; rounded up to whole pages.
    pub bytes: usize,
    /// The start is a multiple of this power of two; at least a page.
    pub alignment: usize,
    /// What backs it.
    pub huge_pages: HugePages,
}

/// Anonymous private memory, filled with zeros.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping owns its memory like a boxed slice of bytes, and no thread is special to it.
unsafe impl Send for Mapping {}
// SAFETY: shared references give shared slices of plain bytes only.
unsafe impl Sync for Mapping {}

impl MappingOptions {
    /// So many bytes, page aligned, with pages as the system is set.
    pub fn new(bytes: usize) -> MappingOptions {
        MappingOptions { bytes, alignment: page_size(), huge_pages: HugePages::System }
    }

    /// The page size that backs the mapping, as far as it is certain.
    fn unit(&self) -> usize {
        match self.huge_pages {
            HugePages::Reserved(size) => size,
            _ => page_size(),
        }
    }
}

impl Mapping {
    /// Maps fresh memory; no page of it exists yet.
    /// # Errors  `EINVAL` for no bytes or an alignment that is no power of two; `ENOMEM` beyond the limits of address
    /// space (ulimit -v, vm.max_map_count) or when the pool of reserved huge pages is empty.
    /// Source: mmap(2).
    pub fn anonymous(options: &MappingOptions) -> Result<Mapping, SysError> {
        let object = || format!("{} bytes of anonymous memory", options.bytes);
        let refused = |errno| SysError { call: "mmap", object: object(), errno };
        let unit = options.unit();
        if options.bytes == 0 || !options.alignment.is_power_of_two() || !unit.is_power_of_two() {
            return Err(refused(Errno::EINVAL));
        }
        let bytes = options.bytes.checked_next_multiple_of(unit).ok_or(refused(Errno::ENOMEM))?;
        let alignment = options.alignment.max(unit);
        // Enough to find an aligned start within; what stands over is given back.
        let slack = alignment.saturating_sub(unit);
        let whole = bytes.checked_add(slack).ok_or(refused(Errno::ENOMEM))?;
        let huge = match options.huge_pages {
            HugePages::Reserved(size) => {
                libc::MAP_HUGETLB | (size.trailing_zeros().cast_signed() << libc::MAP_HUGE_SHIFT)
            }
            _ => 0,
        };
        // SAFETY: a new private mapping at a place of the kernel's choice overlaps nothing.
        let address = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                whole,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | huge,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(SysError::last("mmap", object()));
        }
        let raw: *mut u8 = address.cast();
        let before = raw.addr().next_multiple_of(alignment) - raw.addr();
        // SAFETY: `before + bytes` is at most `whole`, by the choice of the slack, so all three stay in the mapping.
        let (start, end) = unsafe { (raw.add(before), raw.add(before + bytes)) };
        unmap(raw, before);
        unmap(end, whole - before - bytes);
        let Some(start) = NonNull::new(start) else { return Err(refused(Errno::ENOMEM)) };
        let mapping = Mapping { start, bytes };
        let advice = match options.huge_pages {
            HugePages::Never => Some(Advice::BasePages),
            HugePages::Transparent => Some(Advice::HugePages),
            HugePages::System | HugePages::Reserved(_) => None,
        };
        match advice.map(|advice| advise(mapping.range(), advice)) {
            // A kernel without transparent huge pages has base pages anyway, and no better to offer.
            Some(Err(error)) if error.errno != Errno::EINVAL => Err(error),
            _ => Ok(mapping),
        }
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

    /// The contents.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping is readable memory of this size until it is dropped, and all bytes have a value.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// The contents, to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }

    /// Writes one byte of each page, so that each exists afterwards: for kernels that cannot populate a range by
    /// themselves. A page without free memory on its nodes ends the process (SIGBUS or the out-of-memory killer).
    pub fn touch(&mut self) {
        let page = page_size();
        for byte in self.as_mut_slice().iter_mut().step_by(page) {
            // SAFETY: a reference to a byte is good for a volatile access, which the compiler may not leave out.
            unsafe { core::ptr::write_volatile(byte, core::ptr::read_volatile(byte)) };
        }
    }

    /// Gives the memory up to whoever unmaps it with [`Mapping::from_parts`].
    pub fn into_parts(self) -> (NonNull<u8>, usize) {
        let parts = (self.start, self.bytes);
        core::mem::forget(self);
        parts
    }

    /// Takes back what [`Mapping::into_parts`] gave.
    ///
    /// # Safety
    /// The parts come from `into_parts`, once, and nobody uses the memory any more.
    pub unsafe fn from_parts(start: NonNull<u8>, bytes: usize) -> Mapping {
        Mapping { start, bytes }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        unmap(self.start.as_ptr(), self.bytes);
    }
}

/// Unmaps what belongs to the caller; nothing for no bytes. A failure could only be a wrong range, which the callers
/// rule out, or a lack of kernel memory, which leaves the range mapped and harmless.
pub(crate) fn unmap(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: both callers own the range and nobody refers to it any more.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_as_asked_and_zero() {
        for alignment in [1, 1 << 16, 1 << 22] {
            let options = MappingOptions { alignment, ..MappingOptions::new(3 * page_size() + 1) };
            let mapping = Mapping::anonymous(&options).unwrap();
            assert_eq!(mapping.range().start % alignment.max(page_size()), 0);
            assert_eq!(mapping.range().len(), 4 * page_size());
            assert!(mapping.as_slice().iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn impossible_mappings_are_refused() {
        assert_eq!(Mapping::anonymous(&MappingOptions::new(0)).unwrap_err().errno, Errno::EINVAL);
        let crooked = MappingOptions { alignment: 3000, ..MappingOptions::new(1) };
        assert_eq!(Mapping::anonymous(&crooked).unwrap_err().errno, Errno::EINVAL);
        assert_eq!(Mapping::anonymous(&MappingOptions::new(usize::MAX)).unwrap_err().errno, Errno::ENOMEM);
    }
}
