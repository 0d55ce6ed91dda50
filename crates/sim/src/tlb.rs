//! The data TLB of one processor: set-associative, least recently used goes first.
//!
//! Departure from hardware: it is consulted, and its order updated, when an access leaves the first-level cache's hit
//! path, not on every access. An access that hits the first level but would miss the TLB is not seen; `docs` give the
//! measured effect.

use crate::index::index;
use crate::pages::Translation;

#[derive(Clone, Copy)]
struct Entry {
    virtual_page: u64,
    translation: Translation,
}

impl Default for Entry {
    /// No page of any address.
    fn default() -> Self {
        Self { virtual_page: u64::MAX, translation: Translation::default() }
    }
}

/// A TLB.
pub struct Tlb {
    /// Set by set, in the order of last use.
    entries: Box<[Entry]>,
    ways: usize,
    set_mask: u64,
}

impl Tlb {
    /// An empty TLB of `entries` in sets of `ways`.
    pub fn new(entries: usize, ways: usize) -> Self {
        let sets = (entries / ways).max(1);
        Self {
            entries: vec![Entry::default(); sets * ways].into_boxed_slice(),
            ways,
            set_mask: sets as u64 - 1,
        }
    }

    /// The translation of a page, if it is held.
    #[inline]
    pub fn find(&mut self, virtual_page: u64) -> Option<Translation> {
        let set = self.set(virtual_page);
        let way = set.iter().position(|entry| entry.virtual_page == virtual_page)?;
        let entry = set[way];
        for at in (0..way).rev() {
            set[at + 1] = set[at];
        }
        set[0] = entry;
        Some(entry.translation)
    }

    /// Holds a translation; the least recently used of its set leaves.
    pub fn insert(&mut self, virtual_page: u64, translation: Translation) {
        let set = self.set(virtual_page);
        set.rotate_right(1);
        set[0] = Entry { virtual_page, translation };
    }

    /// Drops a page.
    pub fn remove(&mut self, virtual_page: u64) {
        let set = self.set(virtual_page);
        if let Some(way) = set.iter().position(|entry| entry.virtual_page == virtual_page) {
            set[way..].rotate_left(1);
            set[set.len() - 1] = Entry::default();
        }
    }

    #[inline]
    fn set(&mut self, virtual_page: u64) -> &mut [Entry] {
        let first = index(virtual_page & self.set_mask) * self.ways;
        &mut self.entries[first..][..self.ways]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Geometry, PageTable};
    use crate::random::Random;
    use olifant_machine::FramePolicy;
    use olifant_placement::MemoryPolicy;

    #[test]
    fn a_page_is_lost_after_as_many_newer_ones_as_there_are_ways() {
        let geometry = Geometry {
            page_bits: 12,
            colours: 1,
            capacity: vec![1000],
            nearest: vec![vec![0]],
            frames: FramePolicy::Coloured,
        };
        let mut pages = PageTable::new(geometry, MemoryPolicy::FirstTouch, Random::new(0));
        let mut tlb = Tlb::new(64, 4);
        for page in (0..5u64).map(|k| k * 16) {
            assert_eq!(tlb.find(page), None);
            tlb.insert(page, pages.translate(page << 12, 0));
        }
        assert_eq!(tlb.find(0), None);
        assert!(tlb.find(16).is_some());
    }
}
