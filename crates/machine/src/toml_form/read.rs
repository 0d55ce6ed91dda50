//! From a machine file to a [`Machine`].

use super::section::{Document, Section};
use super::{TomlError, TomlProblem};
use crate::{
    Bytes, BytesPerSecond, Cache, CoherenceUnit, CpuId, FramePolicy, LawBroken, Link, Machine, MemoryBus,
    Nanos, Network, Node, NodeId, OsModel, Processor, Tlb, Topology, Vertex,
};
use ::toml::de::DeTable;
use core::str::FromStr;

impl Machine {
    /// Reads a machine file and checks the machine's laws.
    /// # Errors  [`TomlError`] names the line, the key and the law.
    pub fn from_toml(text: &str) -> Result<Machine, TomlError> {
        let document = Document::new(text);
        let table = DeTable::parse(text).map_err(|error| TomlError {
            file: None,
            line: error.span().map_or(1, |span| document.line_of(&span)),
            problem: TomlProblem::Syntax(error.message().trim().to_owned()),
        })?;
        let machine = machine(Section::top(&document, table.as_ref()))?;
        machine.check().map_err(|broken| located(&document, broken))?;
        Ok(machine)
    }
}

/// The law broken, with the key and value as the file writes them, at their line.
fn located(document: &Document<'_>, broken: LawBroken) -> TomlError {
    let Some(written) = document.find(&broken.key) else {
        return TomlError { file: None, line: 1, problem: broken.into() };
    };
    // A value that stands in the file is shown as it stands there; one that was derived is shown as found.
    let broken = match written.value {
        Some(value) => LawBroken { key: written.key, value, law: broken.law },
        None => broken,
    };
    TomlError { file: None, line: written.line, problem: broken.into() }
}

fn machine(top: Section<'_, '_>) -> Result<Machine, TomlError> {
    let name = top.text("name")?.to_owned();
    let description = top.text("description")?.to_owned();
    let nodes = nodes(&top)?;
    let processor = processor(top.section("processor")?)?;
    let memory = memory(top.section("memory")?)?;
    let coherence = coherence(top.section("coherence")?)?;
    let ids: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
    let network = network(top.section("network")?, &ids)?;
    let os = os(top.section("os")?)?;
    top.finish()?;
    Ok(Machine { name, description, nodes, processor, memory, coherence, network, os })
}

fn nodes(top: &Section<'_, '_>) -> Result<Vec<Node>, TomlError> {
    let listed = top.list("node")?;
    match top.optional_section("nodes")? {
        Some(section) if listed.is_empty() => equal_nodes(section),
        None if !listed.is_empty() => listed.into_iter().map(listed_node).collect(),
        _ => Err(TomlError { file: None, line: 1, problem: TomlProblem::NodesUnclear }),
    }
}

fn equal_nodes(section: Section<'_, '_>) -> Result<Vec<Node>, TomlError> {
    let count: u16 = section.count("count")?;
    let processors: u16 = section.count("processors")?;
    let memory = section.quantity("memory")?;
    if count.checked_mul(processors).is_none() {
        return Err(section.law("processors", format!("{count} nodes: more than 65535 processors in all")));
    }
    section.finish()?;
    let cpus = |node: u16| (node * processors..(node + 1) * processors).map(CpuId).collect();
    Ok((0..count).map(|node| Node { id: NodeId(node), cpus: cpus(node), memory }).collect())
}

fn listed_node(section: Section<'_, '_>) -> Result<Node, TomlError> {
    let id = NodeId(section.count("id")?);
    let cpus: crate::CpuSet = section.parsed("cpus", str::parse)?;
    let memory = section.quantity("memory")?;
    section.finish()?;
    Ok(Node { id, cpus: cpus.iter().collect(), memory })
}

fn processor(section: Section<'_, '_>) -> Result<Processor, TomlError> {
    let processor = Processor {
        clock: section.quantity("clock")?,
        cpi: section.real("cpi")?,
        window_instructions: section.count("window_instructions")?,
        outstanding_misses: section.count("outstanding_misses")?,
        l1: cache(section.section("l1")?)?,
        l2: cache(section.section("l2")?)?,
        l3: section.optional_section("l3")?.map(cache).transpose()?,
        tlb: tlb(section.section("tlb")?)?,
    };
    section.finish()?;
    Ok(processor)
}

