//! Nodes, cpus, memory and distances from sysfs.
//!
//! Sources: Documentation/ABI/stable/sysfs-devices-node and Documentation/admin-guide/cputopology.rst of Linux. Only
//! online nodes and cpus count. A kernel without NUMA has no node directory; its computer is one node.

use crate::caches::caches;
use crate::processor::{clock, model_name, page_size};
use crate::root::{HostError, SmallFiles};
use olifant_machine::{Bytes, CpuSet, Machine, Node, NodeId, NodeSet, Structure, catalogue};
use olifant_sys::Root;

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// Finds the machine below `root`, with the timings of a present-day computer, all assumed, and says so in its
/// description.
/// # Errors  [`HostError`] names the file and what is wrong with it.
pub fn find_machine(root: &Root) -> Result<Machine, HostError> {
    let mut structure = find_structure(root)?;
    let model = if structure.description.is_empty() { "this computer" } else { &structure.description };
    structure.description = format!("{model}; timings assumed");
    Ok(Machine::from_structure(&structure, "host", &catalogue::assumed()?)?)
}

/// Finds nodes, cpus, memory, caches, distances, clock and page size below `root`.
/// # Errors  [`HostError`] names the file and what is wrong with it.
pub fn find_structure(root: &Root) -> Result<Structure, HostError> {
    let online_file = format!("{CPUS}/online");
    let online: CpuSet = root.set(&online_file)?;
    let first = online.first().ok_or_else(|| root.broken(&online_file, "no cpu is online"))?;
    let (nodes, distances) = if root.has(NODES) {
        let ids: NodeSet = root.set(&format!("{NODES}/online"))?;
        let nodes: Vec<Node> = ids.iter().map(|id| node(root, id, &online)).collect::<Result<_, _>>()?;
        check_every_cpu_has_a_node(root, &online, &nodes)?;
        let distances = distances(root, &nodes)?;
        (nodes, distances)
    } else {
        let memory = kilobytes(root, "proc/meminfo", "MemTotal:")?;
        (vec![Node { id: NodeId(0), cpus: online.iter().collect(), memory }], None)
    };
    let [l1, l2, l3] = caches(root, &format!("{CPUS}/cpu{first}/cache"))?;
    Ok(Structure {
        description: model_name(root).unwrap_or_default(),
        nodes,
        l1,
        l2,
        l3,
        clock: clock(root, &format!("{CPUS}/cpu{first}"))?,
        page: page_size(root),
        distances,
    })
}

fn node(root: &Root, id: NodeId, online: &CpuSet) -> Result<Node, HostError> {
    let local: CpuSet = root.set(&format!("{NODES}/node{id}/cpulist"))?;
    let memory = kilobytes(root, &format!("{NODES}/node{id}/meminfo"), "MemTotal:")?;
    Ok(Node { id, cpus: local.intersection(online).iter().collect(), memory })
}

fn check_every_cpu_has_a_node(root: &Root, online: &CpuSet, nodes: &[Node]) -> Result<(), HostError> {
    let of_nodes: CpuSet = nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
    let stray = online.difference(&of_nodes);
    if stray.is_empty() {
        return Ok(());
    }
    Err(root.broken(NODES, format!("online cpus {stray} are in no online node's cpulist")))
}

/// The value in kB that follows `name` in a meminfo file.
fn kilobytes(root: &Root, file: &str, name: &str) -> Result<Bytes, HostError> {
    let text = root.trimmed(file)?;
    let value = text.lines().find_map(|line| {
        let (_, value) = line.split_once(name)?;
        value.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()
    });
    let bytes = value.and_then(|kilobytes| kilobytes.checked_mul(1024)).map(Bytes);
    bytes.ok_or_else(|| root.broken(file, format!("no line \"{name} NUMBER kB\"")))
}

/// Each node's distances to the online nodes, in the order of their ids; `None` for a single node and where the
/// firmware told none and the kernel shows none.
fn distances(root: &Root, nodes: &[Node]) -> Result<Option<Vec<Vec<u64>>>, HostError> {
    if nodes.len() < 2 {
        return Ok(None);
    }
    let mut rows = Vec::with_capacity(nodes.len());
    for node in nodes {
        let file = format!("{NODES}/node{}/distance", node.id);
        if !root.has(&file) {
            return Ok(None);
        }
        let text = root.trimmed(&file)?;
        let row: Vec<u64> = text
            .split_ascii_whitespace()
            .map(|word| word.parse().map_err(|_| root.broken(&file, format!("{word:?} is not a number"))))
            .collect::<Result<_, _>>()?;
        if row.len() != nodes.len() {
            return Err(
                root.broken(&file, format!("{} distances for {} online nodes", row.len(), nodes.len()))
            );
        }
        rows.push(row);
    }
    Ok(Some(rows))
}
