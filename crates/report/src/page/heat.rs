//! The heat map's numbers: for each stretch of an area that was reached a matrix of lanes by cells, local and remote
//! transactions apart, and the homes of each cell's granules.
//!
//! A cell is a granule, or a power of two of them where the map would grow too large for a page: then the largest maps
//! are coarsened first, each by itself, so that a small area keeps its granules beside a huge one. Sums are exact at any
//! size of cell. The numbers are written one after another as LEB128, deflated; `page/script/heat.js` reads them:
//!
//! for each map, in order:   local transactions    lanes × cells, lane by lane
//!                           remote transactions   lanes × cells
//!                           granules by home      nodes × cells, node by node
//!
//! A map says its area and cells in the page's JSON ([`MapFacts`]). Phases of the program would be further maps of the same
//! area, told apart by one more field there.

use super::census::{Census, Count};
use super::pack;
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::Profile;
use serde::Serialize;
use std::collections::BinaryHeap;

/// Numbers of one kind (lanes × cells) in a page: a million cells draw at once, this many still open in a second.
const MOST_CELLS: u64 = 1 << 21;
/// Deflated bytes of one run: two of them in base64 leave room for all else in a page of 20 MB.
const MOST_BYTES: usize = 5_500_000;

/// Heat of one run, as a page holds it.
pub(super) struct Heat {
    /// The maps, in the order of their areas.
    pub(super) maps: Vec<MapFacts>,
    /// The numbers, deflated.
    pub(super) bytes: Vec<u8>,
}

/// The map of one stretch of an area.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct MapFacts {
    /// Index into the page's areas.
    pub(super) area: usize,
    /// Offset of the first cell from the area's first byte; negative if the granule begins before it.
    pub(super) offset: i64,
    /// Bytes of a cell.
    pub(super) cell_bytes: u64,
    /// Number of cells.
    pub(super) cells: u64,
}

impl Heat {
    /// The heat of `profile`; `shown` names the areas to map, by their ids, in the page's order.
    /// Cost: one walk over the counters, and as many numbers as cells.
    pub(super) fn of(profile: &Profile, map: &GranuleMap, census: &Census, shown: &[Option<usize>]) -> Self {
        let mut most_cells = MOST_CELLS;
        loop {
            let grids = Grids::new(profile, census, shown, most_cells);
            let bytes = pack::deflate(&grids.numbers(map, census));
            // Numbers that hardly deflate, as no known program makes them: coarser still.
            if bytes.len() <= MOST_BYTES || most_cells == 1 {
                return Heat { maps: grids.grids.iter().map(|grid| grid.facts(profile)).collect(), bytes };
            }
            most_cells /= 2;
        }
    }
}

/// The cells of a stretch.
struct Grid {
    /// Its id in the profile.
    id: usize,
    /// Its index in the page.
    shown: usize,
    /// Its last granule.
    last: u64,
    /// The first granule's number, in cells.
    first_cell: u64,
    cells: u64,
    /// A cell is 2^shift granules.
    shift: u32,
    /// Where its numbers begin.
    start: usize,
}

impl Grid {
    fn new(id: usize, shown: usize, (first, last): (u64, u64), shift: u32) -> Self {
        let first_cell = first >> shift;
        Grid { id, shown, last, first_cell, cells: (last >> shift) - first_cell + 1, shift, start: 0 }
    }

    fn facts(&self, profile: &Profile) -> MapFacts {
        let granule_bytes = profile.granule_bytes.max(1);
        let into_granule = profile.areas[self.id].start % granule_bytes;
        let first_byte = (self.first_cell << self.shift).saturating_mul(granule_bytes);
        MapFacts {
            area: self.shown,
            offset: first_byte.cast_signed().saturating_sub(into_granule.cast_signed()),
            cell_bytes: granule_bytes << self.shift,
            cells: self.cells,
        }
    }
}

/// The grids of all areas.
struct Grids {
    /// Those of an area stand together, ascending.
    grids: Vec<Grid>,
    /// By area id, the index of its first grid.
    by_area: Vec<Option<usize>>,
    /// Numbers in all.
    length: usize,
}

