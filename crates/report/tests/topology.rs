//! Machines as pictures, tables and JSON.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use olifant_machine::{Bytes, CpuId, Machine, NodeId, catalogue};
use olifant_report::topology::{json, picture, table};

/// The square machine with fixed numbers, so that tuning a machine file changes no picture here.
fn square() -> Machine {
    let mut machine = catalogue::find("opteron-4").unwrap();
    machine.name = "corners".to_owned();
    machine.description = "four nodes, for this test".to_owned();
    machine.processor.cpi = 0.5;
    machine.memory.latency.0 = 60.0;
    machine.memory.bandwidth.0 = 6.4e9;
    machine.memory.intervention.0 = 50.0;
    machine.memory.address_only.0 = 5.0;
    machine.coherence.latency.0 = 2.5;
    machine.coherence.occupancy.0 = 3.0;
    for link in &mut machine.network.links {
        link.latency.0 = 10.0;
        link.bandwidth.0 = 4e9;
    }
    machine
}

const SQUARE: &str = "\
corners 4N2
four nodes, for this test

processor   2.2 GHz, 0.5 cycles an instruction, window 72 instructions, 8 misses in flight
L1          64 KiB, 2-way, 64 B lines, hit 3 cycles
L2          1 MiB, 16-way, 64 B lines, hit 12 cycles
TLB         512 entries, 4-way, miss 30 cycles
memory      60 ns, 6400 MB/s per node; out of a neighbour's cache 50 ns
coherence   2.5 ns per passage, busy 3 ns per packet; packets of 8 B, with data 72 B
pages       4 KiB, random frames
network     square: 8 links between nodes: 10 ns, 4000 MB/s per direction

╭─ node 0 ────────────╮  ╭─ node 1 ────────────╮
│ [0] [1]             │  │ [2] [3]             │
│ L1 64 KiB each      │  │ L1 64 KiB each      │
│ L2 1 MiB each       ├──┤ L2 1 MiB each       │
│ memory 2 GiB        │  │ memory 2 GiB        │
│ 6400 MB/s, 60 ns    │  │ 6400 MB/s, 60 ns    │
╰──────────┬──────────╯  ╰──────────┬──────────╯
           │                        │
╭─ node 2 ─┴──────────╮  ╭─ node 3 ─┴──────────╮
│ [4] [5]             │  │ [6] [7]             │
│ L1 64 KiB each      │  │ L1 64 KiB each      │
│ L2 1 MiB each       ├──┤ L2 1 MiB each       │
│ memory 2 GiB        │  │ memory 2 GiB        │
│ 6400 MB/s, 60 ns    │  │ 6400 MB/s, 60 ns    │
╰─────────────────────╯  ╰─────────────────────╯

Idle read in ns, by a processor of (row) out of the memory of (column):
  node       0    1    2    3
     0      60  125  125  145
     1     125   60  145  125
     2     125  145   60  125
     3     145  125  125   60
";

#[test]
fn a_square_is_drawn_as_one() {
    assert_eq!(picture(&square()), SQUARE);
}

/// Every machine of the catalogue, parts of them, and shapes that only real computers have.
fn many_machines() -> Vec<Machine> {
    let whole: Vec<Machine> =
        catalogue::names().into_iter().map(|name| catalogue::find(name).unwrap()).collect();
    let mut machines = whole.clone();
    for machine in &whole {
        machines.extend(
            ["1N1", "2N1", "3N2", "4N2,1,1,2", "9N1"].iter().filter_map(|part| machine.configure(part).ok()),
        );
    }
    let mut odd = square();
    odd.nodes[1].cpus.clear();
    odd.nodes[2].memory = Bytes(0);
    odd.nodes[3].cpus = (1000..1200).step_by(2).map(CpuId).collect();
    odd.nodes[0].memory = Bytes(6_000_160_768);
    odd.description = "a very long description of a machine ".repeat(8);
    machines.push(odd);
    let mut many_kinds = whole.into_iter().find(|machine| machine.name == "altix-64").unwrap();
    for (index, node) in many_kinds.nodes.iter_mut().enumerate() {
        node.memory = Bytes((index as u64 % 7) << 30);
    }
    machines.push(many_kinds);
    machines
}

#[test]
fn no_line_of_a_picture_is_longer_than_100_columns() {
    for machine in many_machines() {
        for line in picture(&machine).lines() {
            assert!(line.chars().count() <= 100, "{} {}: {line}", machine.name, machine.configuration());
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn a_picture_of_a_small_machine_names_every_node_and_cpu() {
    for machine in many_machines().iter().filter(|machine| machine.nodes.len() <= 8) {
        let picture = picture(machine);
        for node in &machine.nodes {
            assert_eq!(picture.matches(&format!("─ node {} ─", node.id)).count(), 1, "{picture}");
            for cpu in node.cpus.iter().filter(|_| node.cpus.len() <= 8) {
                assert_eq!(picture.matches(&format!("[{cpu}]")).count(), 1, "{picture}");
            }
        }
    }
}

#[test]
fn a_picture_of_512_processors_fits_a_screen_and_says_how_many_there_are() {
    let picture = picture(&catalogue::find("altix-512").unwrap());
    assert!(picture.lines().count() <= 40, "{picture}");
    for needed in ["256 nodes like this one", "512 cpus in all", "nodes 0-255", "cpus 0-511"] {
        assert!(picture.contains(needed), "{needed:?} is not in\n{picture}");
    }
}

#[test]
fn a_table_has_a_row_for_every_node_and_link() {
    let machine = square();
    let table = table(&machine);
    for (node, cpus) in [(0, "0-1"), (3, "6-7")] {
        assert!(table.lines().any(|line| line.split_whitespace().eq([
            &*node.to_string(),
            "2",
            "2048",
            cpus
        ])));
    }
    assert!(
        table.lines().any(|line| line.split_whitespace().eq(["7", "node", "3", "node", "2", "10", "4000"]))
    );
    assert!(table.lines().any(|line| line.split_whitespace().eq(["memory", "latency", "60", "ns"])));
}

#[test]
fn json_holds_the_machine_in_the_units_that_its_names_end_in() {
    let object: serde_json::Value = serde_json::from_str(&json(&square())).unwrap();
    assert_eq!(object["machine"], "corners");
    assert_eq!(object["configuration"], "4N2");
    assert_eq!(object["nodes"][3]["cpus"], "6-7");
    assert_eq!(object["nodes"][3]["memory_bytes"], 2_u64 << 30);
    assert_eq!(object["processor"]["l2"]["size_bytes"], 1 << 20);
    assert_eq!(object["processor"]["l3"], serde_json::Value::Null);
    assert_eq!(object["memory"]["bandwidth_bytes_per_s"], 6.4e9);
    assert_eq!(object["network"]["links"][0]["from"], "node:0");
    assert_eq!(object["idle_read_ns"][0], serde_json::json!([60, 125, 125, 145]));
}

#[test]
fn nodes_that_no_link_joins_have_no_distances() {
    let mut machine = square();
    machine.network.links.retain(|link| link.to != olifant_machine::Vertex::Node(NodeId(3)));
    let object: serde_json::Value = serde_json::from_str(&json(&machine)).unwrap();
    assert!(object["idle_read_ns"].is_null());
    assert!(picture(&machine).contains("the network does not join all nodes"));
}
