//! A machine as JSON. Names are stable and end in their unit; fields may be added, none is renamed.

use super::values::cpulist;
use olifant_machine::{Cache, Machine};
use serde::Serialize;

/// The machine as one JSON object, with `idle_read_ns` as a matrix: row the reader, column the home, in the order of
/// `nodes`; `null` if the network does not join all nodes.
pub fn json(machine: &Machine) -> String {
    let (processor, memory, unit, os) =
        (&machine.processor, &machine.memory, &machine.coherence, &machine.os);
    let node = |node: &olifant_machine::Node| NodeJson {
        id: node.id.0,
        processors: node.cpus.len(),
        cpus: cpulist(node),
        memory_bytes: node.memory.0,
    };
    let link = |link: &olifant_machine::Link| LinkJson {
        from: link.from.to_string(),
        to: link.to.to_string(),
        latency_ns: link.latency.0,
        bandwidth_bytes_per_s: link.bandwidth.0,
    };
    crate::json(&MachineJson {
        machine: &machine.name,
        configuration: machine.configuration(),
        description: &machine.description,
        nodes: machine.nodes.iter().map(node).collect(),
        processor: ProcessorJson {
            clock_hz: processor.clock.0,
            cpi: processor.cpi,
            window_instructions: processor.window_instructions,
            outstanding_misses: processor.outstanding_misses,
            l1: cache(&processor.l1),
            l2: cache(&processor.l2),
            l3: processor.l3.as_ref().map(cache),
            tlb: TlbJson {
                entries: processor.tlb.entries,
                ways: processor.tlb.ways,
                miss_cycles: processor.tlb.miss.0,
            },
        },
        memory: MemoryJson {
            latency_ns: memory.latency.0,
            bandwidth_bytes_per_s: memory.bandwidth.0,
            address_only_ns: memory.address_only.0,
            intervention_ns: memory.intervention.0,
        },
        coherence: CoherenceJson {
            latency_ns: unit.latency.0,
            occupancy_ns: unit.occupancy.0,
            request_bytes: unit.request.0,
            response_bytes: unit.response.0,
            exclusive_on_read: unit.exclusive_on_read,
        },
        network: NetworkJson {
            topology: &machine.network.topology,
            links: machine.network.links.iter().map(link).collect(),
        },
        os: OsJson { page_bytes: os.page.0, frames: os.frames.word(), time_slice_ns: os.time_slice.0 },
        idle_read_ns: machine.idle_read_matrix().ok(),
    })
}

fn cache(cache: &Cache) -> CacheJson {
    CacheJson {
        size_bytes: cache.size.0,
        ways: cache.ways,
        line_bytes: cache.line.0,
        hit_cycles: cache.hit.0,
    }
}

#[derive(Serialize)]
struct MachineJson<'m> {
    machine: &'m str,
    configuration: String,
    description: &'m str,
    nodes: Vec<NodeJson>,
    processor: ProcessorJson,
    memory: MemoryJson,
    coherence: CoherenceJson,
    network: NetworkJson<'m>,
    os: OsJson,
    idle_read_ns: Option<Vec<Vec<u64>>>,
}

#[derive(Serialize)]
struct NodeJson {
    id: u16,
    processors: usize,
    /// In Linux's cpulist form.
    cpus: String,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct ProcessorJson {
    clock_hz: f64,
    cpi: f64,
    window_instructions: u32,
    outstanding_misses: u32,
    l1: CacheJson,
    l2: CacheJson,
    l3: Option<CacheJson>,
    tlb: TlbJson,
}

#[derive(Serialize)]
struct CacheJson {
    size_bytes: u64,
    ways: u32,
    line_bytes: u64,
    hit_cycles: u64,
}

#[derive(Serialize)]
struct TlbJson {
    entries: u32,
    ways: u32,
    miss_cycles: u64,
}

#[derive(Serialize)]
struct MemoryJson {
    latency_ns: f64,
    bandwidth_bytes_per_s: f64,
    address_only_ns: f64,
    intervention_ns: f64,
}

#[derive(Serialize)]
struct CoherenceJson {
    latency_ns: f64,
    occupancy_ns: f64,
    request_bytes: u64,
    response_bytes: u64,
    exclusive_on_read: bool,
}

#[derive(Serialize)]
struct NetworkJson<'m> {
    topology: &'m str,
    links: Vec<LinkJson>,
}

#[derive(Serialize)]
struct LinkJson {
    /// `node:0` or `router:0`.
    from: String,
    to: String,
    latency_ns: f64,
    bandwidth_bytes_per_s: f64,
}

#[derive(Serialize)]
struct OsJson {
    page_bytes: u64,
    frames: &'static str,
    time_slice_ns: f64,
}
