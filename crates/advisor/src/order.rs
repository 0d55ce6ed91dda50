//! Threads and homes together: which team sits on which node, and where each cell lives, found in turns.
//!
//! Homes follow threads and threads follow homes, so one alone would stay where it began. Two starts are tried for
//! each way to share out the seats: the profile's order improved by exchanges, and groups grown by affinity. Each is
//! then refined in turns (homes for these threads, threads for these homes) until nothing is gained.

use crate::affinity::Affinity;
use crate::demand::Demand;
use crate::exchange::{CostTable, exchange_by_affinity, exchange_by_table, grow};
use crate::homes::Homes;
use crate::layout::{Layout, NEAREST};
use crate::options::{LEAST_ORDER_GAIN, LEAST_ORDER_GAIN_OF_ALL};
use crate::teams::Teams;

/// Turns of homes and threads; gains fall off quickly.
const MOST_TURNS: usize = 4;

/// The nodes of teams, and the homes that suit them.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// The node of each team.
    pub node_of_team: Vec<usize>,
    /// Homes chosen for it.
    pub homes: Homes,
}

/// What orders are made from.
pub(crate) struct Search<'a> {
    /// Who wants what.
    pub demand: &'a Demand,
    /// The machine.
    pub layout: &'a Layout,
    /// Who moves together.
    pub teams: &'a Teams,
    /// Who shares.
    pub affinity: &'a Affinity,
    /// See [`Homes::choose`].
    pub tolerance: f64,
}

impl Search<'_> {
    /// The profile's order.
    pub fn given(&self) -> Order {
        self.settle(self.teams.given.node.clone())
    }

    /// The best order found with as many teams per node as `fallback` has, or that if it is hardly worse.
    pub fn improve(&self, fallback: Order) -> Order {
        let seats = &self.seats_of(&fallback.node_of_team);
        let mut node = fallback.node_of_team.clone();
        exchange_by_affinity(&mut node, self.affinity, self.layout);
        let exchanged = self.refine(node);
        let grown = self.grown(seats);
        // On a tie the order nearer to the profile's wins.
        let best = if exchanged.homes.cost <= grown.homes.cost { exchanged } else { grown };
        if self.is_worth_it(&fallback, &best) { best } else { fallback }
    }

    /// An order with so many teams per node, made without regard to the profile's.
    pub fn grown(&self, seats: &[usize]) -> Order {
        let mut node = grow(seats, self.affinity, self.teams.len());
        exchange_by_affinity(&mut node, self.affinity, self.layout);
        self.refine(node)
    }

    /// How many teams sit on each node.
    fn seats_of(&self, node_of_team: &[usize]) -> Vec<usize> {
        let mut seats = vec![0; self.layout.len()];
        for &node in node_of_team {
            seats[node] += 1;
        }
        seats
    }

    /// Other ways to share out the seats, where cpus stay free: one team per node in turn, and node after node.
    pub fn other_seatings(&self) -> Vec<Vec<usize>> {
        let room: Vec<usize> = self.layout.cpus.iter().map(Vec::len).collect();
        let mut spread = vec![0; room.len()];
        let mut left = self.teams.len();
        while left > 0 && spread != room {
            for node in 0..room.len() {
                if left > 0 && spread[node] < room[node] {
                    spread[node] += 1;
                    left -= 1;
                }
            }
        }
        let mut left = self.teams.len();
        let mut filled = room;
        for seats in &mut filled {
            *seats = left.min(*seats);
            left -= *seats;
        }
        let given = self.seats_of(&self.teams.given.node);
        let mut seatings = vec![spread, filled];
        seatings.dedup();
        seatings.retain(|seats| *seats != given);
        seatings
    }

    fn is_worth_it(&self, old: &Order, new: &Order) -> bool {
        let saved = old.homes.cost.saturating_sub(new.homes.cost) as f64;
        let whole: u64 = self.demand.all_packets() * NEAREST;
        saved > 0.0
            && saved >= old.homes.cost as f64 * LEAST_ORDER_GAIN
            && saved >= whole as f64 * LEAST_ORDER_GAIN_OF_ALL
    }

    fn settle(&self, node_of_team: Vec<usize>) -> Order {
        let thread_nodes = self.teams.thread_nodes(&node_of_team);
        let homes = Homes::choose(self.demand, self.layout, &thread_nodes, self.tolerance);
        Order { node_of_team, homes }
    }

    /// Homes for threads, threads for homes, in turns.
    fn refine(&self, node_of_team: Vec<usize>) -> Order {
        let mut best = self.settle(node_of_team);
        for _ in 0..MOST_TURNS {
            let mut node_of_team = best.node_of_team.clone();
            exchange_by_table(&mut node_of_team, &self.table(&best.homes));
            if node_of_team == best.node_of_team {
                break;
            }
            let next = self.settle(node_of_team);
            if next.homes.cost >= best.homes.cost {
                break;
            }
            best = next;
        }
        best
    }

    /// What each team would cost on each node with these homes.
    fn table(&self, homes: &Homes) -> CostTable {
        let nodes = self.layout.len();
        let mut packets = vec![0u64; self.teams.len() * nodes];
        for cell in 0..self.demand.cells() {
            for entry in self.demand.cell_entries(cell) {
                packets[self.teams.of_thread[entry.thread] * nodes + homes.node[cell]] += entry.packets();
            }
        }
        let mut table = CostTable::new(self.teams.len(), nodes);
        for (index, &packets) in packets.iter().enumerate().filter(|(_, packets)| **packets > 0) {
            table.add(index / nodes, index % nodes, packets, self.layout);
        }
        table
    }
}
