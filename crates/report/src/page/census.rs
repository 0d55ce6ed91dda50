//! One walk over a profile's counters: who reached what, summed by area, thread, node and home.
//!
//! A *lane* is a thread on a node, the finest accessor that a profile knows; threads and nodes are sums of lanes. The walk
//! is the part of a page that grows with the profile, so it allocates nothing per granule and looks at each counter once.

use crate::traffic::transactions;
use olifant_opium::map::{GranuleMap, MapCell};
use olifant_opium::profile::{Accesses, Profile};
use std::collections::BTreeSet;
use std::ops::AddAssign;

/// Sums over a profile's counters.
pub(super) struct Census {
    /// The lanes that made a transaction.
    pub(super) lanes: Lanes,
    /// By area id.
    pub(super) areas: Vec<AreaCensus>,
    /// The machine's nodes and any that a counter or a granule names, ascending.
    pub(super) nodes: Vec<u16>,
    /// For each home of a granule, the transactions with it by lane.
    homes: Vec<(u16, Vec<u64>)>,
}

impl Census {
    /// Walks over the map of `profile`.
    pub(super) fn of(profile: &Profile, map: &GranuleMap) -> Self {
        let mut lanes = Lanes::default();
        let mut areas = vec![AreaCensus::default(); profile.areas.len()];
        let mut homes = Vec::new();
        for cell in &map.cells {
            let Some(area) = areas.get_mut(cell.area as usize) else { continue };
            area.reach(cell);
            let from_home: &mut Vec<u64> = of_key(&mut homes, cell.home);
            for accesses in &cell.by {
                let lane = lanes.number(accesses);
                let count = Count::of(accesses, cell.home);
                *at(&mut area.by_lane, lane) += count;
                *at(from_home, lane) += count.all();
            }
        }
        let mut nodes: BTreeSet<u16> = profile.nodes.iter().map(|node| node.node).collect();
        nodes.extend(homes.iter().map(|(home, _)| *home));
        nodes.extend(lanes.list.iter().map(|lane| lane.node));
        Census { lanes, areas, nodes: nodes.into_iter().collect(), homes }
    }

    /// Transactions from each node (row) to each home (column), both as in `nodes`.
    pub(super) fn node_matrix(&self) -> Vec<Vec<u64>> {
        let mut matrix = vec![vec![0; self.nodes.len()]; self.nodes.len()];
        for (home, by_lane) in &self.homes {
            for (lane, count) in self.lanes.list.iter().zip(by_lane) {
                if let (Ok(row), Ok(column)) =
                    (self.nodes.binary_search(&lane.node), self.nodes.binary_search(home))
                {
                    matrix[row][column] += count;
                }
            }
        }
        matrix
    }

    /// Transactions of each thread, by its number; as long as the last thread that a counter names.
    pub(super) fn by_thread(&self) -> Vec<Count> {
        let mut threads = Vec::new();
        for area in &self.areas {
            for (lane, count) in self.lanes.list.iter().zip(&area.by_lane) {
                *at(&mut threads, usize::from(lane.thread)) += *count;
            }
        }
        threads
    }

    /// Transactions with an area by the accessor's node, as in `nodes`.
    pub(super) fn by_node(&self, area: &AreaCensus) -> Vec<u64> {
        let mut sums = vec![0; self.nodes.len()];
        for (lane, count) in self.lanes.list.iter().zip(&area.by_lane) {
            if let Ok(node) = self.nodes.binary_search(&lane.node) {
                sums[node] += count.all();
            }
        }
        sums
    }

    /// Granules of an area by home, as in `nodes`.
    pub(super) fn granules_by_home(&self, area: &AreaCensus) -> Vec<u64> {
        let granules =
            |node| area.homes.iter().find(|(home, _)| home == node).map_or(0, |(_, granules)| *granules);
        self.nodes.iter().map(granules).collect()
    }
}

/// What the counters of one area say.
#[derive(Debug, Default, Clone)]
pub(super) struct AreaCensus {
    /// By lane, as numbered in [`Lanes`]; lanes past the end have none.
    by_lane: Vec<Count>,
    /// Granules by home, in the order of their appearance.
    homes: Vec<(u16, u64)>,
    /// The stretches of granules that were reached, each by its first and last, ascending.
    pub(super) stretches: Vec<(u64, u64)>,
    /// Its map has cells of 2^shift granules.
    pub(super) shift: u32,
}

