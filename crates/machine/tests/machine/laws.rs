//! The laws of a machine, each broken once.

use crate::random_machine;
use olifant_machine::{Bytes, BytesPerSecond, CpuId, Cycles, Machine, Nanos, NodeId, Vertex, catalogue};
use proptest::prelude::*;

proptest! {
    #[test]
    fn random_machines_obey_the_laws(machine in random_machine::machine()) {
        prop_assert_eq!(machine.check(), Ok(()));
    }
}

/// What `check` says of olifant after `change`.
fn broken(change: impl FnOnce(&mut Machine)) -> String {
    let mut machine = catalogue::find("olifant").unwrap();
    change(&mut machine);
    machine.check().unwrap_err().to_string()
}

#[test]
fn a_broken_law_is_named_with_its_key_and_value() {
    assert_eq!(broken(|m| m.name = " ".to_owned()), "name =  : must not be empty");
    assert_eq!(broken(|m| m.nodes.clear()), "nodes.count = 0: a machine has at least one node");
    assert_eq!(
        broken(|m| m.nodes[2].id = NodeId(1)),
        "node[2].id = 1: node ids must ascend, each given once"
    );
    let twice = "node[0].cpus = 1: cpus of a node must ascend, each given once";
    assert_eq!(broken(|m| m.nodes[0].cpus.insert(1, CpuId(1))), twice);
    assert_eq!(broken(|m| m.nodes[3].cpus[0] = CpuId(0)), "node[3].cpus = 0: a cpu belongs to one node only");
    assert_eq!(broken(|m| m.processor.cpi = f64::NAN), "processor.cpi = NaN: must be finite and more than 0");
    let line = "processor.l2.line = 48: must be a power of two";
    assert_eq!(broken(|m| m.processor.l2.line = Bytes(48)), line);
    let ways = "processor.l1.ways = 0: must be at least 1";
    assert_eq!(broken(|m| m.processor.l1.ways = 0), ways);
    let size = "processor.l1.size = 1000: must be a whole number of sets of 4 x 32 bytes";
    assert_eq!(broken(|m| m.processor.l1.size = Bytes(1000)), size);
    assert_eq!(
        broken(|m| m.processor.l1.line = Bytes(64)),
        "processor.l2.line = 32: must be at least l1's (64)"
    );
    assert_eq!(broken(|m| m.processor.tlb.ways = 0), "processor.tlb.ways = 0: must divide the 64 entries");
    let entries = "processor.tlb.entries = 48: must be ways x a power of two";
    assert_eq!(broken(|m| m.processor.tlb.entries = 48), entries);
    let latency = "memory.latency = -1: must be a finite time, 0 or more";
    assert_eq!(broken(|m| m.memory.latency = Nanos(-1.0)), latency);
    let bandwidth = "memory.bandwidth = inf: must be finite and more than 0";
    assert_eq!(broken(|m| m.memory.bandwidth = BytesPerSecond(f64::INFINITY)), bandwidth);
    assert_eq!(broken(|m| m.coherence.request = Bytes(0)), "coherence.request = 0: must be at least 1 byte");
    let no_node = "network.link[0].from = node:9: no such node";
    assert_eq!(broken(|m| m.network.links[0].from = Vertex::Node(NodeId(9))), no_node);
    let differ = "network.topology = hub: its links differ; call it explicit";
    assert_eq!(broken(|m| m.network.links[3].latency = Nanos(1.0)), differ);
    let unreachable = "network.topology = explicit: no links lead from node 0 to node 3";
    assert_eq!(
        broken(|m| {
            m.network.topology = "explicit".to_owned();
            m.network.links.retain(|link| link.to != Vertex::Node(NodeId(3)));
        }),
        unreachable
    );
    assert_eq!(broken(|m| m.os.page = Bytes(16)), "os.page = 16: must hold at least one l2 line (32 bytes)");
    assert_eq!(broken(|m| m.os.time_slice = Nanos(0.0)), "os.time_slice = 0: must be more than 0");
}

#[test]
fn a_third_level_of_an_odd_number_of_slices_is_lawful() {
    let mut machine = catalogue::find("x4800").unwrap();
    let l3 = machine.processor.l3.as_mut().unwrap();
    (l3.size, l3.ways, l3.hit) = (Bytes(33 << 20), 11, Cycles(70));
    assert_eq!(machine.check(), Ok(()));
}
