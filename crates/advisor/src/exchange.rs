//! Improving an assignment of teams to nodes by exchanging pairs, as Kernighan and Lin do, until no exchange helps.
//!
//! The number of teams per node stays as it is, so capacities hold. The cost of a team on a node comes from a table;
//! where teams attract one another the table changes with each exchange. Left out: chains of exchanges that first
//! lose and then win; a second start (grown groups, see [`grow`]) serves instead.

use crate::affinity::Affinity;
use crate::layout::Layout;

/// Rounds over all teams; each exchange lowers the cost, and later rounds find little.
const MOST_ROUNDS: usize = 8;

/// What each team would cost on each node, in packets times distance.
pub(crate) struct CostTable {
    nodes: usize,
    cost: Vec<i64>,
}

impl CostTable {
    /// All zero.
    pub fn new(teams: usize, nodes: usize) -> CostTable {
        CostTable { nodes, cost: vec![0; teams * nodes] }
    }

    /// Adds packets between a team and a node: they cost by distance wherever the team sits.
    pub fn add(&mut self, team: usize, home: usize, packets: u64, layout: &Layout) {
        let packets = packets.cast_signed();
        for (node, cost) in self.cost[team * self.nodes..(team + 1) * self.nodes].iter_mut().enumerate() {
            *cost += packets * layout.distance(node, home).cast_signed();
        }
    }

    fn at(&self, team: usize, node: usize) -> i64 {
        self.cost[team * self.nodes + node]
    }
}

/// Exchanges teams whose table is fixed.
pub(crate) fn exchange_by_table(node: &mut [usize], table: &CostTable) {
    rounds(node, |node, a, b| gain(table, node, a, b), |_, _, _| ());
}

/// Exchanges teams that attract one another.
pub(crate) fn exchange_by_affinity(node: &mut [usize], affinity: &Affinity, layout: &Layout) {
    let teams = node.len();
    // Packets of each team to the teams of each node, then their cost by distance.
    let mut near = vec![0u64; teams * layout.len()];
    for team in 0..teams {
        for (other, packets) in affinity.row(team).iter().enumerate() {
            near[team * layout.len() + node[other]] += packets;
        }
    }
    let mut table = CostTable::new(teams, layout.len());
    for team in 0..teams {
        for home in 0..layout.len() {
            let packets = near[team * layout.len() + home];
            if packets > 0 {
                table.add(team, home, packets, layout);
            }
        }
    }
    let table = core::cell::RefCell::new(table);
    rounds(
        node,
        |node, a, b| {
            // The table takes each of the two to stay where it is; together they stay as far apart as before.
            let apart = layout.distance(node[a], node[b]) * affinity.between(a, b);
            gain(&table.borrow(), node, a, b) - 2 * apart.cast_signed()
        },
        |node, a, b| {
            let mut table = table.borrow_mut();
            for team in 0..teams {
                let moved = affinity.between(team, a).cast_signed() - affinity.between(team, b).cast_signed();
                if moved != 0 {
                    let row = &mut table.cost[team * layout.len()..(team + 1) * layout.len()];
                    for (at, cost) in row.iter_mut().enumerate() {
                        let farther = layout.distance(at, node[a]).cast_signed()
                            - layout.distance(at, node[b]).cast_signed();
                        *cost += moved * farther;
                    }
                }
            }
        },
    );
}

/// Groups grown from nothing: each node in turn takes the first team left, then whoever shares most with its group.
pub(crate) fn grow(room: &[usize], affinity: &Affinity, teams: usize) -> Vec<usize> {
    let mut node = vec![usize::MAX; teams];
    let mut attraction = vec![0u64; teams];
    for (here, &seats) in room.iter().enumerate() {
        attraction.fill(0);
        for _ in 0..seats {
            let free = (0..teams).filter(|&team| node[team] == usize::MAX);
            let Some(next) = free.max_by_key(|&team| (attraction[team], core::cmp::Reverse(team))) else {
                return node;
            };
            node[next] = here;
            for (sum, packets) in attraction.iter_mut().zip(affinity.row(next)) {
                *sum += packets;
            }
        }
    }
    node
}

/// What exchanging two teams would save by the table.
fn gain(table: &CostTable, node: &[usize], a: usize, b: usize) -> i64 {
    table.at(a, node[a]) + table.at(b, node[b]) - table.at(a, node[b]) - table.at(b, node[a])
}

/// Gives each team in turn its best exchange, as long as that saves anything. `exchanged` sees the nodes after it.
fn rounds(
    node: &mut [usize],
    gain: impl Fn(&[usize], usize, usize) -> i64,
    exchanged: impl Fn(&[usize], usize, usize),
) {
    for _ in 0..MOST_ROUNDS {
        let mut has_changed = false;
        for a in 0..node.len() {
            let others = (0..node.len()).filter(|&b| node[b] != node[a]);
            let best = others.map(|b| (gain(node, a, b), core::cmp::Reverse(b))).max();
            if let Some((saved, core::cmp::Reverse(b))) = best
                && saved > 0
            {
                node.swap(a, b);
                exchanged(node, a, b);
                has_changed = true;
            }
        }
        if !has_changed {
            return;
        }
    }
}
