//! The traffic of an area: its transactions (lines fetched to read or write, permissions to write, lines written back),
//! local and remote. Remote: the accessor's node is not the home of the granule.

use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{Accesses, Profile};
use std::ops::AddAssign;

/// Sums over some of a profile's counters.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Transactions from the home node.
    pub(crate) local: u64,
    /// Transactions from other nodes.
    pub(crate) remote: u64,
    /// Transactions by the accessor's node; indices as in [`node_ids`].
    pub(crate) by_node: Vec<u64>,
    /// Granules by home, likewise.
    pub(crate) homes: Vec<u64>,
}

impl Traffic {
    /// None yet, on so many nodes.
    fn none(nodes: usize) -> Self {
        Traffic { by_node: vec![0; nodes], homes: vec![0; nodes], ..Traffic::default() }
    }

    /// Local and remote transactions.
    pub(crate) fn transactions(&self) -> u64 {
        self.local + self.remote
    }
}

impl AddAssign<&Traffic> for Traffic {
    fn add_assign(&mut self, other: &Traffic) {
        self.local += other.local;
        self.remote += other.remote;
        add(&mut self.by_node, &other.by_node);
        add(&mut self.homes, &other.homes);
    }
}

fn add(sums: &mut Vec<u64>, counts: &[u64]) {
    sums.resize(sums.len().max(counts.len()), 0);
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// The transactions that `accesses` made.
pub(crate) fn transactions(accesses: &Accesses) -> u64 {
    accesses.reads + accesses.writes + accesses.upgrades + accesses.write_backs
}

/// The nodes of a profile, ascending: those of its machine, and any that a counter names.
pub(crate) fn node_ids(profile: &Profile, map: &GranuleMap) -> Vec<u16> {
    // A mark for each possible node: a set would be asked once for each of millions of counters.
    let mut is_node = vec![false; usize::from(u16::MAX) + 1];
    for node in &profile.nodes {
        is_node[usize::from(node.node)] = true;
    }
    for cell in &map.cells {
        is_node[usize::from(cell.home)] = true;
        for by in &cell.by {
            is_node[usize::from(by.node)] = true;
        }
    }
    (0..=u16::MAX).filter(|node| is_node[usize::from(*node)]).collect()
}

/// The traffic of every area, by area id.
pub(crate) fn by_area(profile: &Profile, map: &GranuleMap, nodes: &[u16]) -> Vec<Traffic> {
    let mut areas = vec![Traffic::none(nodes.len()); profile.areas.len()];
    for cell in &map.cells {
        let Some(area) = areas.get_mut(cell.area as usize) else { continue };
        *area += &of_granules(cell.granules, cell.home, &cell.by, nodes);
    }
    areas
}

/// The traffic of granules of one home.
pub(crate) fn of_granules(granules: u64, home: u16, by: &[Accesses], nodes: &[u16]) -> Traffic {
    let mut traffic = Traffic::none(nodes.len());
    if let Ok(home) = nodes.binary_search(&home) {
        traffic.homes[home] += granules;
    }
    for accesses in by {
        let count = transactions(accesses);
        if accesses.node == home {
            traffic.local += count;
        } else {
            traffic.remote += count;
        }
        if let Ok(node) = nodes.binary_search(&accesses.node) {
            traffic.by_node[node] += count;
        }
    }
    traffic
}

/// Local and remote transactions of every thread, by thread number; as long as the list of threads or longer.
pub(crate) fn by_thread(profile: &Profile, map: &GranuleMap) -> Vec<(u64, u64)> {
    let mut threads = vec![(0, 0); profile.threads.len()];
    for cell in &map.cells {
        for accesses in &cell.by {
            let thread = usize::from(accesses.thread);
            if thread >= threads.len() {
                threads.resize(thread + 1, (0, 0));
            }
            let (local, remote) = &mut threads[thread];
            *if accesses.node == cell.home { local } else { remote } += transactions(accesses);
        }
    }
    threads
}
