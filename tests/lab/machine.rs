//! Machines for the guest: the prototype's 4 x 4, and uneven ones, as machine files.

use std::path::{Path, PathBuf};

/// A node of an uneven machine.
pub struct Node {
    /// Its number.
    pub id: u16,
    /// Its cpus, as a list.
    pub cpus: &'static str,
    /// Whether it has memory.
    pub has_memory: bool,
}

/// Nodes 0 to 4: two full ones, one without memory, one without processors, and a hole before the last. Cpus of nodes 0
/// and 1 alternate, as firmware often numbers them, and 6 and 7 are missing.
pub const UNEVEN: [Node; 4] = [
    Node { id: 0, cpus: "0,2", has_memory: true },
    Node { id: 1, cpus: "1,3", has_memory: false },
    Node { id: 2, cpus: "", has_memory: true },
    Node { id: 4, cpus: "4-5,8", has_memory: true },
];

/// Writes a machine file of these nodes into `folder`; all else is the prototype's. `olifant` is asked for that.
pub fn file(folder: &Path, nodes: &[Node], prototype: &str) -> PathBuf {
    let (before, rest) = prototype.split_once("[nodes]").expect("the prototype's nodes are equal");
    let (_, after) = rest.split_once("\n[").expect("a section follows the nodes");
    let (after, network) = after.split_once("[network]").expect("a network follows");
    let (_, system) = network.split_once("\n[os]").expect("the operating system comes last");
    let listed: String = nodes
        .iter()
        .map(|node| {
            let memory = if node.has_memory { 1 } else { 0 };
            format!("[[node]]\nid = {}\ncpus = \"{}\"\nmemory_gib = {memory}\n\n", node.id, node.cpus)
        })
        .collect();
    let network = "[network]\ntopology = \"full\"\nlatency_ns = 100\nbandwidth_mb_per_s = 1000\n";
    let path = folder.join("uneven.toml");
    std::fs::write(&path, format!("{before}{listed}[{after}{network}\n[os]{system}"))
        .expect("the folder can be written");
    path
}
