//! Configurations: parts of a machine, written xNy (x nodes with y processors each) or, where nodes differ,
//! xNy,y,... (one count per node).
//!
//! The configured machine is numbered densely: nodes from 0, cpus from 0 node by node. A node keeps its whole memory.
//! The network between the chosen nodes stays what it was: a node that is left out but lies on a shortest path still
//! passes packets on and becomes a router, links that lie on no shortest path go. So the distances between chosen
//! nodes are those of the full machine.

use crate::graph::{Graph, UNREACHABLE};
use crate::{CpuId, Link, Machine, Network, Node, NodeId, Topology, Vertex};
use core::fmt;
use core::str::FromStr;
use std::collections::{BTreeSet, HashMap};

/// How many nodes, and how many processors on each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Configuration {
    processors: Vec<u16>,
}

/// Why a configuration cannot be read, or a machine does not have it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// Not of the form xNy.
    #[error(
        "configuration {0:?}: expected NODESxPROCESSORS written as 4N2, or one count per node as 3N4,2,4"
    )]
    Malformed(String),
    /// A list of counts whose length is not the number of nodes.
    #[error(
        "configuration {text:?}: {nodes} nodes but {counts} processor counts; give one count or one per node"
    )]
    CountsDiffer {
        /// What was given.
        text: String,
        /// Nodes named.
        nodes: u16,
        /// Counts listed.
        counts: usize,
    },
    /// No processor at all.
    #[error("configuration {0:?} has no processors")]
    Empty(String),
    /// The machine has fewer nodes or processors.
    #[error("configuration {wanted}: {machine} is {has}; it has no such part")]
    TooLarge {
        /// What was asked for.
        wanted: String,
        /// The machine's name.
        machine: String,
        /// What the machine is.
        has: String,
    },
    /// Nodes or processors beyond the range of their ids.
    #[error("configuration {0:?}: more than 65535 nodes or processors")]
    OutOfRange(String),
}

impl Configuration {
    /// Processors of each node, in order.
    pub fn processors(&self) -> &[u16] {
        &self.processors
    }
}

impl FromStr for Configuration {
    type Err = ConfigurationError;

