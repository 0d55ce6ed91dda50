//! Machines that the tests of sets share.

use olifant_machine::{CpuSet, NodeId};
use olifant_placement::{Hierarchy, Level, NodeResources};

fn node(id: u16, cpus: &str, has_memory: bool) -> NodeResources {
    NodeResources { id: NodeId(id), cpus: cpus.parse().unwrap(), has_memory }
}

fn groups(lists: &[&str]) -> Vec<CpuSet> {
    lists.iter().map(|list| list.parse().unwrap()).collect()
}

/// Four nodes with four cpus each, two nodes to a package, two cpus to a core, a cache to each node.
pub fn four_by_four() -> Hierarchy {
    let lists = ["0-3", "4-7", "8-11", "12-15"];
    let nodes = lists.iter().zip(0..).map(|(list, id)| node(id, list, true)).collect();
    let row =
        |from: u64| (0..4_u64).map(|to| [10, 12, 20, 24][usize::try_from(from ^ to).unwrap()]).collect();
    let mut hierarchy = Hierarchy::new(nodes, Some((0..4).map(row).collect())).unwrap();
    hierarchy.add_cpu_level(Level::Package, groups(&["0-7", "8-15"])).unwrap();
    hierarchy.add_cpu_level(Level::LastLevelCache, groups(&lists)).unwrap();
    let cores = ["0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "12-13", "14-15"];
    hierarchy.add_cpu_level(Level::Core, groups(&cores)).unwrap();
    hierarchy
}

/// Sparse numbers, a node without memory (2) and two without cpus (5, 9).
pub fn uneven() -> Hierarchy {
    let nodes = vec![node(0, "0-3", true), node(2, "4-7", false), node(5, "", true), node(9, "", true)];
    let distances =
        vec![vec![10, 20, 17, 30], vec![20, 10, 30, 15], vec![17, 30, 10, 40], vec![30, 15, 40, 10]];
    Hierarchy::new(nodes, Some(distances)).unwrap()
}
