//! The machine's own counters as parts of a profile, and the digest over all of them.

use crate::card::Card;
use crate::profile::{CpuTotals, LinkTotals, NodeTotals, Totals};
use olifant_machine::{Machine, Vertex};
use olifant_sim::{System, mix};

/// What a simulated machine counted.
pub struct MachineParts {
    /// Sums.
    pub totals: Totals,
    /// Per cpu.
    pub cpus: Vec<CpuTotals>,
    /// Per node.
    pub nodes: Vec<NodeTotals>,
    /// Per link.
    pub links: Vec<LinkTotals>,
}

/// Reads all counters. `host_seconds` is left 0 for the caller, who has a clock.
pub fn collect(system: &mut System<Card>, machine: &Machine) -> MachineParts {
    let clock = system.clock();
    let engine = system.engine_mut();
    let mut cpu_numbers: Vec<u16> =
        machine.nodes.iter().flat_map(|node| &node.cpus).map(|cpu| cpu.0).collect();
    cpu_numbers.sort_unstable();
    let cpus: Vec<CpuTotals> = (0..engine.cpus())
        .map(|cpu| {
            let counters = engine.counters(cpu);
            CpuTotals {
                cpu: cpu_numbers[cpu],
                node: machine.nodes[usize::from(engine.node_of(cpu))].id.0,
                cycles: engine.now(cpu),
                idle_cycles: counters.idle_cycles,
                instructions: counters.instructions,
                reads: counters.reads,
                writes: counters.writes,
                tlb_misses: counters.tlb_misses,
                l1_misses: counters.level1_misses,
                l2_misses: counters.level2_misses,
                upgrades: counters.upgrades,
                write_backs: counters.write_backs,
            }
        })
        .collect();
    let end = cpus.iter().map(|cpu| cpu.cycles).max().unwrap_or(0);
    let share = |busy: u64| if end == 0 { 0.0 } else { busy as f64 / end as f64 };
    let counts: Vec<_> = (0..engine.nodes()).map(|node| engine.node_counts(node)).collect();
    let nodes: Vec<NodeTotals> = counts
        .iter()
        .zip(&machine.nodes)
        .map(|(count, node)| NodeTotals {
            node: node.id.0,
            transactions: count.transactions,
            remote_transactions: count.remote_transactions,
            requests_out: count.unit.requests_out,
            requests_in: count.unit.requests_in,
            responses_out: count.unit.responses_out,
            responses_in: count.unit.responses_in,
            bus_utilisation: share(count.bus_busy_cycles),
            unit_utilisation: share(count.unit.busy_cycles),
            pages: count.pages,
        })
        .collect();
    let links: Vec<LinkTotals> = engine
        .link_counts()
        .iter()
        .zip(&machine.network.links)
        .map(|(count, link)| LinkTotals {
            from: vertex(link.from),
            to: vertex(link.to),
            packets: count.packets,
            bytes: count.bytes,
            utilisation: share(count.busy_cycles),
        })
        .collect();
    let sum = |part: fn(&CpuTotals) -> u64| cpus.iter().map(part).sum::<u64>();
    let mut totals = Totals {
        seconds: end as f64 / clock.0,
        instructions: sum(|cpu| cpu.instructions),
        reads: sum(|cpu| cpu.reads),
        writes: sum(|cpu| cpu.writes),
        tlb_misses: sum(|cpu| cpu.tlb_misses),
        l1_misses: sum(|cpu| cpu.l1_misses),
        l2_misses: sum(|cpu| cpu.l2_misses),
        upgrades: sum(|cpu| cpu.upgrades),
        write_backs: sum(|cpu| cpu.write_backs),
        remote_transactions: nodes.iter().map(|node| node.remote_transactions).sum(),
        request_packets: nodes.iter().map(|node| node.requests_out).sum(),
        response_packets: nodes.iter().map(|node| node.responses_out).sum(),
        network_bytes: counts.iter().map(|count| count.unit.bytes_out).sum(),
        host_seconds: 0.0,
        digest: String::new(),
    };
    totals.digest = digest(&cpus, &nodes, &links, counts.iter().map(|count| count.bus_busy_cycles));
    MachineParts { totals, cpus, nodes, links }
}

fn vertex(vertex: Vertex) -> String {
    match vertex {
        Vertex::Node(node) => format!("node{node}"),
        Vertex::Router(number) => format!("router{number}"),
    }
}

/// A hash over every counter and clock.
fn digest(
    cpus: &[CpuTotals],
    nodes: &[NodeTotals],
    links: &[LinkTotals],
    bus_cycles: impl Iterator<Item = u64>,
) -> String {
    let cpu_words = cpus.iter().flat_map(|cpu| {
        [
            cpu.cycles,
            cpu.idle_cycles,
            cpu.instructions,
            cpu.reads,
            cpu.writes,
            cpu.tlb_misses,
            cpu.l1_misses,
            cpu.l2_misses,
            cpu.upgrades,
            cpu.write_backs,
        ]
    });
    let node_words = nodes.iter().flat_map(|node| {
        [
            node.transactions,
            node.remote_transactions,
            node.requests_out,
            node.requests_in,
            node.responses_out,
            node.responses_in,
            node.unit_utilisation.to_bits(),
            node.pages,
        ]
    });
    let link_words = links.iter().flat_map(|link| [link.packets, link.bytes, link.utilisation.to_bits()]);
    let hash = cpu_words
        .chain(node_words)
        .chain(link_words)
        .chain(bus_cycles)
        .fold(0, |hash, word| mix(hash ^ word));
    format!("{hash:016x}")
}
