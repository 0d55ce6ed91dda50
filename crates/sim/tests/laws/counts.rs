//! What a machine counts, as the plain machine and the engine both do, so that runs can be compared.

use olifant_sim::Engine;

/// Counts of one processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfCpu {
    pub reads: u64,
    pub writes: u64,
    pub tlb_misses: u64,
    pub level1_misses: u64,
    pub level2_misses: u64,
    pub upgrades: u64,
    pub write_backs: u64,
}

/// Counts of one node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfNode {
    pub transactions: u64,
    pub remote_transactions: u64,
    pub requests_out: u64,
    pub requests_in: u64,
    pub responses_out: u64,
    pub responses_in: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    pub pages: u64,
}

/// Counts of one link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfLink {
    pub packets: u64,
    pub bytes: u64,
}

/// All that both machines count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    pub cpus: Vec<OfCpu>,
    pub nodes: Vec<OfNode>,
    pub links: Vec<OfLink>,
}

impl Counts {
    pub fn of_engine(engine: &mut Engine<()>) -> Self {
        let cpus = (0..engine.cpus()).map(|cpu| {
            let counted = engine.counters(cpu);
            OfCpu {
                reads: counted.reads,
                writes: counted.writes,
                tlb_misses: counted.tlb_misses,
                level1_misses: counted.level1_misses,
                level2_misses: counted.level2_misses,
                upgrades: counted.upgrades,
                write_backs: counted.write_backs,
            }
        });
        let cpus = cpus.collect();
        let nodes = (0..engine.nodes()).map(|node| {
            let counted = engine.node_counts(node);
            OfNode {
                transactions: counted.transactions,
                remote_transactions: counted.remote_transactions,
                requests_out: counted.unit.requests_out,
                requests_in: counted.unit.requests_in,
                responses_out: counted.unit.responses_out,
                responses_in: counted.unit.responses_in,
                bytes_out: counted.unit.bytes_out,
                bytes_in: counted.unit.bytes_in,
                pages: counted.pages,
            }
        });
        let links = engine.link_counts().into_iter();
        let links = links.map(|counted| OfLink { packets: counted.packets, bytes: counted.bytes }).collect();
        Self { cpus, nodes: nodes.collect(), links }
    }

    /// Fails at the first part that differs, saying which.
    pub fn assert_equal(&self, other: &Self, what: &str) {
        fn all<T: PartialEq + std::fmt::Debug>(kind: &str, expected: &[T], found: &[T], what: &str) {
            assert_eq!(expected.len(), found.len(), "number of {kind}s, {what}");
            for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
                assert_eq!(expected, found, "{kind} {number}: expected, then found; {what}");
            }
        }
        all("cpu", &self.cpus, &other.cpus, what);
        all("node", &self.nodes, &other.nodes, what);
        all("link", &self.links, &other.links, what);
    }
}