/// So many untouched granules part one stretch from the next.
const LEAST_GAP: u64 = 32;
/// An area that is touched here and there keeps so many stretches at least and twice as many at most.
const MANY_STRETCHES: usize = 128;

impl AreaCensus {
    /// All lanes together.
    pub(super) fn sum(&self) -> Count {
        let mut sum = Count::default();
        self.by_lane.iter().for_each(|count| sum += *count);
        sum
    }

    /// Counts a cell; they come in ascending order.
    fn reach(&mut self, cell: &MapCell) {
        *of_key(&mut self.homes, cell.home) += cell.granules;
        self.shift = self.shift.max(cell.shift);
        match self.stretches.last_mut() {
            Some((_, last)) if cell.first.saturating_sub(*last) <= LEAST_GAP << cell.shift => {
                *last = cell.last()
            }
            _ => self.stretches.push((cell.first, cell.last())),
        }
        if self.stretches.len() > 2 * MANY_STRETCHES {
            self.join_stretches();
        }
    }

    /// Joins stretches over the smaller half of their gaps.
    fn join_stretches(&mut self) {
        let gap = |pair: &[(u64, u64)]| pair[1].0 - pair[0].1;
        let mut gaps: Vec<u64> = self.stretches.windows(2).map(gap).collect();
        let joined = gaps.len() - MANY_STRETCHES;
        let (_, widest_joined, _) = gaps.select_nth_unstable(joined);
        let widest_joined = *widest_joined;
        self.stretches.dedup_by(|next, kept| {
            let is_near = next.0 - kept.1 <= widest_joined;
            if is_near {
                kept.1 = next.1;
            }
            is_near
        });
    }
}

/// Transactions, apart by whether they stayed on the accessor's node.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    /// With granules that live on the accessor's node.
    pub(super) local: u64,
    /// With granules that live elsewhere.
    pub(super) remote: u64,
}

impl Count {
    /// What `accesses` did with a granule that lives on `home`.
    pub(super) fn of(accesses: &Accesses, home: u16) -> Self {
        let count = transactions(accesses);
        if accesses.node == home {
            Count { local: count, remote: 0 }
        } else {
            Count { local: 0, remote: count }
        }
    }

    /// Both.
    pub(super) fn all(self) -> u64 {
        self.local + self.remote
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.local += other.local;
        self.remote += other.remote;
    }
}

/// A thread on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane {
    /// The thread.
    pub(super) thread: u16,
    /// The node it ran on.
    pub(super) node: u16,
}

/// The lanes of a profile, numbered in the order of their appearance.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    list: Vec<Lane>,
    /// For each thread, its nodes with the lane's number.
    by_thread: Vec<Vec<(u16, usize)>>,
}

impl Lanes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// All, by number.
    pub(super) fn list(&self) -> &[Lane] {
        &self.list
    }

    /// The number of an accessor's lane, if it is known.
    pub(super) fn find(&self, accesses: &Accesses) -> Option<usize> {
        let nodes = self.by_thread.get(usize::from(accesses.thread))?;
        nodes.iter().find(|(node, _)| *node == accesses.node).map(|(_, lane)| *lane)
    }

    /// The number of an accessor's lane; a new one gets the next.
    fn number(&mut self, accesses: &Accesses) -> usize {
        self.find(accesses).unwrap_or_else(|| {
            let lane = self.list.len();
            at(&mut self.by_thread, usize::from(accesses.thread)).push((accesses.node, lane));
            self.list.push(Lane { thread: accesses.thread, node: accesses.node });
            lane
        })
    }
}

/// The element at `index` of a list that is as long as it has to be.
fn at<T: Default + Clone>(list: &mut Vec<T>, index: usize) -> &mut T {
    if index >= list.len() {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

/// What stands beside `key`; a short list is faster than a map.
fn of_key<T: Default>(list: &mut Vec<(u16, T)>, key: u16) -> &mut T {
    let place = list.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        list.push((key, T::default()));
        list.len() - 1
    });
    &mut list[place].1
}
