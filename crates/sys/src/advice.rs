//! What the kernel may be told about a range of memory without changing what is in it.
//!
//! Sources: madvise(2), mlock(2).

use crate::SysError;
use crate::error::checked;
use core::ops::Range;

/// Advice on a range that never changes what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Transparent huge pages are welcome. Linux 2.6.38.
    HugePages,
    /// Base pages only. Linux 2.6.38.
    BasePages,
    /// Allocate every page now, as if written. Linux 5.14.
    PopulateWrite,
    /// Children of fork do not get it. Linux 2.6.16.
    NotInChildren,
}

/// Gives the kernel advice on a range of this process's memory.
/// # Errors  `EINVAL` if the kernel does not have it; `ENOMEM` if part is not mapped, or (populating) if the nodes
/// have no free memory; `EFAULT` where populating met a missing page of a file or poisoned memory.
/// Source: madvise(2); see [`Advice`] for kernels.
pub fn advise(range: Range<usize>, advice: Advice) -> Result<(), SysError> {
    /// Constants of include/uapi/asm-generic/mman-common.h that the C library may lack.
    const POPULATE_WRITE: i32 = 23;
    let number = match advice {
        Advice::HugePages => libc::MADV_HUGEPAGE,
        Advice::BasePages => libc::MADV_NOHUGEPAGE,
        Advice::PopulateWrite => POPULATE_WRITE,
        Advice::NotInChildren => libc::MADV_DONTFORK,
    };
    // SAFETY: none of this advice changes the contents of memory; a range that is not ours is refused.
    let answer = unsafe { libc::syscall(libc::SYS_madvise, range.start, range.len(), number) };
    checked(answer, "madvise", || format!("{:#x}-{:#x} for {advice:?}", range.start, range.end))?;
    Ok(())
}

/// Keeps a range in memory: every page is there afterwards and none is swapped out.
/// # Errors  `ENOMEM` beyond ulimit -l or where nothing is mapped, `EPERM` if the limit is 0, `EAGAIN` if some pages
/// could not be had.
/// Source: mlock(2).
pub fn lock(range: Range<usize>) -> Result<(), SysError> {
    // SAFETY: locking changes no contents.
    let answer = unsafe { libc::syscall(libc::SYS_mlock, range.start, range.len()) };
    checked(answer, "mlock", || format!("{:#x}-{:#x}", range.start, range.end))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, MappingOptions, page_size};

    #[test]
    fn populated_pages_are_in_memory() {
        let mut mapping = Mapping::anonymous(&MappingOptions::new(5 * page_size())).unwrap();
        if advise(mapping.range(), Advice::PopulateWrite).is_err() {
            mapping.touch();
        }
        let addresses: Vec<usize> = mapping.range().step_by(page_size()).collect();
        let states = crate::page_states(crate::Pid::CALLING, &addresses).unwrap();
        assert!(states.iter().all(|state| state.node().is_some()), "{states:?}");
    }
}
