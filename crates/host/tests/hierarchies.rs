//! Hierarchies found in captured sysfs trees.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod capture;

use capture::Capture;
use olifant_host::{Root, find_hierarchy};
use olifant_machine::NodeId;
use olifant_placement::{Hierarchy, Level};

fn hierarchy(name: &str) -> Hierarchy {
    find_hierarchy(&Capture::named(name).root()).unwrap()
}

#[test]
fn every_capture_has_cores_and_caches_that_cover_its_cpus() {
    for name in Capture::names() {
        let hierarchy = hierarchy(&name);
        for level in [Level::Package, Level::LastLevelCache, Level::Core, Level::Cpu] {
            let cpus: usize = hierarchy.sets(&level).iter().map(|set| set.cpus.len()).sum();
            assert_eq!(cpus, hierarchy.system().cpus.len(), "{name}: {level}");
        }
    }
}

#[test]
fn a_node_without_memory_lends_its_cpus_the_nearest() {
    let hierarchy = hierarchy("memory-less-node");
    let bare = hierarchy.nodes().iter().find(|node| !node.has_memory).unwrap();
    let set = hierarchy.with_local_memory(bare.cpus.clone());
    assert!(!set.nodes.is_empty() && !set.nodes.contains(bare.id));
}

#[test]
fn sparse_numbers_stay_as_they_are() {
    let hierarchy = hierarchy("sparse-nodes");
    let ids: Vec<NodeId> = hierarchy.nodes().iter().map(|node| node.id).collect();
    assert!(ids.windows(2).any(|pair| pair[1].0 - pair[0].0 > 1), "{ids:?}");
    assert_eq!(hierarchy.by_distance(ids[1])[0], ids[1]);
}

#[test]
fn a_broken_list_of_siblings_is_named() {
    let capture = Capture::named("four-by-four");
    capture.change("sys/devices/system/cpu/cpu3/topology/core_cpus_list", Some("3-x"));
    let message = find_hierarchy(&capture.root()).unwrap_err().to_string();
    assert_eq!(
        capture.without_directory(&message),
        "sys/devices/system/cpu/cpu3/topology/core_cpus_list: \"3-x\": character 3: expected a cpu number, found 'x'"
    );
}

#[test]
fn the_running_machine_has_a_hierarchy() {
    let hierarchy = find_hierarchy(&Root::new("/")).unwrap();
    assert!(!hierarchy.system().cpus.is_empty());
    assert!(!hierarchy.system().nodes.is_empty());
}
