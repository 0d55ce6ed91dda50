//! Routes: for each ordered pair of nodes, the links that a packet crosses, fixed once for a machine.
//!
//! A route has the fewest links possible. Where several links lead nearer, the one with the lowest index is taken,
//! except in a fat tree: there the destination's order number, written in base "links that lead nearer", picks the
//! digit-th of them at each such choice, which is how router tables spread destinations over the upper levels. With
//! the lowest index alone all traffic of a tree would climb to one root. Left out: adaptive routing, and routes that
//! weigh latency.

use crate::graph::{Graph, UNREACHABLE};
use crate::{Network, NodeId, Topology, Vertex};
use std::collections::HashMap;

/// The routes of a network between its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routes {
    order: HashMap<NodeId, usize>,
    /// For the pair (from, to) of order numbers, the route is `links[starts[p]..starts[p + 1]]`, p = from * n + to.
    starts: Vec<usize>,
    links: Vec<usize>,
}

/// Two nodes with no way between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no links lead from node {from} to node {to}")]
pub struct Unreachable {
    /// Where the packet would start.
    pub from: NodeId,
    /// Where it cannot arrive.
    pub to: NodeId,
}

impl Routes {
    /// Finds the routes between all `nodes` of `network`. Cost: links times nodes, plus the routes' total length.
    /// # Errors  [`Unreachable`] names the first pair without a way between them.
    pub fn new(network: &Network, nodes: &[NodeId]) -> Result<Routes, Unreachable> {
        let graph = Graph::new(&network.links, nodes.iter().map(|&node| Vertex::Node(node)));
        let spread = matches!(network.topology.parse(), Ok(Topology::FatTree { .. }));
        let numbers: Vec<usize> = nodes.iter().map(|&node| graph.number(Vertex::Node(node))).collect();
        let distances: Vec<Vec<usize>> = numbers.iter().map(|&number| graph.hops_to(number)).collect();
        let mut routes = Routes {
            order: nodes.iter().enumerate().map(|(index, &node)| (node, index)).collect(),
            starts: vec![0],
            links: Vec::new(),
        };
        let mut nearer = Vec::new();
        for (&from, &start) in nodes.iter().zip(&numbers) {
            for (to_order, &to) in nodes.iter().enumerate() {
                let hops = &distances[to_order];
                if hops[start] == UNREACHABLE {
                    return Err(Unreachable { from, to });
                }
                let mut here = start;
                let mut digits = to_order;
                while hops[here] > 0 {
                    nearer.clear();
                    nearer.extend(graph.leaving[here].iter().filter(|(_, next)| hops[*next] < hops[here]));
                    let mut digit = 0;
                    if spread {
                        digit = digits % nearer.len();
                        digits /= nearer.len();
                    }
                    let (link, next) = nearer[digit];
                    routes.links.push(link);
                    here = next;
                }
                routes.starts.push(routes.links.len());
            }
        }
        Ok(routes)
    }

    /// The indices of the links from one node to another, in order; empty from a node to itself.
    /// # Panics  If a node is not one of those that the routes were made for.
    pub fn links(&self, from: NodeId, to: NodeId) -> &[usize] {
        let pair = self.order[&from] * self.order.len() + self.order[&to];
        &self.links[self.starts[pair]..self.starts[pair + 1]]
    }

    /// How many links lie between two nodes.
    /// # Panics  As [`Routes::links`].
    pub fn hops(&self, from: NodeId, to: NodeId) -> usize {
        self.links(from, to).len()
    }
}

/// Checks that packets find a way between any two of the nodes, without finding the ways.
pub(crate) fn check_connected(network: &Network, nodes: &[NodeId]) -> Result<(), Unreachable> {
    let Some(&first) = nodes.first() else { return Ok(()) };
    let graph = Graph::new(&network.links, nodes.iter().map(|&node| Vertex::Node(node)));
    let from_first = graph.hops_from(graph.number(Vertex::Node(first)));
    let to_first = graph.hops_to(graph.number(Vertex::Node(first)));
    for &node in nodes {
        let number = graph.number(Vertex::Node(node));
        if from_first[number] == UNREACHABLE {
            return Err(Unreachable { from: first, to: node });
        }
        if to_first[number] == UNREACHABLE {
            return Err(Unreachable { from: node, to: first });
        }
    }
    Ok(())
}
