//! Room: no node may be given more pages than it has, at any moment of the run.
//!
//! Pages count while their area lives. Where a node would overflow, the cells that lose least per page move to the
//! best node with room. Pages that nobody touched take no memory. Left out: what the profile doesn't see (code, other
//! programs), so a machine filled to the last page may still spill.

use crate::demand::Demand;
use crate::homes::{Homes, piece_cost};
use crate::layout::Layout;
use olifant_opium::profile::Area;

/// Moves cells until every node's pages fit. Returns whether anything had to move.
pub(crate) fn fit(
    homes: &mut Homes,
    demand: &Demand,
    areas: &[Area],
    layout: &Layout,
    thread_nodes: &[usize],
) -> bool {
    let mut has_moved = false;
    loop {
        let peaks = Peaks::new(&holdings(homes, demand, areas), layout);
        let Some((node, time, excess)) = peaks.overflow else { return has_moved };
        let mut room: Vec<u64> =
            (0..layout.len()).map(|other| layout.pages[other].saturating_sub(peaks.most[other])).collect();
        let moved = relieve(homes, demand, areas, layout, thread_nodes, (node, time, excess), &mut room);
        if moved == 0 {
            return has_moved;
        }
        has_moved = true;
    }
}

/// Moves cells off a node until `excess` pages are gone; returns how many went.
fn relieve(
    homes: &mut Homes,
    demand: &Demand,
    areas: &[Area],
    layout: &Layout,
    thread_nodes: &[usize],
    (node, time, excess): (usize, u64, u64),
    room: &mut [u64],
) -> u64 {
    let lives = |cell: usize| {
        demand.of_cell(cell).iter().any(|&piece| is_alive(&areas[demand.pieces[piece].area], time))
    };
    let cost = |cell: usize, home: usize| -> u64 {
        demand.of_cell(cell).iter().map(|&piece| piece_cost(demand, layout, thread_nodes, piece, home)).sum()
    };
    let least_cost = |cell: usize| {
        let others = (0..layout.len()).filter(|&other| other != node && layout.has_memory(other));
        others.map(|other| cost(cell, other)).min().unwrap_or(u64::MAX)
    };
    let mut cells: Vec<(u64, usize)> = (0..demand.cells())
        .filter(|&cell| homes.node[cell] == node && lives(cell))
        .map(|cell| (least_cost(cell).saturating_sub(cost(cell, node)) / pages(demand, cell), cell))
        .collect();
    cells.sort_unstable();
    let mut moved = 0;
    for (_, cell) in cells {
        if moved >= excess {
            break;
        }
        let needed = pages(demand, cell);
        let target = (0..layout.len())
            .filter(|&other| other != node && room[other] >= needed)
            .min_by_key(|&other| (cost(cell, other), core::cmp::Reverse(room[other]), other));
        if let Some(target) = target {
            homes.cost = homes.cost + cost(cell, target) - cost(cell, node);
            homes.node[cell] = target;
            room[target] -= needed;
            moved += needed;
        }
    }
    moved
}

/// Pages of a cell; a page shared by several areas counts once.
fn pages(demand: &Demand, cell: usize) -> u64 {
    demand.of_cell(cell).iter().map(|&piece| demand.pieces[piece].pages).max().unwrap_or(1)
}

fn is_alive(area: &Area, time: u64) -> bool {
    area.born <= time && area.freed.is_none_or(|freed| freed > time)
}

/// Pages on a node while areas live.
pub(crate) struct Holding {
    born: u64,
    freed: u64,
    pages: u64,
    node: usize,
}

impl Holding {
    /// Pages of one area.
    pub fn new(area: &Area, pages: u64, node: usize) -> Holding {
        Holding { born: area.born, freed: area.freed.unwrap_or(u64::MAX), pages, node }
    }

    /// Lives as long as another, too.
    fn extend(&mut self, other: &Area) {
        self.born = self.born.min(other.born);
        self.freed = self.freed.max(other.freed.unwrap_or(u64::MAX));
    }
}

/// The most pages that each node holds at once.
pub(crate) struct Peaks {
    most: Vec<u64>,
    /// The first node to hold too many, when, and by how many at that time.
    pub overflow: Option<(usize, u64, u64)>,
}

impl Peaks {
    /// Goes through the births and ends of holdings.
    pub fn new(holdings: &[Holding], layout: &Layout) -> Peaks {
        let mut events: Vec<(u64, i64, usize)> = Vec::with_capacity(2 * holdings.len());
        for holding in holdings {
            let pages = holding.pages.cast_signed();
            events.push((holding.born, pages, holding.node));
            events.push((holding.freed, -pages, holding.node));
        }
        // At one moment, what ends makes room for what begins.
        events.sort_unstable();
        let mut held = vec![0i64; layout.len()];
        let mut peaks = Peaks { most: vec![0; layout.len()], overflow: None };
        for (time, pages, node) in events {
            held[node] += pages;
            let now = u64::try_from(held[node]).unwrap_or(0);
            peaks.most[node] = peaks.most[node].max(now);
            let is_first = peaks.overflow.is_none_or(|first| (first.0, first.1) == (node, time));
            if now > layout.pages[node] && is_first {
                peaks.overflow = Some((node, time, now - layout.pages[node]));
            }
        }
        peaks
    }
}

/// What all cells hold.
fn holdings(homes: &Homes, demand: &Demand, areas: &[Area]) -> Vec<Holding> {
    let of_cell = |cell: usize| {
        let mut owners = demand.of_cell(cell).iter().map(|&piece| &areas[demand.pieces[piece].area]);
        let mut holding = Holding::new(owners.next()?, pages(demand, cell), homes.node[cell]);
        owners.for_each(|other| holding.extend(other));
        Some(holding)
    };
    (0..demand.cells()).filter_map(of_cell).collect()
}
