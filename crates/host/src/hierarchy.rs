//! The resources of the running machine by level: nodes, packages, last-level caches, cores, cpus.
//!
//! Sources: Documentation/admin-guide/cputopology.rst (physical_package_id; core_cpus_list, before Linux 5.3
//! thread_siblings_list) and Documentation/ABI/testing/sysfs-devices-system-cpu (cache/index*/shared_cpu_list). Virtual
//! machines and some firmware leave levels out: a package that is not told is the node, a cache likewise, a core is one
//! cpu.

use crate::find::find_structure;
use crate::root::{HostError, SmallFiles};
use olifant_machine::{CpuId, CpuSet};
use olifant_placement::{Hierarchy, Level, NodeResources};
use olifant_sys::Root;
use std::collections::BTreeMap;

const CPUS: &str = "sys/devices/system/cpu";

/// Finds the machine's resources by level below `root`.
/// # Errors  [`HostError`] names the file and what is wrong with it.
pub fn find_hierarchy(root: &Root) -> Result<Hierarchy, HostError> {
    let structure = find_structure(root)?;
    let nodes = structure.nodes.iter().map(NodeResources::from).collect();
    let mut hierarchy = Hierarchy::new(nodes, structure.distances)?;
    let online = hierarchy.system().cpus.clone();
    let node_number = |cpu: CpuId| hierarchy.node_of(cpu).map_or(0, |node| u64::from(node.0));
    let mut packages: BTreeMap<(bool, u64), CpuSet> = BTreeMap::new();
    let mut caches: BTreeMap<(bool, CpuSet), CpuSet> = BTreeMap::new();
    let mut cores: BTreeMap<CpuSet, CpuSet> = BTreeMap::new();
    for cpu in &online {
        let folder = format!("{CPUS}/cpu{cpu}");
        // Firmware without packages says -1.
        let package = root.optional_text(&format!("{folder}/topology/physical_package_id"));
        let package = package.and_then(|text| text.parse::<u64>().ok());
        let package_key = package.map_or_else(|| (false, node_number(cpu)), |number| (true, number));
        packages.entry(package_key).or_default().insert(cpu);
        let own: CpuSet = [cpu].into_iter().collect();
        let cache_key = match last_cache(root, &folder)? {
            Some(shared) => (true, shared.intersection(&online)),
            None => {
                (false, hierarchy.node_of(cpu).and_then(|id| hierarchy.node(id)).unwrap_or_default().cpus)
            }
        };
        caches.entry(cache_key).or_default().insert(cpu);
        let siblings = ["core_cpus_list", "thread_siblings_list"]
            .iter()
            .map(|name| format!("{folder}/topology/{name}"))
            .find(|file| root.has(file));
        let core = match siblings {
            Some(file) => root.set::<CpuId>(&file)?.intersection(&online).union(&own),
            None => own,
        };
        cores.entry(core).or_default().insert(cpu);
    }
    for (level, groups) in [
        (Level::Package, packages.into_values().collect()),
        (Level::LastLevelCache, caches.into_values().collect()),
        (Level::Core, cores.into_values().collect::<Vec<CpuSet>>()),
    ] {
        hierarchy.add_cpu_level(level, by_first_cpu(groups))?;
    }
    Ok(hierarchy)
}

/// Who shares the highest cache that a cpu has.
fn last_cache(root: &Root, folder: &str) -> Result<Option<CpuSet>, HostError> {
    let mut last = None;
    for index in 0.. {
        let cache = format!("{folder}/cache/index{index}");
        let Some(level) = root.optional_number(&format!("{cache}/level"))? else { break };
        let shared = format!("{cache}/shared_cpu_list");
        if root.has(&shared) && last.as_ref().is_none_or(|&(highest, _)| level >= highest) {
            last = Some((level, root.set(&shared)?));
        }
    }
    Ok(last.map(|(_, cpus)| cpus))
}

/// Logical order, as hwloc's: by the lowest cpu.
fn by_first_cpu(mut groups: Vec<CpuSet>) -> Vec<CpuSet> {
    groups.sort_by_key(CpuSet::first);
    groups
}
