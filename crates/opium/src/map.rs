//! The map of a profile: its counts by granule, summed up over neighbours until they are few enough for a reader to hold.
//!
//! Sums are exact at any size of cell, and granules of different homes are never put together, so local and remote stay what
//! they were. A profile with few counters is its own map.

use crate::profile::{Accesses, Granule, Profile};
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;

/// Counters of a map: more than a page can show, and few enough to be read in a tenth of a second.
pub const MOST_COUNTERS: usize = 1 << 20;

/// Who reached what.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct GranuleMap {
    /// Ascending by (area, first granule, home).
    pub cells: Vec<MapCell>,
}

/// Neighbouring granules of an area that live on one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MapCell {
    /// Index into the areas.
    pub area: u32,
    /// First granule of the stretch, a multiple of its length.
    pub first: u64,
    /// The stretch has 2^shift granules.
    pub shift: u32,
    /// Node where its granules live.
    pub home: u16,
    /// Granules of the stretch that were reached and live there.
    pub granules: u64,
    /// Who reached them, ascending by (thread, node).
    pub by: Vec<Accesses>,
}

impl MapCell {
    /// Its last granule.
    pub fn last(&self) -> u64 {
        self.first + ((1 << self.shift) - 1)
    }
}

impl GranuleMap {
    /// The map of a profile, with [`MOST_COUNTERS`] at most. Cost: a few walks over the counters.
    pub fn of(profile: &Profile) -> Self {
        Self::within(&profile.granules, profile.areas.len(), MOST_COUNTERS)
    }

    /// The map of granules of so many areas, with `most` counters at most, or one cell for each area and home if these are more.
    pub fn within(granules: &[Granule], areas: usize, most: usize) -> Self {
        let mut counters = vec![0; areas];
        for granule in granules {
            counters[granule.area as usize] += granule.by.len();
        }
        let mut shifts = vec![0; areas];
        raise(&mut shifts, counters, most);
        let cells = granules.iter().map(|granule| {
            let &Granule { area, index, home, ref by } = granule;
            MapCell { area, first: index, shift: 0, home, granules: 1, by: by.clone() }
        });
        let mut map = Self::summed(cells, &shifts);
        // Sparse granules and different homes do not sum up by half with each step, so the first guess may be too fine.
        while map.counters() > most && shifts.iter().any(|shift| *shift < LARGEST_SHIFT) {
            let mut counters = vec![0; areas];
            map.cells.iter().for_each(|cell| counters[cell.area as usize] += cell.by.len());
            raise(&mut shifts, counters, most);
            map = Self::summed(map.cells.into_iter(), &shifts);
        }
        map
    }

    /// Counters in it.
    pub fn counters(&self) -> usize {
        self.cells.iter().map(|cell| cell.by.len()).sum()
    }

    /// Cells, in their order, summed up as far as the shift of their area says.
    fn summed(finer: impl Iterator<Item = MapCell>, shifts: &[u32]) -> Self {
        let mut cells: Vec<MapCell> = Vec::new();
        let mut current = 0;
        for mut cell in finer {
            cell.shift = shifts[cell.area as usize];
            cell.first = cell.first >> cell.shift << cell.shift;
            if cells.last().is_some_and(|last| (last.area, last.first) != (cell.area, cell.first)) {
                cells[current..].sort_by_key(|cell| cell.home);
                current = cells.len();
            }
            match cells[current..].iter_mut().find(|other| other.home == cell.home) {
                Some(other) => other.add(&cell),
                None => cells.push(cell),
            }
        }
        cells[current..].sort_by_key(|cell| cell.home);
        GranuleMap { cells }
    }
}

/// An area has one cell for each home at this shift: addresses have 47 bits.
const LARGEST_SHIFT: u32 = 47;

/// Raises shifts until about `aim` of `counters` are left, but at least one: the area with the most first, each by itself, so
/// that a small area keeps its granules beside a huge one.
fn raise(shifts: &mut [u32], counters: Vec<usize>, aim: usize) {
    let mut sum: usize = counters.iter().sum();
    let mut largest: BinaryHeap<(usize, usize)> =
        counters.into_iter().enumerate().map(|(area, count)| (count, area)).collect();
    while sum > aim {
        let Some((count, area)) = largest.pop() else { break };
        if shifts[area] < LARGEST_SHIFT {
            shifts[area] += 1;
            sum -= count - count / 2;
            largest.push((count / 2, area));
        }
    }
}

impl MapCell {
    fn add(&mut self, other: &MapCell) {
        self.granules += other.granules;
        for more in &other.by {
            let key = |by: &Accesses| (by.thread, by.node);
            match self.by.binary_search_by_key(&key(more), key) {
                Ok(at) => {
                    let by = &mut self.by[at];
                    by.reads = by.reads.saturating_add(more.reads);
                    by.writes = by.writes.saturating_add(more.writes);
                    by.upgrades = by.upgrades.saturating_add(more.upgrades);
                    by.write_backs = by.write_backs.saturating_add(more.write_backs);
                }
                Err(at) => self.by.insert(at, more.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Granules of two areas: a large one whose pages are dealt to two nodes, and a small one.
    fn counted(granules: &[(u64, u16, u16, u64)]) -> Vec<Granule> {
        let of = |area: u32, index: u64, thread: u16, home: u16, reads: u64| Granule {
            area,
            index,
            home,
            by: vec![Accesses { thread, node: thread / 2, reads, ..Accesses::default() }],
        };
        let mut all: Vec<Granule> =
            granules.iter().map(|&(index, thread, home, reads)| of(0, index, thread, home, reads)).collect();
        all.sort_by_key(|granule| granule.index);
        all.dedup_by_key(|granule| granule.index);
        all.push(of(1, 7, 1, 1, 5));
        all
    }

    proptest! {
        #[test]
        fn sums_by_accessor_and_home_are_kept_at_any_size(
            granules in proptest::collection::vec((0..5000_u64, 0..4_u16, 0..2_u16, 0..1000_u64), 0..300),
            most in 1..300_usize,
        ) {
            let granules = counted(&granules);
            let sum = |area: u32, home: u16, thread: u16, map: &GranuleMap| -> (u64, u64) {
                let cells = map.cells.iter().filter(|cell| (cell.area, cell.home) == (area, home));
                let by = |cell: &MapCell| cell.by.iter().filter(|by| by.thread == thread).map(|by| by.reads).sum::<u64>();
                (cells.clone().map(|cell| cell.granules).sum(), cells.map(by).sum())
            };
            let (all, map) = (GranuleMap::within(&granules, 2, usize::MAX), GranuleMap::within(&granules, 2, most));
            prop_assert_eq!(all.cells.len(), granules.len());
            // At worst a counter for each area, home and accessor.
            prop_assert!(map.counters() <= most.max(2 * 4 + 1), "{} counters of {most}", map.counters());
            for (area, home, thread) in [(0, 0, 0), (0, 0, 3), (0, 1, 1), (1, 1, 1), (1, 0, 0)] {
                prop_assert_eq!(sum(area, home, thread, &all), sum(area, home, thread, &map));
            }
            let small = map.cells.last().unwrap();
            if most > 10 {
                prop_assert_eq!((small.first, small.shift), (7, 0), "the small area keeps its granules");
            }
        }
    }
}
