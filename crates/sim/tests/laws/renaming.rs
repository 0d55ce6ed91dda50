//! Renaming the nodes of a symmetric machine, and the processors within them, renames the results.

use crate::counts::Counts;
use crate::traffic::{MIXES, Mix, Step, Traffic, seeds};
use crate::{STRIDE, catalogued, run, with_ways};
use olifant_machine::{Machine, NodeId, Vertex};
use olifant_placement::MemoryPolicy;
use olifant_sim::Random;

/// A renaming of olifant's nodes, and of the processors within each.
struct Renaming {
    nodes: Vec<usize>,
    cpus: Vec<usize>,
}

impl Renaming {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut shuffled = |count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            for last in (1..count).rev() {
                order.swap(last, random.below(last as u64 + 1) as usize);
            }
            order
        };
        let nodes = shuffled(4);
        let cpus =
            nodes.iter().flat_map(|node| shuffled(4).into_iter().map(move |cpu| node * 4 + cpu)).collect();
        Self { nodes, cpus }
    }

    fn vertex(&self, vertex: Vertex) -> Vertex {
        match vertex {
            Vertex::Node(node) => Vertex::Node(NodeId(self.nodes[node.index()] as u16)),
            Vertex::Router(_) => vertex,
        }
    }

    /// Where the renamed run has the link that is `link` in the other.
    fn link(&self, machine: &Machine, link: usize) -> usize {
        let links = &machine.network.links;
        let (from, to) = (self.vertex(links[link].from), self.vertex(links[link].to));
        links.iter().position(|other| other.from == from && other.to == to).expect("a hub is symmetric")
    }
}

#[test]
fn renaming_nodes_renames_results() {
    for seed in seeds(1..6) {
        let renaming = Renaming::new(seed);
        // With several readers to invalidate at once, the order of their numbers is the order of the packets, so
        // clocks are compared only without.
        for (mixes, clocks_too) in [(&MIXES[..], false), (&[Mix::Private, Mix::Migratory], true)] {
            let machine = with_ways(catalogued("olifant", "4N4"), 1, 2);
            let steps: Vec<Step> = Traffic::new(seed, 16, STRIDE, mixes).take(10_000).collect();
            let renamed = steps.iter().map(|&step| Step { cpu: renaming.cpus[step.cpu], ..step });
            let mut original = run(&machine, MemoryPolicy::FirstTouch, seed, steps.iter().copied());
            let mut other = run(&machine, MemoryPolicy::FirstTouch, seed, renamed);
            let (expected, found) = (Counts::of_engine(&mut original), Counts::of_engine(&mut other));
            let found = Counts {
                cpus: renaming.cpus.iter().map(|&cpu| found.cpus[cpu]).collect(),
                nodes: renaming.nodes.iter().map(|&node| found.nodes[node]).collect(),
                links: (0..found.links.len())
                    .map(|link| found.links[renaming.link(&machine, link)])
                    .collect(),
            };
            expected.assert_equal(&found, &format!("seed {seed}, nodes renamed {:?}", renaming.nodes));
            if clocks_too {
                let clocks: Vec<u64> = (0..16).map(|cpu| original.now(cpu)).collect();
                let renamed_clocks: Vec<u64> = renaming.cpus.iter().map(|&cpu| other.now(cpu)).collect();
                assert_eq!(clocks, renamed_clocks, "seed {seed}");
            }
        }
    }
}
