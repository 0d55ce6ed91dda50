//! The laws of a machine: what must hold for the tree to describe a computer that can be simulated and printed.
//!
//! `check()` names the first law broken, by the key that a machine file would use without its unit
//! (`processor.l1.line`), the value found and the law. Laws that one user of a machine adds on top are checked there:
//! the simulator's fast path, for one, wants first-level lines of at least 32 bytes, which is no law of machines.

use crate::routes::check_connected;
use crate::{Bytes, BytesPerSecond, Cache, Machine, Nanos, Network, NodeId, Topology, TopologyError, Vertex};
use std::collections::HashSet;

/// A law that a machine breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {law}")]
pub struct LawBroken {
    /// Which part, for example `processor.l1.line` or `node[2].id`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// What it must be.
    pub law: String,
}

impl Machine {
    /// Checks every law of a machine.
    /// # Errors  [`LawBroken`] names the first law that does not hold.
    pub fn check(&self) -> Result<(), LawBroken> {
        law("name", &self.name, !self.name.trim().is_empty(), "must not be empty")?;
        self.check_nodes()?;
        self.check_processor()?;
        self.check_memory_and_coherence()?;
        self.check_network()?;
        let page = self.os.page.0;
        law("os.page", page, page.is_power_of_two(), "must be a power of two")?;
        let line = self.processor.l2.line.0;
        law("os.page", page, page >= line, format!("must hold at least one l2 line ({line} bytes)"))?;
        duration("os.time_slice", self.os.time_slice)?;
        law("os.time_slice", self.os.time_slice.0, self.os.time_slice.0 > 0.0, "must be more than 0")
    }

    fn check_nodes(&self) -> Result<(), LawBroken> {
        law("nodes.count", self.nodes.len(), !self.nodes.is_empty(), "a machine has at least one node")?;
        let mut cpus_seen = HashSet::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let key = |part: &str| format!("node[{index}].{part}");
            let after = index == 0 || self.nodes[index - 1].id < node.id;
            law(key("id"), node.id, after, "node ids must ascend, each given once")?;
            for pair in node.cpus.windows(2) {
                law(key("cpus"), pair[1], pair[0] < pair[1], "cpus of a node must ascend, each given once")?;
            }
            for &cpu in &node.cpus {
                law(key("cpus"), cpu, cpus_seen.insert(cpu), "a cpu belongs to one node only")?;
            }
        }
        law("nodes.processors", 0, !cpus_seen.is_empty(), "a machine has at least one processor")?;
        let memory = self.nodes.iter().any(|node| node.memory.0 > 0);
        law("nodes.memory", 0, memory, "a machine has at least one node with memory")
    }

    fn check_processor(&self) -> Result<(), LawBroken> {
        let processor = &self.processor;
        rate("processor.clock", processor.clock.0)?;
        rate("processor.cpi", processor.cpi)?;
        let misses = processor.outstanding_misses;
        law("processor.outstanding_misses", misses, misses >= 1, "must be at least 1")?;
        cache("processor.l1", &processor.l1)?;
        power_of_two_sets("processor.l1", &processor.l1)?;
        cache("processor.l2", &processor.l2)?;
        power_of_two_sets("processor.l2", &processor.l2)?;
        let (l1, l2) = (&processor.l1, &processor.l2);
        law(
            "processor.l2.line",
            l2.line.0,
            l2.line >= l1.line,
            format!("must be at least l1's ({})", l1.line.0),
        )?;
        law(
            "processor.l2.size",
            l2.size.0,
            l2.size >= l1.size,
            format!("must be at least l1's ({})", l1.size.0),
        )?;
        if let Some(l3) = &processor.l3 {
            cache("processor.l3", l3)?;
        }
        let tlb = &processor.tlb;
        law("processor.tlb.entries", tlb.entries, tlb.entries >= 1, "must be at least 1")?;
        let divides = tlb.ways >= 1 && tlb.entries.is_multiple_of(tlb.ways);
        law("processor.tlb.ways", tlb.ways, divides, format!("must divide the {} entries", tlb.entries))?;
        let sets = tlb.entries / tlb.ways;
        law("processor.tlb.entries", tlb.entries, sets.is_power_of_two(), "must be ways x a power of two")
    }

    fn check_memory_and_coherence(&self) -> Result<(), LawBroken> {
        duration("memory.latency", self.memory.latency)?;
        bandwidth("memory.bandwidth", self.memory.bandwidth)?;
        duration("memory.address_only", self.memory.address_only)?;
        duration("memory.intervention", self.memory.intervention)?;
        duration("coherence.latency", self.coherence.latency)?;
        duration("coherence.occupancy", self.coherence.occupancy)?;
        let Bytes(request) = self.coherence.request;
        law("coherence.request", request, request >= 1, "must be at least 1 byte")?;
        let (Bytes(response), Bytes(line)) = (self.coherence.response, self.processor.l2.line);
        law("coherence.response", response, response >= line, format!("must hold an l2 line ({line} bytes)"))
    }

    fn check_network(&self) -> Result<(), LawBroken> {
        let nodes: Vec<_> = self.nodes.iter().map(|node| node.id).collect();
        let is_vertex = |end: &Vertex| match end {
            Vertex::Node(id) => nodes.binary_search(id).is_ok(),
            Vertex::Router(_) => true,
        };
        for (index, link) in self.network.links.iter().enumerate() {
            let key = |part: &str| format!("network.link[{index}].{part}");
            law(key("from"), link.from, is_vertex(&link.from), "no such node")?;
            law(key("to"), link.to, is_vertex(&link.to), "no such node")?;
            law(key("to"), link.to, link.from != link.to, "a link joins two different ends")?;
            duration(key("latency"), link.latency)?;
            bandwidth(key("bandwidth"), link.bandwidth)?;
        }
        let named = named_links(&self.network, &nodes).map_err(|error| error.to_string());
        law("network.topology", &self.network.topology, named.is_ok(), named.err().unwrap_or_default())?;
        let reached = check_connected(&self.network, &nodes).map_err(|error| error.to_string());
        law("network.topology", &self.network.topology, reached.is_ok(), reached.err().unwrap_or_default())
    }
}

