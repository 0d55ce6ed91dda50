//! The machine as the advisor needs it: nodes numbered densely, their room, and how far they are from one another.
//!
//! Distances are in hundredths of the nearest remote access: 0 on the own node, 100 to the nearest other node, more
//! beyond. What counts is the time that an access takes longer than a local one: four passages through coherence
//! units and the links' flight both ways. Left out: links' bandwidth.

use olifant_machine::{CpuId, Machine, NodeId, Routes, Unreachable};
use std::collections::HashMap;

/// Distance of the nearest other node.
pub(crate) const NEAREST: u64 = 100;

/// Nodes by dense number, in the machine's order.
pub(crate) struct Layout {
    /// The id of each node.
    pub ids: Vec<NodeId>,
    /// The cpus of each node.
    pub cpus: Vec<Vec<CpuId>>,
    /// Whole pages of memory on each node.
    pub pages: Vec<u64>,
    /// Bytes per page.
    pub page_bytes: u64,
    /// Bytes per line.
    pub line_bytes: u64,
    /// Whether all other nodes are equally far, from everywhere.
    pub is_uniform: bool,
    /// Seconds that links take from one node to another and back, row by row.
    pub flight: Vec<f64>,
    distance: Vec<u64>,
    node_of_id: HashMap<NodeId, usize>,
    node_of_cpu: HashMap<CpuId, usize>,
}

impl Layout {
    /// Measures the machine.
    /// # Errors  [`Unreachable`] if two nodes have no way between them.
    pub fn new(machine: &Machine) -> Result<Layout, Unreachable> {
        let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
        let routes = Routes::new(&machine.network, &ids)?;
        let count = ids.len();
        let one_way = |from: NodeId, to: NodeId| -> f64 {
            routes.links(from, to).iter().map(|&link| machine.network.links[link].latency.0).sum::<f64>()
                * 1e-9
        };
        let mut flight = vec![0.0; count * count];
        for (a, &from) in ids.iter().enumerate() {
            for (b, &to) in ids.iter().enumerate() {
                flight[a * count + b] = one_way(from, to) + one_way(to, from);
            }
        }
        let units = 4.0 * machine.coherence.latency.0 * 1e-9;
        let distance = distances(&flight, count, units);
        let page_bytes = machine.os.page.0;
        Ok(Layout {
            cpus: machine.nodes.iter().map(|node| node.cpus.clone()).collect(),
            pages: machine.nodes.iter().map(|node| node.memory.0 / page_bytes).collect(),
            page_bytes,
            line_bytes: machine.processor.l2.line.0,
            is_uniform: distance.iter().all(|&far| far == 0 || far == NEAREST),
            flight,
            distance,
            node_of_id: ids.iter().enumerate().map(|(node, &id)| (id, node)).collect(),
            node_of_cpu: machine
                .nodes
                .iter()
                .enumerate()
                .flat_map(|(node, part)| part.cpus.iter().map(move |&cpu| (cpu, node)))
                .collect(),
            ids,
        })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Distance in hundredths; see the head of this file.
    pub fn distance(&self, from: usize, to: usize) -> u64 {
        self.distance[from * self.ids.len() + to]
    }

    /// The node of a cpu.
    pub fn node_of_cpu(&self, cpu: u16) -> Option<usize> {
        self.node_of_cpu.get(&CpuId(cpu)).copied()
    }

    /// The dense number of a node.
    pub fn node_of_id(&self, id: NodeId) -> Option<usize> {
        self.node_of_id.get(&id).copied()
    }

    /// Whether pages can live there.
    pub fn has_memory(&self, node: usize) -> bool {
        self.pages[node] > 0
    }

    /// The nodes where pages can live, ascending.
    pub fn memory_nodes(&self) -> Vec<usize> {
        (0..self.len()).filter(|&node| self.has_memory(node)).collect()
    }
}

/// Hundredths of the nearest remote access, row by row.
fn distances(flight: &[f64], count: usize, units: f64) -> Vec<u64> {
    let pairs = || (0..count * count).filter(|pair| pair / count != pair % count);
    let extra = |pair: usize| flight[pair] + units;
    let nearest = pairs().map(extra).fold(f64::INFINITY, f64::min);
    let mut distance = vec![0; count * count];
    for pair in pairs() {
        // A description without any latency still has near and far.
        let ratio = if nearest > 0.0 { extra(pair) / nearest } else { 1.0 };
        // A float-to-int `as` saturates.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let hundredths = (ratio * NEAREST as f64).round() as u64;
        distance[pair] = hundredths;
    }
    distance
}
