//! Named topologies: the shapes of network that a machine file can name instead of listing every link.
//!
//! Each generator yields directed links in a fixed order, the two directions of a connection side by side, so that a
//! link's index is the same wherever the machine is built. Nodes may have any ids; the shape goes by their order.
//! A machine of one node has no links, whatever its topology is called. Left out: meshes and tori of higher
//! dimension, for which links are listed explicitly.

use crate::{BytesPerSecond, Link, Nanos, NodeId, Vertex};
use core::fmt;
use core::str::FromStr;

/// A shape of network. Its text form is the word in a machine file: `hub`, `twisted-ladder`, `fat-tree:4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topology {
    /// One shared medium: every packet crosses the one link between router 0 (where nodes send) and router 1 (where
    /// they receive). The taps have no latency and the medium's bandwidth.
    Bus,
    /// Every node linked to every other.
    Full,
    /// Node i linked to node i+1, the last to the first.
    Ring,
    /// Four nodes at the corners of a square: 0-1, 0-2, 1-3, 2-3.
    Square,
    /// A Moebius ladder: a ring of an even number n of nodes, each also linked to the opposite one (i to i+n/2).
    TwistedLadder,
    /// Every node linked to one central router.
    Hub,
    /// A k-ary n-tree: routers with `radix` links down and as many up, as many levels as the nodes need.
    FatTree {
        /// Links down from each router; at least 2.
        radix: u16,
    },
    /// Links are listed one by one.
    Explicit,
}

/// Why a topology cannot be built or its name not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// No such word.
    #[error(
        "topology {name:?} is unknown{}; known: {}",
        crate::nearest::did_you_mean(*.suggestion),
        Topology::WORDS.join(", ")
    )]
    Unknown {
        /// The word given.
        name: String,
        /// The nearest known one.
        suggestion: Option<&'static str>,
    },
    /// `fat-tree` without a usable radix.
    #[error("topology {0:?}: a fat tree needs a radix of at least 2, as in fat-tree:4")]
    Radix(String),
    /// The shape exists only for other numbers of nodes.
    #[error("topology {topology} needs {needs}, and there are {nodes} nodes")]
    NodeCount {
        /// The shape asked for.
        topology: Topology,
        /// The law of its node count.
        needs: &'static str,
        /// How many there are.
        nodes: usize,
    },
    /// The routers of the shape would outnumber their ids.
    #[error("topology {topology} for {nodes} nodes needs more than 65536 routers")]
    TooLarge {
        /// The shape asked for.
        topology: Topology,
        /// How many nodes there are.
        nodes: usize,
    },
}

impl Topology {
    /// The words a machine file may use.
    pub const WORDS: [&'static str; 8] =
        ["bus", "full", "ring", "square", "twisted-ladder", "hub", "fat-tree:RADIX", "explicit"];

    /// The links of this shape over `nodes`, in their fixed order, all with one latency and bandwidth.
    /// [`Topology::Explicit`] has none of its own.
    /// # Errors  [`TopologyError`] if the shape does not exist for that many nodes.
    pub fn links(
        self,
        nodes: &[NodeId],
        latency: Nanos,
        bandwidth: BytesPerSecond,
    ) -> Result<Vec<Link>, TopologyError> {
        let refuse = |needs| Err(TopologyError::NodeCount { topology: self, needs, nodes: nodes.len() });
        let count = nodes.len();
        let mut cables = Cables { links: Vec::new(), latency, bandwidth };
        if count < 2 {
            return Ok(cables.links);
        }
        let vertex = |index: usize| Vertex::Node(nodes[index]);
        match self {
            Topology::Explicit => {}
            Topology::Bus => {
                let (inward, outward) = (Vertex::Router(0), Vertex::Router(1));
                cables.directed(inward, outward, latency);
                for &node in nodes {
                    cables.directed(Vertex::Node(node), inward, Nanos(0.0));
                    cables.directed(outward, Vertex::Node(node), Nanos(0.0));
                }
            }
            Topology::Hub => {
                for &node in nodes {
                    cables.both_ways(Vertex::Node(node), Vertex::Router(0));
                }
            }
            Topology::Full => {
                for a in 0..count {
                    for b in a + 1..count {
                        cables.both_ways(vertex(a), vertex(b));
                    }
                }
            }
            Topology::Ring => cables.ring(nodes),
            Topology::Square => {
                if count != 4 {
                    return refuse("exactly 4 nodes");
                }
                for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
                    cables.both_ways(vertex(a), vertex(b));
                }
            }
            Topology::TwistedLadder => {
                if count < 4 || !count.is_multiple_of(2) {
                    return refuse("an even number of nodes, at least 4");
                }
                cables.ring(nodes);
                for a in 0..count / 2 {
                    cables.both_ways(vertex(a), vertex(a + count / 2));
                }
            }
            Topology::FatTree { radix } => {
                let too_large = TopologyError::TooLarge { topology: self, nodes: count };
                cables.fat_tree(nodes, usize::from(radix)).ok_or(too_large)?;
            }
        }
        Ok(cables.links)
    }
}

