//! Topologies and routes: their laws, and the shapes that the papers tell.

use crate::random_machine;
use olifant_machine::{
    BytesPerSecond, Nanos, Network, NodeId, Routes, Topology, TopologyError, Vertex, catalogue,
};
use proptest::collection::btree_set;
use proptest::prelude::*;
use std::collections::HashMap;

fn ids(count: u16) -> Vec<NodeId> {
    (0..count).map(NodeId).collect()
}

fn network(topology: Topology, nodes: &[NodeId]) -> Result<Network, TopologyError> {
    let links = topology.links(nodes, Nanos(10.0), BytesPerSecond(1e9))?;
    Ok(Network { topology: topology.to_string(), links })
}

fn hops(topology: Topology, count: u16) -> Vec<Vec<usize>> {
    let nodes = ids(count);
    let routes = Routes::new(&network(topology, &nodes).unwrap(), &nodes).unwrap();
    nodes.iter().map(|&from| nodes.iter().map(|&to| routes.hops(from, to)).collect()).collect()
}

fn some_topology() -> impl Strategy<Value = Topology> {
    prop::sample::select(random_machine::topologies())
}

proptest! {
    #[test]
    fn a_topology_s_name_reads_back(topology in some_topology()) {
        prop_assert_eq!(topology.to_string().parse::<Topology>().unwrap(), topology);
    }

    #[test]
    fn distances_are_symmetric_and_obey_the_triangle_inequality(topology in some_topology(), nodes in btree_set(0..1000_u16, 1..20)) {
        let nodes: Vec<NodeId> = nodes.into_iter().map(NodeId).collect();
        let Ok(network) = network(topology, &nodes) else { return Ok(()) };
        let routes = Routes::new(&network, &nodes).unwrap();
        for &a in &nodes {
            prop_assert_eq!(routes.hops(a, a), 0);
            for &b in &nodes {
                prop_assert_eq!(routes.hops(a, b), routes.hops(b, a));
                for &c in &nodes {
                    prop_assert!(routes.hops(a, c) <= routes.hops(a, b) + routes.hops(b, c));
                }
            }
        }
    }

    #[test]
    fn a_route_leads_link_by_link_from_its_start_to_its_end(topology in some_topology(), count in 1..40_u16) {
        let nodes = ids(count);
        let Ok(network) = network(topology, &nodes) else { return Ok(()) };
        let routes = Routes::new(&network, &nodes).unwrap();
        for &from in &nodes {
            for &to in &nodes {
                let mut here = Vertex::Node(from);
                for &link in routes.links(from, to) {
                    prop_assert_eq!(network.links[link].from, here);
                    here = network.links[link].to;
                }
                prop_assert_eq!(here, Vertex::Node(to));
            }
        }
    }

    #[test]
    fn every_link_has_one_back_and_no_two_are_the_same(topology in some_topology(), count in 1..40_u16) {
        let Ok(network) = network(topology, &ids(count)) else { return Ok(()) };
        let ends: Vec<(Vertex, Vertex)> = network.links.iter().map(|link| (link.from, link.to)).collect();
        for (index, &(from, to)) in ends.iter().enumerate() {
            prop_assert_eq!(ends.iter().position(|&other| other == (from, to)), Some(index));
            prop_assert!(topology == Topology::Bus || ends.contains(&(to, from)));
        }
        prop_assert_eq!(count == 1, ends.is_empty());
    }
}

#[test]
fn in_a_twisted_ladder_of_eight_three_nodes_are_one_hop_away_and_four_are_two() {
    for row in hops(Topology::TwistedLadder, 8) {
        assert_eq!([0, 1, 2].map(|hops| row.iter().filter(|&&other| other == hops).count()), [1, 3, 4]);
    }
}

#[test]
fn in_a_square_two_nodes_are_one_hop_away_and_one_is_two() {
    for row in hops(Topology::Square, 4) {
        assert_eq!([0, 1, 2].map(|hops| row.iter().filter(|&&other| other == hops).count()), [1, 2, 1]);
    }
}

#[test]
fn hops_of_the_simple_shapes_are_closed_forms() {
    for count in 2..20_u16 {
        for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let (from, to) = (usize::from(a), usize::from(b));
            let around = usize::from(a.abs_diff(b)).min(usize::from(count - a.abs_diff(b)));
            if a == 0 {
                assert_eq!(hops(Topology::Ring, count)[from][to], around);
                assert_eq!(hops(Topology::Hub, count)[from][to], 2);
                assert_eq!(hops(Topology::Bus, count)[from][to], 3);
                assert_eq!(hops(Topology::Full, count)[from][to], 1);
            }
        }
    }
}

