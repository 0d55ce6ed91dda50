//! The case at hand: profile, machine, threads and homes together, and the questions that decisions ask of them.

use crate::demand::Demand;
use crate::homes::{Homes, piece_cost};
use crate::layout::{Layout, NEAREST};
use olifant_machine::NodeId;
use olifant_opium::profile::{AreaKind, Profile};
use olifant_placement::striped_node;

/// What decisions are made from.
pub(crate) struct Case<'a> {
    /// What the run showed.
    pub profile: &'a Profile,
    /// The machine.
    pub layout: &'a Layout,
    /// Who wants what.
    pub demand: &'a Demand,
    /// The node of each thread in the plan.
    pub thread_nodes: Vec<usize>,
    /// The best home of each cell.
    pub homes: Homes,
    /// Whether memory is so short that only the chosen homes fit.
    pub is_tight: bool,
}

/// How the traffic of areas divides over nodes.
pub(crate) struct Usage {
    /// Packets by node.
    pub by_node: Vec<u64>,
    /// Packets in all.
    pub total: u64,
    /// Packets on pages that their users use evenly.
    pub even: u64,
}

impl Usage {
    /// The node with most of the traffic, and its share.
    pub fn leader(&self) -> (usize, f64) {
        let leader =
            (0..self.by_node.len()).max_by_key(|&node| (self.by_node[node], core::cmp::Reverse(node)));
        let leader = leader.unwrap_or(0);
        (leader, self.share(self.by_node.get(leader).copied().unwrap_or(0)))
    }

    /// A count as a share of all.
    pub fn share(&self, packets: u64) -> f64 {
        if self.total == 0 { 0.0 } else { packets as f64 / self.total as f64 }
    }
}

impl Case<'_> {
    /// How the traffic of some areas divides over nodes.
    pub fn usage(&self, areas: &[usize]) -> Usage {
        let mut usage = Usage { by_node: vec![0; self.layout.len()], total: 0, even: 0 };
        for piece in areas.iter().flat_map(|&area| self.demand.of_area(area)) {
            let before = usage.total;
            for entry in self.demand.entries(piece) {
                usage.by_node[self.thread_nodes[entry.thread]] += entry.packets();
                usage.total += entry.packets();
            }
            if self.homes.is_even[self.demand.pieces[piece].cell] {
                usage.even += usage.total - before;
            }
        }
        usage
    }

    /// The best home of a piece.
    pub fn home(&self, piece: usize) -> usize {
        self.homes.node[self.demand.pieces[piece].cell]
    }

    /// Packets times distance of a piece on a node.
    pub fn cost_at(&self, piece: usize, node: usize) -> u64 {
        piece_cost(self.demand, self.layout, &self.thread_nodes, piece, node)
    }

    /// Packets times distance of an area with the best homes.
    pub fn best_cost(&self, area: usize) -> u64 {
        self.demand.of_area(area).map(|piece| self.cost_at(piece, self.home(piece))).sum()
    }

    /// Accesses to an area that leave their node with the best homes.
    pub fn remote_at_best(&self, area: usize) -> u64 {
        let of_piece = |piece: usize| -> u64 {
            let home = self.home(piece);
            let entries = self.demand.entries(piece).iter();
            entries.filter(|entry| self.thread_nodes[entry.thread] != home).map(|e| e.transactions()).sum()
        };
        self.demand.of_area(area).map(of_piece).sum()
    }

    /// Packets times distance of an area with all of it on one node.
    pub fn cost_on(&self, area: usize, node: usize) -> u64 {
        self.demand.of_area(area).map(|piece| self.cost_at(piece, node)).sum()
    }

    /// The same with the area striped page by page.
    pub fn cost_striped(&self, area: usize) -> u64 {
        let nodes = self.striped_nodes();
        let cost = |piece: usize| -> u64 {
            let run = &self.demand.pieces[piece];
            let first = run.first_page + self.profile.areas[area].start / self.layout.page_bytes;
            let homes = (first..first + run.pages).map(|page| striped_node(page, 1, &nodes));
            let sum: u64 =
                homes.filter_map(|id| self.layout.node_of_id(id)).map(|node| self.cost_at(piece, node)).sum();
            sum / run.pages
        };
        self.demand.of_area(area).map(cost).sum()
    }

    /// The nodes that striping goes round.
    pub fn striped_nodes(&self) -> Vec<NodeId> {
        self.layout.memory_nodes().into_iter().map(|node| self.layout.ids[node]).collect()
    }

    /// Packets times the nearest distance of an area: its cost if all were remote.
    pub fn weight(&self, area: usize) -> u64 {
        self.demand
            .of_area(area)
            .flat_map(|piece| self.demand.entries(piece))
            .map(|e| e.packets())
            .sum::<u64>()
            * NEAREST
    }

    /// The node that `local` means for an area: that of the thread that allocates it; for a stack, of its user.
    pub fn local_node(&self, area: usize) -> usize {
        local_node(self.profile, self.demand, &self.thread_nodes, area)
    }

    /// Pages from the area's first to its last.
    pub fn pages(&self, area: usize) -> u64 {
        let area = &self.profile.areas[area];
        let page = self.layout.page_bytes;
        (area.start + area.bytes.max(1) - 1) / page - area.start / page + 1
    }
}

/// See [`Case::local_node`]; threads may have any nodes.
pub(crate) fn local_node(profile: &Profile, demand: &Demand, thread_nodes: &[usize], area: usize) -> usize {
    let allocator = usize::from(profile.areas[area].thread);
    if profile.areas[area].kind != AreaKind::Stack {
        return thread_nodes.get(allocator).copied().unwrap_or(0);
    }
    let mut by_thread = vec![0; thread_nodes.len()];
    for entry in demand.of_area(area).flat_map(|piece| demand.entries(piece)) {
        by_thread[entry.thread] += entry.packets();
    }
    let user = (0..by_thread.len()).max_by_key(|&thread| (by_thread[thread], core::cmp::Reverse(thread)));
    user.map_or(0, |thread| thread_nodes[thread])
}