/// Links under construction, all with the same rate.
struct Cables {
    links: Vec<Link>,
    latency: Nanos,
    bandwidth: BytesPerSecond,
}

impl Cables {
    fn directed(&mut self, from: Vertex, to: Vertex, latency: Nanos) {
        self.links.push(Link { from, to, latency, bandwidth: self.bandwidth });
    }

    fn both_ways(&mut self, a: Vertex, b: Vertex) {
        self.directed(a, b, self.latency);
        self.directed(b, a, self.latency);
    }

    fn ring(&mut self, nodes: &[NodeId]) {
        for pair in nodes.windows(2) {
            self.both_ways(Vertex::Node(pair[0]), Vertex::Node(pair[1]));
        }
        // Two nodes have one connection, not two.
        if let [first, _, .., last] = nodes {
            self.both_ways(Vertex::Node(*last), Vertex::Node(*first));
        }
    }

    /// Writing a node's index in base k, router (level, label) has for its label the digits above the first, and a
    /// router of level l is linked to the k routers of level l+1 whose labels differ from its own in digit l only.
    /// Routers are numbered level by level. Those above no node at all are left out. `None` if ids run out.
    fn fat_tree(&mut self, nodes: &[NodeId], radix: usize) -> Option<()> {
        let mut levels = 1;
        let mut capacity = radix;
        while capacity < nodes.len() {
            capacity *= radix;
            levels += 1;
        }
        let per_level = capacity / radix;
        // A router of level l stands above the nodes whose index agrees with its label in the digits from l up.
        let mut numbers = vec![vec![None; per_level]; levels];
        let mut next = 0_usize;
        let mut span = radix;
        for level in &mut numbers {
            for (label, number) in level.iter_mut().enumerate() {
                let lowest_node_below = label * radix / span * span;
                if lowest_node_below < nodes.len() {
                    *number = Some(Vertex::Router(u16::try_from(next).ok()?));
                    next += 1;
                }
            }
            span *= radix;
        }
        for (index, &node) in nodes.iter().enumerate() {
            self.both_ways(Vertex::Node(node), numbers[0][index / radix]?);
        }
        let mut step = 1;
        for level in 0..levels - 1 {
            for label in 0..per_level {
                let Some(below) = numbers[level][label] else { continue };
                let digit = label / step % radix;
                for other in 0..radix {
                    let above = numbers[level + 1][label - digit * step + other * step]?;
                    self.both_ways(below, above);
                }
            }
            step *= radix;
        }
        Some(())
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Topology::Bus => "bus",
            Topology::Full => "full",
            Topology::Ring => "ring",
            Topology::Square => "square",
            Topology::TwistedLadder => "twisted-ladder",
            Topology::Hub => "hub",
            Topology::FatTree { radix } => return write!(f, "fat-tree:{radix}"),
            Topology::Explicit => "explicit",
        })
    }
}

impl FromStr for Topology {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        if let Some(rest) = text.strip_prefix("fat-tree") {
            return match rest.strip_prefix(':').and_then(|radix| radix.parse().ok()) {
                Some(radix) if radix >= 2 => Ok(Topology::FatTree { radix }),
                _ => Err(TopologyError::Radix(text.to_owned())),
            };
        }
        Ok(match text {
            "bus" => Topology::Bus,
            "full" => Topology::Full,
            "ring" => Topology::Ring,
            "square" => Topology::Square,
            "twisted-ladder" => Topology::TwistedLadder,
            "hub" => Topology::Hub,
            "explicit" => Topology::Explicit,
            _ => {
                return Err(TopologyError::Unknown {
                    name: text.to_owned(),
                    suggestion: crate::nearest::nearest(text, Topology::WORDS),
                });
            }
        })
    }
}
