//! Where threads run and where pages live, as policies: the vocabulary of `--threads` and `--memory`.

use olifant_machine::{CpuId, NodeId};
use serde::{Deserialize, Serialize};

/// Which processor a new thread gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadPolicy {
    /// As many threads on a node as it has processors, then the next node (the papers' t0).
    Fill,
    /// Thread i on node i modulo the number of nodes (the papers' t1).
    RoundRobin,
    /// The operating system's scheduler decides, with soft affinity (the papers' t3).
    Float,
    /// Thread i on the i-th cpu of the list.
    List(Vec<CpuId>),
}

/// Which node backs a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPolicy {
    /// The node of the thread that touches the page first (Linux's default).
    FirstTouch,
    /// The node of the thread that allocates the area, at the time of the allocation.
    Local,
    /// Some node other than the allocating thread's, in turn.
    Remote,
    /// Any node, drawn from the seed.
    Any,
    /// Each `pages` pages from the next node in turn (the papers' striped with a stride).
    Striped {
        /// Pages per stripe; at least 1.
        pages: u32,
    },
    /// Always this node.
    Node(NodeId),
}