    fn from_str(text: &str) -> Result<Self, ConfigurationError> {
        let malformed = || ConfigurationError::Malformed(text.to_owned());
        let number = |digits: &str| {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(malformed());
            }
            digits.parse::<u16>().map_err(|_| ConfigurationError::OutOfRange(text.to_owned()))
        };
        let (nodes, counts) = text.split_once(['N', 'n']).ok_or_else(malformed)?;
        let nodes = number(nodes)?;
        let counts: Vec<u16> = counts.split(',').map(number).collect::<Result<_, _>>()?;
        let processors = match counts.as_slice() {
            [count] => vec![*count; usize::from(nodes)],
            _ if counts.len() == usize::from(nodes) => counts,
            _ => {
                return Err(ConfigurationError::CountsDiffer {
                    text: text.to_owned(),
                    nodes,
                    counts: counts.len(),
                });
            }
        };
        if processors.iter().all(|&count| count == 0) {
            return Err(ConfigurationError::Empty(text.to_owned()));
        }
        Ok(Configuration { processors })
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}N", self.processors.len())?;
        let even = self.processors.windows(2).all(|pair| pair[0] == pair[1]);
        let shown = if even { self.processors.len().min(1) } else { self.processors.len() };
        for (index, count) in self.processors[..shown].iter().enumerate() {
            write!(f, "{}{count}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl Machine {
    /// What this machine is as a configuration: `4N4`, or `4N4,2,4,4` where nodes differ.
    pub fn configuration(&self) -> String {
        let count = |node: &Node| u16::try_from(node.cpus.len()).unwrap_or(u16::MAX);
        Configuration { processors: self.nodes.iter().map(count).collect() }.to_string()
    }

    /// The part of this machine that `configuration` names: the first nodes, in ascending order, that have enough
    /// processors, and the first processors of each. The name stays.
    /// # Errors  [`ConfigurationError`] if the text is not a configuration or the machine has no such part.
    pub fn configure(&self, configuration: &str) -> Result<Machine, ConfigurationError> {
        let wanted: Configuration = configuration.parse()?;
        let mut candidates = self.nodes.iter();
        let mut next_cpu = 0_usize;
        let mut nodes = Vec::with_capacity(wanted.processors.len());
        let mut kept = Vec::with_capacity(wanted.processors.len());
        for (index, &count) in wanted.processors.iter().enumerate() {
            let source = candidates.find(|node| node.cpus.len() >= usize::from(count)).ok_or_else(|| {
                ConfigurationError::TooLarge {
                    wanted: wanted.to_string(),
                    machine: self.name.clone(),
                    has: self.configuration(),
                }
            })?;
            let cpus = next_cpu..next_cpu + usize::from(count);
            next_cpu = cpus.end;
            let id = |index| {
                u16::try_from(index).map_err(|_| ConfigurationError::OutOfRange(configuration.to_owned()))
            };
            nodes.push(Node {
                id: NodeId(id(index)?),
                cpus: cpus.map(|cpu| id(cpu).map(CpuId)).collect::<Result<_, _>>()?,
                memory: source.memory,
            });
            kept.push(source.id);
        }
        Ok(Machine {
            nodes,
            network: self.network.between(&kept, kept.len() == self.nodes.len()),
            ..self.clone()
        })
    }
}

impl Network {
    /// The network as the nodes `kept` see it, those renumbered 0, 1, ... in the order given; `whole` if they are all.
    fn between(&self, kept: &[NodeId], whole: bool) -> Network {
        let links = if whole { self.links.clone() } else { self.on_shortest_paths(kept) };
        let links = renumbered(&links, kept);
        let topology = if self.still_named(&links, kept.len()) {
            self.topology.clone()
        } else {
            Topology::Explicit.to_string()
        };
        Network { topology, links }
    }

    /// The links that lie on a shortest path between two of the nodes, in their order.
    fn on_shortest_paths(&self, nodes: &[NodeId]) -> Vec<Link> {
        let graph = Graph::new(&self.links, nodes.iter().map(|&node| Vertex::Node(node)));
        let numbers: Vec<usize> = nodes.iter().map(|&node| graph.number(Vertex::Node(node))).collect();
        let to: Vec<_> = numbers.iter().map(|&number| graph.hops_to(number)).collect();
        let mut is_used = vec![false; self.links.len()];
        for &start in &numbers {
            let from_start = graph.hops_from(start);
            for (&end, to_end) in numbers.iter().zip(&to) {
                let length = from_start[end];
                for (link_from, leaving) in graph.leaving.iter().enumerate() {
                    for &(link, link_to) in leaving {
                        let (before, after) = (from_start[link_from], to_end[link_to]);
                        is_used[link] |=
                            before != UNREACHABLE && after < length && before + 1 + after == length;
                    }
                }
            }
        }
        self.links.iter().zip(is_used).filter_map(|(link, is_used)| is_used.then_some(*link)).collect()
    }

    /// Whether `links` are what this network's named topology gives for `nodes` nodes.
    fn still_named(&self, links: &[Link], nodes: usize) -> bool {
        let Ok(topology) = self.topology.parse::<Topology>() else { return false };
        let nodes: Vec<NodeId> =
            (0..nodes).filter_map(|index| u16::try_from(index).ok().map(NodeId)).collect();
        let Some(first) = links.first() else { return nodes.len() < 2 };
        topology.links(&nodes, first.latency, first.bandwidth).is_ok_and(|named| named == links)
    }
}

/// The links with kept nodes numbered by their place in `kept`, and every other vertex a router; routers are numbered
/// densely, in the order of their old numbers, then former nodes in the order of theirs.
fn renumbered(links: &[Link], kept: &[NodeId]) -> Vec<Link> {
    let mut numbers: HashMap<Vertex, Vertex> = HashMap::new();
    for (index, &node) in kept.iter().enumerate() {
        if let Ok(index) = u16::try_from(index) {
            numbers.insert(Vertex::Node(node), Vertex::Node(NodeId(index)));
        }
    }
    let ends: BTreeSet<Vertex> = links.iter().flat_map(|link| [link.from, link.to]).collect();
    let (routers, nodes): (Vec<Vertex>, Vec<Vertex>) = ends
        .into_iter()
        .filter(|end| !numbers.contains_key(end))
        .partition(|end| matches!(end, Vertex::Router(_)));
    for (vertex, number) in routers.into_iter().chain(nodes).zip(0..=u16::MAX) {
        numbers.insert(vertex, Vertex::Router(number));
    }
    links.iter().map(|link| Link { from: numbers[&link.from], to: numbers[&link.to], ..*link }).collect()
}
