//! Configurations: parts of machines.

use crate::random_machine;
use olifant_machine::{Configuration, CpuId, Machine, Node, NodeId, Routes, catalogue};
use proptest::collection::vec;
use proptest::prelude::*;

fn cpus(machine: &Machine) -> usize {
    machine.nodes.iter().map(|node| node.cpus.len()).sum()
}

fn routes(machine: &Machine) -> Routes {
    let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
    Routes::new(&machine.network, &ids).unwrap()
}

proptest! {
    #[test]
    fn a_configuration_reads_back_from_its_text(counts in vec(0..20_u16, 1..10)) {
        prop_assume!(counts.iter().any(|&count| count > 0));
        let list: Vec<String> = counts.iter().map(u16::to_string).collect();
        let configuration: Configuration = format!("{}N{}", counts.len(), list.join(",")).parse().unwrap();
        prop_assert_eq!(configuration.processors(), counts);
        prop_assert_eq!(configuration.to_string().parse::<Configuration>().unwrap(), configuration);
    }

    #[test]
    fn the_whole_configuration_only_renumbers(machine in random_machine::machine()) {
        let whole = machine.configure(&machine.configuration()).unwrap();
        whole.check().unwrap();
        prop_assert_eq!(cpus(&whole), cpus(&machine));
        let memory = |machine: &Machine| machine.nodes.iter().map(|node| node.memory.0).sum::<u64>();
        prop_assert_eq!(memory(&whole), memory(&machine));
        prop_assert_eq!(whole.network.links.len(), machine.network.links.len());
        prop_assert_eq!(whole.configuration(), machine.configuration());
        // Numbering once more changes nothing.
        prop_assert_eq!(&whole.configure(&whole.configuration()).unwrap(), &whole);
    }

    #[test]
    fn a_part_is_dense_and_has_what_was_asked_for(machine in random_machine::even_machine(), nodes in 1..9_u16, processors in 1..6_u16) {
        let text = format!("{nodes}N{processors}");
        let fits = usize::from(nodes) <= machine.nodes.len() && usize::from(processors) <= machine.nodes[0].cpus.len();
        let part = machine.configure(&text);
        prop_assert_eq!(part.is_ok(), fits);
        let Ok(part) = part else { return Ok(()) };
        part.check().unwrap();
        prop_assert_eq!(part.configuration(), text);
        prop_assert_eq!(&part.name, &machine.name);
        let all: Vec<CpuId> = part.nodes.iter().flat_map(|node| node.cpus.clone()).collect();
        prop_assert_eq!(all, (0..nodes * processors).map(CpuId).collect::<Vec<_>>());
        prop_assert!(part.nodes.iter().enumerate().all(|(index, node)| node.id.index() == index));
        prop_assert!(part.nodes.iter().all(|node| node.memory == machine.nodes[0].memory));
    }

    #[test]
    fn distances_in_a_part_are_those_of_the_whole(machine in random_machine::machine(), skip in 0..8_usize) {
        // All nodes but one, which must go on passing packets.
        let mut counts: Vec<String> = machine.nodes.iter().map(|node| node.cpus.len().to_string()).collect();
        let skipped = skip % counts.len();
        counts.remove(skipped);
        let wanted = format!("{}N{}", counts.len(), counts.join(","));
        let Ok(part) = machine.configure(&wanted) else { return Ok(()) };
        // Which nodes were taken: the first that have enough processors, in order.
        let mut candidates = machine.nodes.iter();
        let taken: Vec<NodeId> = part
            .nodes
            .iter()
            .map(|node| candidates.find(|candidate| candidate.cpus.len() >= node.cpus.len()).unwrap().id)
            .collect();
        part.check().unwrap();
        let (of_part, of_whole) = (routes(&part), routes(&machine));
        for (a, &whole_a) in part.nodes.iter().zip(&taken) {
            for (b, &whole_b) in part.nodes.iter().zip(&taken) {
                prop_assert_eq!(of_part.hops(a.id, b.id), of_whole.hops(whole_a, whole_b));
            }
        }
    }
}

fn find(name: &str) -> Machine {
    catalogue::find(name).unwrap()
}

#[test]
fn half_of_olifant_is_two_nodes_on_the_same_hub() {
    let half = find("olifant").configure("2N4").unwrap();
    assert_eq!(half.configuration(), "2N4");
    assert_eq!((half.network.topology.as_str(), half.network.links.len()), ("hub", 4));
    assert_eq!(find("olifant").configure("4N4").unwrap(), find("olifant"));
    assert_eq!(find("olifant").configure("1N4").unwrap().network.links.len(), 0);
}

#[test]
fn a_topology_keeps_its_name_only_where_the_part_is_one() {
    let cases = [
        ("x4800", "8N1", "twisted-ladder"),
        ("x4800", "4N8", "explicit"),
        ("opteron-4", "2N2", "explicit"),
        ("t5440", "3N8", "hub"),
        ("altix-64", "16N2", "fat-tree:4"),
        ("altix-512", "8N1", "fat-tree:8"),
    ];
    for (name, configuration, topology) in cases {
        assert_eq!(
            find(name).configure(configuration).unwrap().network.topology,
            topology,
            "{name} {configuration}"
        );
    }
}

#[test]
fn a_node_left_out_passes_packets_on_as_a_router() {
    let mut line = find("olifant");
    let ids: Vec<NodeId> = line.nodes.iter().map(|node| node.id).collect();
    let ring = olifant_machine::Topology::Ring.links(
        &ids,
        line.network.links[0].latency,
        line.network.links[0].bandwidth,
    );
    line.network = olifant_machine::Network { topology: "ring".to_owned(), links: ring.unwrap() };
    line.nodes[1].cpus.truncate(2);
    // Nodes 0 and 2 have four processors; both ways round between them lead over a node that stays out.
    let part = line.configure("2N4").unwrap();
    assert_eq!(part.network.links.len(), 8);
    assert_eq!(routes(&part).hops(NodeId(0), NodeId(1)), 2);
    assert_eq!(part.network.topology, "explicit");
}

#[test]
fn uneven_and_sparse_machines_show_each_count() {
    let mut machine = find("olifant");
    machine.nodes[1].cpus.truncate(2);
    assert_eq!(machine.configuration(), "4N4,2,4,4");
    machine.nodes[3] = Node { id: NodeId(40), cpus: Vec::new(), ..machine.nodes[3].clone() };
    assert_eq!(machine.configuration(), "4N4,2,4,0");
}

#[test]
fn what_is_no_configuration_or_does_not_fit_is_refused_with_what_there_is() {
    let malformed = "expected NODESxPROCESSORS written as 4N2, or one count per node as 3N4,2,4";
    for text in ["", "4", "N4", "4N", "4x4", "4N4,", "-1N4", "4N 4"] {
        let error = find("olifant").configure(text).unwrap_err().to_string();
        assert_eq!(error, format!("configuration {text:?}: {malformed}"));
    }
    let refused = |text: &str| find("olifant").configure(text).unwrap_err().to_string();
    assert_eq!(refused("5N4"), "configuration 5N4: olifant is 4N4; it has no such part");
    assert_eq!(refused("4N5"), "configuration 4N5: olifant is 4N4; it has no such part");
    assert_eq!(refused("3N0"), "configuration \"3N0\" has no processors");
    assert_eq!(refused("0N4"), "configuration \"0N4\" has no processors");
    assert_eq!(
        refused("3N4,4"),
        "configuration \"3N4,4\": 3 nodes but 2 processor counts; give one count or one per node"
    );
    assert_eq!(refused("70000N1"), "configuration \"70000N1\": more than 65535 nodes or processors");
}
