//! Addresses set aside for the plan's areas, so that whether a block is one of them is known by its address alone.

use crate::mappings::kernel_mmap;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeMap;

/// Addresses that are asked for: a hundredth of what there is. Where limits forbid so many (ulimit -v), fewer do.
const MOST_BYTES: usize = 1 << 40;
const LEAST_BYTES: usize = 1 << 28;

static START: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// Whether an address is among those set aside.
#[inline]
pub fn contains(address: usize) -> bool {
    // Without any, no distance is below zero bytes.
    address.wrapping_sub(START.load(Ordering::Relaxed)) < BYTES.load(Ordering::Relaxed)
}

/// Sets addresses aside, once; nothing backs them. `None` where the system gives none.
pub fn set_aside() -> Option<Range<usize>> {
    let mut bytes = MOST_BYTES;
    while bytes >= LEAST_BYTES {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping without access at a place of the kernel's choice.
        let start = unsafe { kernel_mmap(core::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        if start != libc::MAP_FAILED {
            START.store(start.addr(), Ordering::Relaxed);
            BYTES.store(bytes, Ordering::Relaxed);
            return Some(start.addr()..start.addr() + bytes);
        }
        bytes /= 2;
    }
    None
}

/// Makes a range of them memory of zeros without a policy; false if the system refuses.
pub fn back(range: &Range<usize>) -> bool {
    remap(range, libc::PROT_READ | libc::PROT_WRITE, 0)
}

/// Takes the memory back from a range that nobody uses any more.
pub fn unback(range: &Range<usize>) {
    remap(range, libc::PROT_NONE, libc::MAP_NORESERVE);
}

fn remap(range: &Range<usize>, access: i32, flags: i32) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | flags;
    let start = core::ptr::with_exposed_provenance_mut(range.start);
    // SAFETY: the callers own the range, part of what was set aside, and nobody uses what was in it.
    unsafe { kernel_mmap(start, range.len(), access, flags, -1, 0) != libc::MAP_FAILED }
}

/// Which of the addresses are free.
#[derive(Debug)]
pub struct Free(BTreeMap<usize, usize>);

impl Free {
    /// All of a range.
    pub fn new(range: Range<usize>) -> Free {
        Free([(range.start, range.end)].into_iter().filter(|(start, end)| start < end).collect())
    }

    /// The first free range of so many bytes at a multiple of `alignment`, a power of two.
    pub fn take(&mut self, bytes: usize, alignment: usize) -> Option<Range<usize>> {
        let (start, end, first) = self.0.iter().find_map(|(&start, &end)| {
            let first = start.checked_next_multiple_of(alignment)?;
            (first.checked_add(bytes)? <= end).then_some((start, end, first))
        })?;
        self.0.remove(&start);
        for (start, end) in [(start, first), (first + bytes, end)] {
            if start < end {
                self.0.insert(start, end);
            }
        }
        Some(first..first + bytes)
    }

    /// A range is free again; it joins its neighbours.
    pub fn give(&mut self, range: Range<usize>) {
        let (mut start, mut end) = (range.start, range.end);
        if let Some((&before, &its_end)) = self.0.range(..start).next_back()
            && its_end == start
        {
            self.0.remove(&before);
            start = before;
        }
        if let Some(its_end) = self.0.remove(&end) {
            end = its_end;
        }
        self.0.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::Free;

    #[test]
    fn what_was_taken_and_given_back_is_one_range_again() {
        let mut free = Free::new(0x1000..0x9000);
        let one = free.take(0x1000, 0x1000).unwrap();
        let two = free.take(0x2000, 0x4000).unwrap();
        let three = free.take(0x1000, 0x1000).unwrap();
        assert_eq!(
            (one.clone(), two.clone(), three.clone()),
            (0x1000..0x2000, 0x4000..0x6000, 0x2000..0x3000)
        );
        assert_eq!(free.take(0x8000, 0x1000), None);
        for range in [two, one, three] {
            free.give(range);
        }
        assert_eq!(free.take(0x8000, 0x1000), Some(0x1000..0x9000));
        assert_eq!(free.take(1, 1), None);
    }
}