fn law(
    key: impl Into<String>,
    value: impl ToString,
    holds: bool,
    law: impl Into<String>,
) -> Result<(), LawBroken> {
    if holds {
        return Ok(());
    }
    Err(LawBroken { key: key.into(), value: value.to_string(), law: law.into() })
}

fn duration(key: impl Into<String>, Nanos(value): Nanos) -> Result<(), LawBroken> {
    law(key, value, value.is_finite() && value >= 0.0, "must be a finite time, 0 or more")
}

fn bandwidth(key: impl Into<String>, BytesPerSecond(value): BytesPerSecond) -> Result<(), LawBroken> {
    rate(key, value)
}

fn rate(key: impl Into<String>, value: f64) -> Result<(), LawBroken> {
    law(key, value, value.is_finite() && value > 0.0, "must be finite and more than 0")
}

fn cache(key: &str, cache: &Cache) -> Result<(), LawBroken> {
    let Cache { size: Bytes(size), ways, line: Bytes(line), .. } = *cache;
    law(format!("{key}.line"), line, line.is_power_of_two(), "must be a power of two")?;
    law(format!("{key}.ways"), ways, ways >= 1, "must be at least 1")?;
    // A set too large for the number range is larger than any cache.
    let whole = line.checked_mul(u64::from(ways)).is_some_and(|set| size >= set && size.is_multiple_of(set));
    law(
        format!("{key}.size"),
        size,
        whole,
        format!("must be a whole number of sets of {ways} x {line} bytes"),
    )
}

/// The simulator and every hardware of these levels picks the set by address bits. Shared third levels made of an odd
/// number of slices exist.
fn power_of_two_sets(key: &str, cache: &Cache) -> Result<(), LawBroken> {
    let sets = cache.size.0 / (cache.line.0 * u64::from(cache.ways));
    law(
        format!("{key}.size"),
        cache.size.0,
        sets.is_power_of_two(),
        format!("{sets} sets: must be a power of two"),
    )
}

/// A network that claims a shape has the links of that shape; hand-made links are called explicit.
fn named_links(network: &Network, nodes: &[NodeId]) -> Result<(), String> {
    let topology: Topology = network.topology.parse().map_err(|error: TopologyError| error.to_string())?;
    if topology == Topology::Explicit {
        return Ok(());
    }
    let (latency, bandwidth) = network
        .links
        .first()
        .map_or((Nanos(0.0), BytesPerSecond(1.0)), |link| (link.latency, link.bandwidth));
    let links = topology.links(nodes, latency, bandwidth).map_err(|error| error.to_string())?;
    if links == network.links { Ok(()) } else { Err("its links differ; call it explicit".to_owned()) }
}