fn cache(section: Section<'_, '_>) -> Result<Cache, TomlError> {
    let cache = Cache {
        size: section.quantity("size")?,
        ways: section.count("ways")?,
        line: section.quantity("line")?,
        hit: section.quantity("hit")?,
    };
    section.finish()?;
    Ok(cache)
}

fn tlb(section: Section<'_, '_>) -> Result<Tlb, TomlError> {
    let tlb = Tlb {
        entries: section.count("entries")?,
        ways: section.count("ways")?,
        miss: section.quantity("miss")?,
    };
    section.finish()?;
    Ok(tlb)
}

fn memory(section: Section<'_, '_>) -> Result<MemoryBus, TomlError> {
    let memory = MemoryBus {
        latency: section.quantity("latency")?,
        bandwidth: section.quantity("bandwidth")?,
        address_only: section.quantity("address_only")?,
        intervention: section.quantity("intervention")?,
    };
    section.finish()?;
    Ok(memory)
}

fn coherence(section: Section<'_, '_>) -> Result<CoherenceUnit, TomlError> {
    let coherence = CoherenceUnit {
        latency: section.quantity("latency")?,
        occupancy: section.quantity("occupancy")?,
        request: section.quantity::<Bytes>("request")?,
        response: section.quantity::<Bytes>("response")?,
        exclusive_on_read: section.flag("exclusive_on_read")?,
    };
    section.finish()?;
    Ok(coherence)
}

fn network(section: Section<'_, '_>, nodes: &[NodeId]) -> Result<Network, TomlError> {
    let topology: Topology = section.parsed("topology", str::parse)?;
    let links = if topology == Topology::Explicit {
        explicit_links(&section)?
    } else if nodes.len() < 2 {
        // One node has no links; what they would be like may be said all the same.
        section.optional_quantity::<Nanos>("latency")?;
        section.optional_quantity::<BytesPerSecond>("bandwidth")?;
        Vec::new()
    } else {
        let latency = section.quantity("latency")?;
        let bandwidth = section.quantity("bandwidth")?;
        let links = topology.links(nodes, latency, bandwidth);
        links.map_err(|error| section.law("topology", error.to_string()))?
    };
    section.finish()?;
    Ok(Network { topology: topology.to_string(), links })
}

/// The listed links; the section's own latency and bandwidth hold for those that state none.
fn explicit_links(section: &Section<'_, '_>) -> Result<Vec<Link>, TomlError> {
    let latency: Option<Nanos> = section.optional_quantity("latency")?;
    let bandwidth: Option<BytesPerSecond> = section.optional_quantity("bandwidth")?;
    let mut links = Vec::new();
    for listed in section.list("link")? {
        let link = Link {
            from: listed.parsed("from", vertex)?,
            to: listed.parsed("to", vertex)?,
            latency: match (listed.optional_quantity("latency")?, latency) {
                (Some(own), _) | (None, Some(own)) => own,
                (None, None) => listed.quantity("latency")?,
            },
            bandwidth: match (listed.optional_quantity("bandwidth")?, bandwidth) {
                (Some(own), _) | (None, Some(own)) => own,
                (None, None) => listed.quantity("bandwidth")?,
            },
        };
        let is_both_ways = listed.optional_flag("both_ways")?.unwrap_or(false);
        listed.finish()?;
        links.push(link);
        if is_both_ways {
            links.push(Link { from: link.to, to: link.from, ..link });
        }
    }
    Ok(links)
}

fn vertex(text: &str) -> Result<Vertex, &'static str> {
    let parsed = text.split_once(':').and_then(|(kind, number)| match (kind, number.parse().ok()?) {
        ("node", number) => Some(Vertex::Node(NodeId(number))),
        ("router", number) => Some(Vertex::Router(number)),
        _ => None,
    });
    parsed.ok_or("expected node:NUMBER or router:NUMBER")
}

fn os(section: Section<'_, '_>) -> Result<OsModel, TomlError> {
    let os = OsModel {
        page: section.quantity("page")?,
        frames: section.parsed("frames", FramePolicy::from_str)?,
        time_slice: section.quantity("time_slice")?,
    };
    section.finish()?;
    Ok(os)
}
