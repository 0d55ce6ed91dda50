//! The machine tree: everything the simulator, the advisor and the host need to know of a computer.
//!
//! A [`Machine`] is plain data. Text forms (TOML, hwloc, sysfs) are read into it elsewhere; `check()` names the law
//! that a machine breaks. Nodes own processors and memory; below a processor hang its private caches and TLB; nodes
//! and routers are the vertices of the network, links its directed edges.

use crate::{Bytes, BytesPerSecond, CpuId, Cycles, Hertz, Nanos, NodeId};
use serde::{Deserialize, Serialize};

/// A described or real computer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Short name, as given to `--on`.
    pub name: String,
    /// One line for a person.
    pub description: String,
    /// The nodes, ascending by id. Ids may be sparse on a real machine; a simulated one is dense.
    pub nodes: Vec<Node>,
    /// What every processor is; machines here are homogeneous.
    pub processor: Processor,
    /// The bus (or memory controller) in front of each node's memory.
    pub memory: MemoryBus,
    /// The unit that joins a node to the network and keeps it coherent.
    pub coherence: CoherenceUnit,
    /// What connects the nodes.
    pub network: Network,
    /// What the operating system does with threads and pages.
    pub os: OsModel,
}

/// A set of processors and/or memory at one distance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its processors, ascending; empty for a memory-only node.
    pub cpus: Vec<CpuId>,
    /// Its memory; zero for a node without memory.
    pub memory: Bytes,
}

/// One processor with its private caches and TLB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Clock frequency.
    pub clock: Hertz,
    /// Cycles per instruction while every access hits the first level.
    pub cpi: f64,
    /// Instructions that may issue past an incomplete load miss before the processor must wait for it; 0 makes every
    /// miss block at once.
    pub window_instructions: u32,
    /// Misses of one processor in flight at once; at least 1.
    pub outstanding_misses: u32,
    /// First-level data cache.
    pub l1: Cache,
    /// Second-level cache, physically indexed.
    pub l2: Cache,
    /// Third-level cache shared by a node, where there is one. Described, not simulated.
    pub l3: Option<Cache>,
    /// Data TLB.
    pub tlb: Tlb,
}

/// A set-associative cache with least-recently-used replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Capacity.
    pub size: Bytes,
    /// Associativity.
    pub ways: u32,
    /// Line size.
    pub line: Bytes,
    /// Load-to-use time of a hit. The first level's is part of the base CPI; the second level's is a stall.
    pub hit: Cycles,
}

/// A translation look-aside buffer with least-recently-used replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tlb {
    /// Entries in all.
    pub entries: u32,
    /// Associativity.
    pub ways: u32,
    /// Cost of a miss (the page walk).
    pub miss: Cycles,
}

/// A node's bus and memory: one server with a queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MemoryBus {
    /// Idle time from a second-level miss to its data out of the node's own memory.
    pub latency: Nanos,
    /// Sustained rate; a line occupies the bus for line / bandwidth.
    pub bandwidth: BytesPerSecond,
    /// Bus time of a transaction that moves no data (an upgrade, an invalidation).
    pub address_only: Nanos,
    /// Time to get a line out of another cache of the same node instead of memory.
    pub intervention: Nanos,
}

/// The unit that joins a node to the network (the prototype's mesh coherence unit).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoherenceUnit {
    /// Time a packet spends in the unit when it is idle, per passage.
    pub latency: Nanos,
    /// Time the unit is busy with one packet.
    pub occupancy: Nanos,
    /// Size of a packet without data: a request, an invalidation, an acknowledgement.
    pub request: Bytes,
    /// Size of a packet with a line of data.
    pub response: Bytes,
    /// Whether a read that finds no other copy gets the line exclusive, so that a later write is silent.
    pub exclusive_on_read: bool,
}

/// A vertex of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Vertex {
    /// The coherence unit of a node.
    Node(NodeId),
    /// A router or switch, by number.
    Router(u16),
}

/// One direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Where packets enter.
    pub from: Vertex,
    /// Where they leave.
    pub to: Vertex,
    /// Time of flight, router included.
    pub latency: Nanos,
    /// Rate in this direction.
    pub bandwidth: BytesPerSecond,
}

/// The links, and the named topology that they came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// For example `hub`, `ring`; `explicit` where links were listed.
    pub topology: String,
    /// Directed links, in a fixed order: a link's index is its id.
    pub links: Vec<Link>,
}

/// What the simulated operating system does with threads and pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OsModel {
    /// Page size.
    pub page: Bytes,
    /// How frames are chosen within a node.
    pub frames: FramePolicy,
    /// Time slice where threads share processors.
    pub time_slice: Nanos,
}

/// Which frame of a node backs a new page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FramePolicy {
    /// Consecutive virtual pages get consecutive page colours.
    Coloured,
    /// Frames in the order of the first touches.
    Sequential,
    /// Frames drawn at random from the seed.
    Random,
}

impl FramePolicy {
    /// The word for it in machine files and options.
    pub const fn word(self) -> &'static str {
        match self {
            FramePolicy::Coloured => "coloured",
            FramePolicy::Sequential => "sequential",
            FramePolicy::Random => "random",
        }
    }
}

impl core::str::FromStr for FramePolicy {
    type Err = &'static str;

    /// Reads the word.
    /// # Errors  What was expected.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        [FramePolicy::Coloured, FramePolicy::Sequential, FramePolicy::Random]
            .into_iter()
            .find(|policy| policy.word() == text)
            .ok_or("expected coloured, sequential or random")
    }
}

impl core::fmt::Display for Vertex {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Vertex::Node(node) => write!(f, "node:{node}"),
            Vertex::Router(router) => write!(f, "router:{router}"),
        }
    }
}
