//! Homes of cells for given nodes of threads: each cell where its traffic costs least, even ones dealt out in balance.
//!
//! The cost of a home is the sum of packets times distance. Nodes that use a cell evenly (within a tolerance) are all
//! as good; among them the one with the least load so far takes it, or the neighbouring page's home if only two share
//! it and that keeps the balance, since that makes longer runs. Departure: distances are weighed only between the few
//! nodes of a cell shared by few; with many sharers the one that uses it most is taken.

use crate::demand::Demand;
use crate::layout::{Layout, NEAREST};

/// Cells shared by more nodes are judged by use alone.
const FEW_NODES: usize = 8;
/// How far, as a share of a node's mean load, a node may be above the least loaded and still extend a run.
const RUN_SLACK: f64 = 0.01;

/// Where cells live.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Homes {
    /// The node of each cell.
    pub node: Vec<usize>,
    /// Whether all nodes that use the cell, at least two, use it evenly.
    pub is_even: Vec<bool>,
    /// Packets times distance over all cells.
    pub cost: u64,
}

impl Homes {
    /// Chooses homes for threads on these nodes; nodes within `tolerance` (a share of a cell's traffic) are equal.
    pub fn choose(demand: &Demand, layout: &Layout, thread_nodes: &[usize], tolerance: f64) -> Homes {
        let mut chooser = Chooser::new(demand, layout, thread_nodes, tolerance);
        let mut homes =
            Homes { node: vec![0; demand.cells()], is_even: vec![false; demand.cells()], cost: 0 };
        let mut open = Vec::new();
        for cell in 0..demand.cells() {
            chooser.look_at(cell);
            homes.is_even[cell] = chooser.users.len() > 1 && chooser.candidates.len() >= chooser.users.len();
            match chooser.candidates[..] {
                [(only, cost)] => {
                    homes.node[cell] = only;
                    homes.cost += cost;
                    chooser.loads[only] += chooser.total;
                }
                _ => open.push(cell),
            }
        }
        for cell in open {
            chooser.look_at(cell);
            let neighbour = cell.checked_sub(1).filter(|&previous| demand.are_neighbours(previous, cell));
            let (node, cost) = chooser.pick(neighbour.map(|previous| homes.node[previous]));
            homes.node[cell] = node;
            homes.cost += cost;
            chooser.loads[node] += chooser.total;
        }
        homes
    }
}

/// Packets times distance of a piece's traffic if it lived on `home`.
pub(crate) fn piece_cost(
    demand: &Demand,
    layout: &Layout,
    thread_nodes: &[usize],
    piece: usize,
    home: usize,
) -> u64 {
    demand
        .entries(piece)
        .iter()
        .map(|entry| entry.packets() * layout.distance(thread_nodes[entry.thread], home))
        .sum()
}

/// The state of one choice, reused from cell to cell.
struct Chooser<'a> {
    demand: &'a Demand,
    layout: &'a Layout,
    thread_nodes: &'a [usize],
    tolerance: f64,
    /// Packets by node, zero but for `users`.
    by_node: Vec<u64>,
    /// Nodes that use the cell.
    users: Vec<usize>,
    /// Packets of the cell.
    total: u64,
    /// Homes as good as the best, with their cost, ascending by node.
    candidates: Vec<(usize, u64)>,
    memory_nodes: Vec<usize>,
    /// Packets served by each node so far.
    loads: Vec<u64>,
    /// How much more a node may serve than another and still extend a run.
    slack: u64,
}

impl<'a> Chooser<'a> {
    fn new(demand: &'a Demand, layout: &'a Layout, thread_nodes: &'a [usize], tolerance: f64) -> Self {
        let memory_nodes = layout.memory_nodes();
        Chooser {
            demand,
            layout,
            thread_nodes,
            tolerance,
            by_node: vec![0; layout.len()],
            users: Vec::new(),
            total: 0,
            candidates: Vec::new(),
            slack: share_of(demand.all_packets() / memory_nodes.len().max(1) as u64, RUN_SLACK),
            memory_nodes,
            loads: vec![0; layout.len()],
        }
    }

    /// Finds who uses the cell and the homes that are best for it.
    fn look_at(&mut self, cell: usize) {
        for node in self.users.drain(..) {
            self.by_node[node] = 0;
        }
        self.total = 0;
        for entry in self.demand.cell_entries(cell) {
            let packets = entry.packets();
            let node = self.thread_nodes[entry.thread];
            if self.by_node[node] == 0 && packets > 0 {
                self.users.push(node);
            }
            self.by_node[node] += packets;
            self.total += packets;
        }
        self.users.sort_unstable();
        self.candidates.clear();
        let homes = self.users.iter().copied().filter(|&node| self.layout.has_memory(node));
        self.candidates.extend(homes.map(|node| (node, 0)));
        if self.candidates.is_empty() {
            self.candidates.extend(self.memory_nodes.iter().map(|&node| (node, 0)));
        }
        for index in 0..self.candidates.len() {
            self.candidates[index].1 = self.cost(self.candidates[index].0);
        }
        let best = self.candidates.iter().map(|candidate| candidate.1).min().unwrap_or(0);
        let limit = best + share_of(self.total * NEAREST, self.tolerance);
        self.candidates.retain(|candidate| candidate.1 <= limit);
    }

    fn cost(&self, home: usize) -> u64 {
        if self.layout.is_uniform || self.users.len() > FEW_NODES {
            return (self.total - self.by_node[home]) * NEAREST;
        }
        self.users.iter().map(|&user| self.by_node[user] * self.layout.distance(user, home)).sum()
    }

    /// One of several equal homes.
    fn pick(&self, neighbour: Option<usize>) -> (usize, u64) {
        let lightest = self.candidates.iter().copied().min_by_key(|&(node, _)| (self.loads[node], node));
        let lightest = lightest.unwrap_or((0, 0));
        let extends = |&(node, _): &(usize, u64)| {
            Some(node) == neighbour && self.loads[node] <= self.loads[lightest.0] + self.slack
        };
        let may_extend = self.candidates.len() <= 2;
        self.candidates.iter().copied().find(|candidate| may_extend && extends(candidate)).unwrap_or(lightest)
    }
}

/// A share of a count, rounded down.
fn share_of(count: u64, share: f64) -> u64 {
    // Shares lie between 0 and 1, so the product fits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let part = (count as f64 * share) as u64;
    part
}
