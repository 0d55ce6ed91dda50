//! Machines found in captured sysfs trees, and what is said of broken ones.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod capture;

use capture::Capture;
use olifant_host::{Root, find_machine, find_structure};
use olifant_machine::{Bytes, CacheShape, Hertz, Machine, NodeId, Structure};

fn structure(name: &str) -> Structure {
    find_structure(&Capture::named(name).root()).unwrap()
}

fn machine(name: &str) -> Machine {
    find_machine(&Capture::named(name).root()).unwrap()
}

/// Node ids with their cpus and memory in MiB.
fn nodes(structure: &Structure) -> Vec<(u16, String, u64)> {
    let list = |node: &olifant_machine::Node| {
        node.cpus.iter().copied().collect::<olifant_machine::CpuSet>().to_string()
    };
    structure.nodes.iter().map(|node| (node.id.0, list(node), node.memory.0 >> 20)).collect()
}

fn cache(kibibytes: u64, ways: u32, line: u64) -> Option<CacheShape> {
    Some(CacheShape { size: Bytes(kibibytes << 10), ways: Some(ways), line: Some(Bytes(line)) })
}

#[test]
fn a_virtual_machine_is_one_node_with_everything_it_tells() {
    let found = structure("one-node-vm");
    assert_eq!(nodes(&found), [(0, "0-1".to_owned(), 5722)]);
    assert_eq!((found.l1, found.l2, found.l3), (cache(32, 8, 64), cache(1024, 8, 64), cache(32768, 16, 64)));
    assert_eq!(found.clock, Some(Hertz(2596.13e6)));
    assert_eq!(found.page, Some(Bytes(4096)));
    assert_eq!(found.description, "AMD EPYC");
    assert_eq!(found.distances, None);
}

#[test]
fn assumed_timings_are_called_assumed() {
    assert_eq!(machine("one-node-vm").description, "AMD EPYC; timings assumed");
    assert_eq!(machine("no-numa-kernel").description, "this computer; timings assumed");
}

#[test]
fn four_nodes_keep_the_firmware_s_cpu_numbers_and_distances() {
    let found = structure("four-by-four");
    assert_eq!(nodes(&found)[1], (1, "1,5,9,13".to_owned(), 8192));
    assert_eq!(found.distances.as_ref().unwrap()[0], [10, 20, 20, 30]);
    let machine = machine("four-by-four");
    assert_eq!(machine.configuration(), "4N4");
    let reads = machine.idle_read_matrix().unwrap();
    assert_eq!(reads[0], [100, 200, 200, 300], "idle reads in the ratio of the distances");
}

#[test]
fn a_node_without_memory_keeps_its_cpus() {
    let found = structure("memory-less-node");
    assert_eq!(nodes(&found), [(0, "0-3".to_owned(), 64000), (1, "4-7".to_owned(), 0)]);
    assert_eq!(machine("memory-less-node").configuration(), "2N4");
}

#[test]
fn a_node_without_cpus_keeps_its_memory() {
    let found = structure("cpu-less-node");
    assert_eq!(nodes(&found)[2], (2, String::new(), 262_144));
    assert_eq!(machine("cpu-less-node").configuration(), "3N4,4,0");
}

#[test]
fn sparse_node_numbers_stay_sparse() {
    let found = structure("sparse-nodes");
    assert_eq!(
        found.nodes.iter().map(|node| node.id).collect::<Vec<_>>(),
        [NodeId(0), NodeId(8), NodeId(255)]
    );
    assert_eq!(found.page, Some(Bytes(65536)));
    assert_eq!(found.clock, Some(Hertz(3.8e9)));
    assert_eq!(found.l2, Some(CacheShape { size: Bytes(512 << 10), ways: None, line: Some(Bytes(128)) }));
    assert_eq!(machine("sparse-nodes").idle_read_matrix().unwrap()[0], [100, 400, 800]);
}

#[test]
fn offline_cpus_belong_to_no_node_and_the_first_online_one_tells_the_caches() {
    let found = structure("offline-cpus");
    assert_eq!(nodes(&found), [(0, "1-3".to_owned(), 64000), (1, "8-11".to_owned(), 64000)]);
    assert_eq!(
        (found.l1, found.l2, found.l3),
        (cache(48, 12, 64), cache(1280, 20, 64), cache(36864, 12, 64))
    );
    assert_eq!(machine("offline-cpus").configuration(), "2N3,4");
}

#[test]
fn a_kernel_without_numa_is_one_node() {
    let found = structure("no-numa-kernel");
    assert_eq!(nodes(&found), [(0, "0-3".to_owned(), 3793)]);
    assert_eq!((found.l1, found.l2, found.l3), (None, None, None));
}

#[test]
fn every_captured_machine_survives_its_machine_file() {
    for name in Capture::names() {
        let machine = machine(&name);
        assert_eq!(Machine::from_toml(&machine.to_toml()).unwrap(), machine, "{name}");
        assert_eq!(
            Structure::from_hwloc_xml(&machine.to_hwloc_xml().unwrap()).unwrap(),
            machine.structure().unwrap()
        );
    }
}

#[test]
fn the_machine_that_runs_this_test_is_found() {
    if std::fs::metadata("/sys/devices/system/cpu/online").is_err() {
        eprintln!("SKIPPED: needs a mounted sysfs with /sys/devices/system/cpu/online");
        return;
    }
    let machine = find_machine(&Root::new("/")).unwrap();
    let cpus: usize = machine.nodes.iter().map(|node| node.cpus.len()).sum();
    assert!(cpus >= std::thread::available_parallelism().unwrap().get());
}

/// The error for a capture with one file changed, without the directory it was unpacked into.
fn refusal(name: &str, file: &str, text: Option<&str>) -> String {
    let capture = Capture::named(name);
    capture.change(file, text);
    capture.without_directory(&find_machine(&capture.root()).unwrap_err().to_string())
}

#[test]
fn broken_files_are_named_with_what_is_wrong_in_them() {
    let online = "sys/devices/system/cpu/online";
    assert_eq!(
        refusal("four-by-four", online, Some("0-x")),
        "sys/devices/system/cpu/online: \"0-x\": character 3: expected a cpu number, found 'x'"
    );
    assert_eq!(refusal("four-by-four", online, Some("")), "sys/devices/system/cpu/online: no cpu is online");
    assert_eq!(
        refusal("four-by-four", "sys/devices/system/node/node2/distance", Some("20 30 10")),
        "sys/devices/system/node/node2/distance: 3 distances for 4 online nodes"
    );
    assert_eq!(
        refusal("four-by-four", "sys/devices/system/node/node2/meminfo", Some("nothing")),
        "sys/devices/system/node/node2/meminfo: no line \"MemTotal: NUMBER kB\""
    );
    assert_eq!(
        refusal("four-by-four", "sys/devices/system/node/node2/cpulist", Some("2,6")),
        "sys/devices/system/node: online cpus 10,14 are in no online node's cpulist"
    );
    let missing = refusal("four-by-four", online, None);
    assert!(missing.starts_with("read sys/devices/system/cpu/online: "), "{missing}");
    assert!(missing.ends_with("; is sysfs mounted here?"), "{missing}");
}

#[test]
fn a_missing_distance_file_means_linux_s_default_distance() {
    let capture = Capture::named("memory-less-node");
    capture.change("sys/devices/system/node/node0/distance", None);
    assert_eq!(find_machine(&capture.root()).unwrap().idle_read_matrix().unwrap()[0], [100, 200]);
}