impl Grids {
    fn new(profile: &Profile, census: &Census, shown: &[Option<usize>], most_cells: u64) -> Self {
        let lanes = census.lanes.len().max(1) as u64;
        let areas = shown.iter().enumerate().filter_map(|(shown, id)| Some((shown, (*id)?)));
        let of_area = |(shown, id): (usize, usize)| {
            census.areas[id].stretches.iter().map(move |stretch| (shown, id, *stretch))
        };
        let stretches: Vec<_> = areas.flat_map(of_area).collect();
        let least: Vec<u32> = stretches.iter().map(|(_, id, _)| census.areas[*id].shift).collect();
        let shifts = shifts(&stretches, least, most_cells / lanes);
        let mut grids: Vec<Grid> = stretches
            .iter()
            .zip(shifts)
            .map(|((shown, id, stretch), shift)| Grid::new(*id, *shown, *stretch, shift))
            .collect();
        let mut length = 0;
        let mut by_area = vec![None; profile.areas.len()];
        for (index, grid) in grids.iter_mut().enumerate() {
            grid.start = length;
            by_area[grid.id].get_or_insert(index);
            length += (2 * census.lanes.len() + census.nodes.len()) * in_memory(grid.cells);
        }
        Grids { grids, by_area, length }
    }

    /// All numbers, in the order of the page.
    fn numbers(&self, map: &GranuleMap, census: &Census) -> Vec<u64> {
        let mut numbers = vec![0; self.length];
        let lanes = census.lanes.len();
        // Granules ascend within an area, and so do its grids.
        let (mut area, mut current) = (u32::MAX, 0);
        for reached in &map.cells {
            let Some(first) = self.by_area.get(reached.area as usize).copied().flatten() else { continue };
            if reached.area != area {
                (area, current) = (reached.area, first);
            }
            while self.grids[current].last < reached.first {
                current += 1;
            }
            let grid = &self.grids[current];
            let cells = in_memory(grid.cells);
            let cell = grid.start + in_memory((reached.first >> grid.shift) - grid.first_cell);
            for accesses in &reached.by {
                let Some(lane) = census.lanes.find(accesses) else { continue };
                let count = Count::of(accesses, reached.home);
                numbers[cell + lane * cells] += count.local;
                numbers[cell + (lanes + lane) * cells] += count.remote;
            }
            if let Ok(home) = census.nodes.binary_search(&reached.home) {
                numbers[cell + (2 * lanes + home) * cells] += reached.granules;
            }
        }
        numbers
    }
}

/// How far each stretch must be coarsened, beginning with `shifts`, so that all together have at most `most` cells: the one
/// with the most cells gives way first, and none below one cell.
fn shifts(stretches: &[(usize, usize, (u64, u64))], mut shifts: Vec<u32>, most: u64) -> Vec<u32> {
    let cells = |(first, last): (u64, u64), shift: u32| (last >> shift) - (first >> shift) + 1;
    let mut by_cells: BinaryHeap<(u64, usize)> = stretches
        .iter()
        .enumerate()
        .map(|(index, (.., stretch))| (cells(*stretch, shifts[index]), index))
        .collect();
    let mut sum: u64 = by_cells.iter().map(|(cells, _)| cells).sum();
    while sum > most {
        let Some((largest, index)) = by_cells.pop() else { break };
        if largest <= 1 {
            break;
        }
        shifts[index] += 1;
        let coarser = cells(stretches[index].2, shifts[index]);
        sum -= largest - coarser;
        by_cells.push((coarser, index));
    }
    shifts
}

/// A number of cells as an index; the budget keeps it small.
fn in_memory(cells: u64) -> usize {
    usize::try_from(cells).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_area_gives_way_first() {
        let stretches = [(0, 0, (0, 1_000_000)), (1, 1, (10, 19))];
        assert_eq!(shifts(&stretches, vec![0; 2], 2_000_000), [0, 0]);
        assert_eq!(shifts(&stretches, vec![3, 0], 2_000_000), [3, 0]);
        assert_eq!(shifts(&stretches, vec![0; 2], 1_000), [10, 0]);
        assert_eq!(shifts(&stretches, vec![0; 2], 2), [20, 5]);
    }

    #[test]
    fn areas_keep_a_cell_each_however_many_there_are() {
        let stretches: Vec<_> = (0..100).map(|area| (area, area, (0, 7))).collect();
        assert_eq!(shifts(&stretches, vec![0; 100], 10), [3; 100]);
    }
}
