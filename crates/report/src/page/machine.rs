//! The machine and its threads in one run, as a page draws them.

use super::census::Census;
use olifant_opium::profile::{Frame, Profile};
use serde::Serialize;

/// Which node reached memory of which.
#[derive(Serialize)]
pub(super) struct NodeMatrix {
    /// The nodes of rows, columns and all lists by node.
    pub(super) nodes: Vec<u16>,
    /// Transactions from the row's node with granules that live on the column's.
    pub(super) transactions: Vec<Vec<u64>>,
}

/// A thread.
#[derive(Serialize)]
pub(super) struct ThreadFacts<'p> {
    pub(super) name: &'p str,
    pub(super) cpu: u16,
    pub(super) node: u16,
    /// Times in cycles.
    pub(super) started: u64,
    pub(super) ended: u64,
    /// Its start routine, if known.
    pub(super) routine: Option<Frame>,
    pub(super) local: u64,
    pub(super) remote: u64,
}

/// The matrix of a run.
pub(super) fn matrix(census: &Census) -> NodeMatrix {
    NodeMatrix { nodes: census.nodes.clone(), transactions: census.node_matrix() }
}

/// The threads of a run, by their numbers.
pub(super) fn threads<'p>(
    profile: &'p Profile,
    census: &Census,
    locate: &dyn Fn(u64) -> Option<Frame>,
) -> Vec<ThreadFacts<'p>> {
    let counts = census.by_thread();
    let facts = |(id, thread): (usize, &'p olifant_opium::profile::Thread)| {
        let count = counts.get(id).copied().unwrap_or_default();
        ThreadFacts {
            name: &thread.name,
            cpu: thread.cpu,
            node: thread.node,
            started: thread.started,
            ended: thread.ended,
            routine: if thread.routine == 0 { None } else { locate(thread.routine) },
            local: count.local,
            remote: count.remote,
        }
    };
    profile.threads.iter().enumerate().map(facts).collect()
}
