//! Nodes and the network between them: what enters leaves; one node is a flat machine; caches do not know nodes.

use crate::counts::Counts;
use crate::traffic::{MIXES, Traffic, seeds};
use crate::{STRIDE, catalogued, run, times, with_ways};
use olifant_machine::{Nanos, NodeId, Vertex};
use olifant_placement::MemoryPolicy;

#[test]
fn what_enters_a_vertex_of_the_network_leaves_it() {
    for (name, configuration) in
        [("olifant", "4N4"), ("opteron-4", "4N2"), ("x4800", "8N2"), ("altix-64", "32N1")]
    {
        for seed in seeds(1..3) {
            let machine = catalogued(name, configuration);
            let cpus: usize = machine.nodes.iter().map(|node| node.cpus.len()).sum();
            let steps = Traffic::new(seed, cpus, STRIDE, &MIXES).take(10_000);
            let engine = run(&machine, MemoryPolicy::Any, seed, steps);
            let mut vertices: Vec<Vertex> =
                machine.network.links.iter().flat_map(|link| [link.from, link.to]).collect();
            vertices.sort_unstable();
            vertices.dedup();
            for vertex in vertices {
                let (mut entering, mut leaving) = (0, 0);
                for (link, counted) in machine.network.links.iter().zip(engine.link_counts()) {
                    entering += if link.to == vertex { counted.bytes } else { 0 };
                    leaving += if link.from == vertex { counted.bytes } else { 0 };
                }
                if let Vertex::Node(node) = vertex {
                    let unit = engine.node_counts(node.index()).unit;
                    assert!(
                        unit.bytes_out > 0 && unit.bytes_in > 0,
                        "{name}, seed {seed}: node {node} was idle"
                    );
                    entering += unit.bytes_out;
                    leaving += unit.bytes_in;
                }
                assert_eq!(entering, leaving, "{name}, seed {seed}: bytes into and out of {vertex}");
            }
        }
    }
}

#[test]
fn one_node_is_a_flat_machine() {
    for seed in seeds(1..4) {
        let flat = with_ways(catalogued("olifant", "1N4"), 2, 4);
        let mut far = flat.clone();
        far.coherence.latency = Nanos(5_000.0);
        far.coherence.occupancy = Nanos(9_000.0);
        let traffic = || Traffic::new(seed, 4, STRIDE, &MIXES).take(20_000);
        let mut expected = run(&flat, MemoryPolicy::FirstTouch, seed, traffic());
        for (machine, policy) in [
            (&flat, MemoryPolicy::Striped { pages: 1 }),
            (&flat, MemoryPolicy::Any),
            (&flat, MemoryPolicy::Remote),
            (&flat, MemoryPolicy::Node(NodeId(0))),
            (&far, MemoryPolicy::FirstTouch),
        ] {
            let mut found = run(machine, policy.clone(), seed, traffic());
            Counts::of_engine(&mut expected)
                .assert_equal(&Counts::of_engine(&mut found), &format!("{policy:?}, seed {seed}"));
            assert_eq!(times(&mut expected), times(&mut found), "{policy:?}, seed {seed}");
        }
        let counts = expected.node_counts(0);
        assert_eq!((counts.remote_transactions, counts.unit.bytes_out, counts.unit.busy_cycles), (0, 0, 0));
    }
}

#[test]
fn what_caches_do_does_not_depend_on_how_processors_are_dealt_to_nodes() {
    for seed in seeds(1..6) {
        for exclusive_on_read in [true, false] {
            let of = |configuration| {
                let mut machine = with_ways(catalogued("olifant", configuration), 2, 4);
                machine.coherence.exclusive_on_read = exclusive_on_read;
                let traffic = Traffic::new(seed, 4, STRIDE, &MIXES).take(10_000);
                Counts::of_engine(&mut run(&machine, MemoryPolicy::Any, seed, traffic)).cpus
            };
            let one_node = of("1N4");
            assert_eq!(one_node, of("2N2"), "seed {seed}");
            assert_eq!(one_node, of("4N1"), "seed {seed}");
        }
    }
}
