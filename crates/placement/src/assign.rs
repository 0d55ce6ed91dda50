//! From a thread policy to the cpus of threads 0, 1, 2, ...

use crate::ThreadPolicy;
use olifant_machine::{CpuId, Node};

impl ThreadPolicy {
    /// The cpus of threads 0, 1, 2, ... on a machine with these nodes. Except for a list, each cpu occurs once; a
    /// thread beyond the end takes the order from its start again.
    ///
    /// Fill goes through the nodes in the order given. Round robin deals one cpu of each node in turn; a node without
    /// cpus left is passed over. Float starts in fill order, and its threads may move later. A list is taken as it
    /// is: whether its cpus exist is for the caller to check.
    pub fn assign(&self, nodes: &[Node]) -> Vec<CpuId> {
        match self {
            ThreadPolicy::Fill | ThreadPolicy::Float => {
                nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect()
            }
            ThreadPolicy::RoundRobin => {
                let rounds = nodes.iter().map(|node| node.cpus.len()).max().unwrap_or(0);
                (0..rounds)
                    .flat_map(|round| nodes.iter().filter_map(move |node| node.cpus.get(round).copied()))
                    .collect()
            }
            ThreadPolicy::List(cpus) => cpus.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_machine::{Bytes, NodeId};
    use proptest::prelude::*;

    /// Nodes with so many cpus each, numbered through.
    fn nodes(sizes: &[u16]) -> Vec<Node> {
        let mut next = 0;
        let mut node = |(id, &size): (usize, &u16)| {
            let cpus = (next..next + size).map(CpuId).collect();
            next += size;
            Node { id: NodeId(u16::try_from(id).unwrap()), cpus, memory: Bytes(1 << 30) }
        };
        sizes.iter().enumerate().map(&mut node).collect()
    }

    fn order(policy: &ThreadPolicy, sizes: &[u16]) -> Vec<u16> {
        policy.assign(&nodes(sizes)).into_iter().map(|cpu| cpu.0).collect()
    }

    #[test]
    fn fill_completes_a_node_before_the_next() {
        assert_eq!(order(&ThreadPolicy::Fill, &[2, 0, 3]), [0, 1, 2, 3, 4]);
        assert_eq!(order(&ThreadPolicy::Float, &[2, 0, 3]), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn round_robin_deals_over_uneven_nodes() {
        assert_eq!(order(&ThreadPolicy::RoundRobin, &[2, 2]), [0, 2, 1, 3]);
        assert_eq!(order(&ThreadPolicy::RoundRobin, &[1, 0, 3]), [0, 1, 2, 3]);
        assert_eq!(order(&ThreadPolicy::RoundRobin, &[3, 1, 2]), [0, 3, 4, 1, 5, 2]);
    }

    #[test]
    fn a_list_keeps_order_and_repetition() {
        let list = ThreadPolicy::List(vec![CpuId(3), CpuId(0), CpuId(3)]);
        assert_eq!(order(&list, &[4]), [3, 0, 3]);
    }

    proptest! {
        #[test]
        fn each_cpu_occurs_once(sizes in prop::collection::vec(0u16..6, 0..9)) {
            let all: Vec<u16> = (0..sizes.iter().sum()).collect();
            for policy in [ThreadPolicy::Fill, ThreadPolicy::RoundRobin, ThreadPolicy::Float] {
                let mut cpus = order(&policy, &sizes);
                cpus.sort_unstable();
                prop_assert_eq!(&cpus, &all);
            }
        }
    }
}