#[test]
fn hops_in_a_tree_are_twice_the_level_at_which_the_branches_meet() {
    for radix in [2_u16, 3, 4] {
        let hops = hops(Topology::FatTree { radix }, 27);
        for (a, row) in hops.iter().enumerate() {
            for (b, &hops) in row.iter().enumerate() {
                let radix = usize::from(radix);
                let meeting = (0..).find(|&level| a / radix.pow(level) == b / radix.pow(level)).unwrap();
                assert_eq!(hops, 2 * meeting as usize, "radix {radix}: {a} to {b}");
            }
        }
    }
}

#[test]
fn the_routes_of_a_full_tree_load_all_links_of_a_level_alike() {
    let nodes = ids(64);
    let network = network(Topology::FatTree { radix: 4 }, &nodes).unwrap();
    let routes = Routes::new(&network, &nodes).unwrap();
    let mut load: HashMap<usize, usize> = HashMap::new();
    for &from in &nodes {
        for &to in &nodes {
            for &link in routes.links(from, to) {
                *load.entry(link).or_default() += 1;
            }
        }
    }
    assert_eq!(load.len(), network.links.len(), "every link is on some route");
    // Up and down alike: to and from a node all 63 others, on the next level 60 of 64 per 4 links, then 48.
    let mut loads: Vec<usize> = load.into_values().collect();
    loads.sort_unstable();
    loads.dedup();
    assert_eq!(loads, [48, 60, 63]);
}

#[test]
fn of_equally_short_ways_the_lowest_links_are_taken() {
    let nodes = ids(4);
    let network = network(Topology::Square, &nodes).unwrap();
    let routes = Routes::new(&network, &nodes).unwrap();
    // Links in order: 0-1, 0-2, 1-3, 2-3, each both ways.
    assert_eq!(routes.links(NodeId(0), NodeId(3)), [0, 4]);
    assert_eq!(routes.links(NodeId(3), NodeId(0)), [5, 1]);
    assert_eq!(routes.links(NodeId(1), NodeId(2)), [1, 2]);
    assert_eq!(routes.links(NodeId(2), NodeId(1)), [3, 0]);
}

#[test]
fn shapes_that_do_not_exist_for_a_number_of_nodes_are_refused() {
    let refused = |topology, count| network(topology, &ids(count)).unwrap_err().to_string();
    assert_eq!(refused(Topology::Square, 5), "topology square needs exactly 4 nodes, and there are 5 nodes");
    let ladder = "topology twisted-ladder needs an even number of nodes, at least 4, and there are 7 nodes";
    assert_eq!(refused(Topology::TwistedLadder, 7), ladder);
    assert_eq!(
        refused(Topology::FatTree { radix: 2 }, 20_000),
        "topology fat-tree:2 for 20000 nodes needs more than 65536 routers"
    );
    for text in ["fat-tree", "fat-tree:1", "fat-tree:x", "fat-tree:"] {
        let expected = format!("topology {text:?}: a fat tree needs a radix of at least 2, as in fat-tree:4");
        assert_eq!(text.parse::<Topology>().unwrap_err().to_string(), expected);
    }
}

#[test]
fn idle_reads_are_the_sum_of_their_parts() {
    let mut machine = catalogue::find("olifant").unwrap();
    machine.memory.latency = Nanos(200.0);
    machine.coherence.latency = Nanos(100.0);
    for link in &mut machine.network.links {
        link.latency = Nanos(50.0);
        link.bandwidth = BytesPerSecond(1e9);
    }
    let routes = Routes::new(&machine.network, &ids(4)).unwrap();
    assert_eq!(machine.idle_read(&routes, NodeId(1), NodeId(1)), Nanos(200.0));
    // Four passages, four links, memory, and 16 and 48 bytes at a byte a nanosecond.
    assert_eq!(machine.idle_read(&routes, NodeId(0), NodeId(3)), Nanos(400.0 + 200.0 + 200.0 + 64.0));
    // On the reader's bus 50 for the request, and a line of 32 bytes at half a byte a nanosecond.
    machine.memory.address_only = Nanos(50.0);
    machine.memory.bandwidth = BytesPerSecond(0.5e9);
    assert_eq!(machine.idle_bus(), Nanos(114.0));
    assert_eq!(machine.idle_read_matrix().unwrap()[2], [978, 978, 200, 978]);
}
