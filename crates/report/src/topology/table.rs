//! A machine as three tables: every property with its unit, every node, every link.

use super::values::{cpulist, vertex};
use crate::grid::{Column, Grid};
use olifant_machine::{Cache, Machine};

/// Columns of the tables.
const WIDTH: usize = 100;

/// The machine's properties, nodes and links as tables.
pub fn table(machine: &Machine) -> String {
    let mut lines = properties(machine).lines(WIDTH);
    lines.push(String::new());
    lines.extend(nodes(machine).lines(WIDTH));
    if !machine.network.links.is_empty() {
        lines.push(String::new());
        lines.extend(links(machine).lines(WIDTH));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn properties(machine: &Machine) -> Grid {
    let (processor, memory, unit) = (&machine.processor, &machine.memory, &machine.coherence);
    let columns = [
        ("part", Column::Text),
        ("property", Column::Text),
        ("value", Column::Number),
        ("unit", Column::Text),
    ];
    let mut grid = Grid::new(columns);
    let mut row =
        |part: &str, property: &str, value: String, unit: &str| grid.row([part, property, &value, unit]);
    row("machine", "name", machine.name.clone(), "");
    row("machine", "configuration", machine.configuration(), "");
    row("processor", "clock", (processor.clock.0 / 1e6).to_string(), "MHz");
    row("processor", "cycles per instruction", processor.cpi.to_string(), "cycles");
    row("processor", "window", processor.window_instructions.to_string(), "instructions");
    row("processor", "outstanding misses", processor.outstanding_misses.to_string(), "");
    let mut cache = |part: &str, cache: &Cache| {
        row(part, "size", (cache.size.0 as f64 / 1024.0).to_string(), "KiB");
        row(part, "ways", cache.ways.to_string(), "");
        row(part, "line", cache.line.0.to_string(), "bytes");
        row(part, "hit", cache.hit.0.to_string(), "cycles");
    };
    cache("L1", &processor.l1);
    cache("L2", &processor.l2);
    if let Some(l3) = &processor.l3 {
        cache("L3", l3);
    }
    row("TLB", "entries", processor.tlb.entries.to_string(), "");
    row("TLB", "ways", processor.tlb.ways.to_string(), "");
    row("TLB", "miss", processor.tlb.miss.0.to_string(), "cycles");
    row("memory", "latency", memory.latency.0.to_string(), "ns");
    row("memory", "bandwidth", (memory.bandwidth.0 / 1e6).to_string(), "MB/s");
    row("memory", "address only", memory.address_only.0.to_string(), "ns");
    row("memory", "intervention", memory.intervention.0.to_string(), "ns");
    row("coherence", "latency", unit.latency.0.to_string(), "ns");
    row("coherence", "occupancy", unit.occupancy.0.to_string(), "ns");
    row("coherence", "request", unit.request.0.to_string(), "bytes");
    row("coherence", "response", unit.response.0.to_string(), "bytes");
    row("coherence", "exclusive on read", unit.exclusive_on_read.to_string(), "");
    row("network", "topology", machine.network.topology.clone(), "");
    row("os", "page", (machine.os.page.0 as f64 / 1024.0).to_string(), "KiB");
    row("os", "frames", machine.os.frames.word().to_owned(), "");
    row("os", "time slice", (machine.os.time_slice.0 / 1e6).to_string(), "ms");
    grid
}

fn nodes(machine: &Machine) -> Grid {
    let columns = [
        ("node", Column::Number),
        ("processors", Column::Number),
        ("memory MiB", Column::Number),
        ("cpus", Column::Flexible),
    ];
    let mut grid = Grid::new(columns);
    for node in &machine.nodes {
        let memory = node.memory.0 as f64 / f64::from(1 << 20);
        grid.row([node.id.to_string(), node.cpus.len().to_string(), memory.to_string(), cpulist(node)]);
    }
    grid
}

fn links(machine: &Machine) -> Grid {
    let columns = [
        ("link", Column::Number),
        ("from", Column::Text),
        ("to", Column::Text),
        ("latency ns", Column::Number),
        ("MB/s", Column::Number),
    ];
    let mut grid = Grid::new(columns);
    for (index, link) in machine.network.links.iter().enumerate() {
        grid.row([
            index.to_string(),
            vertex(link.from),
            vertex(link.to),
            link.latency.0.to_string(),
            (link.bandwidth.0 / 1e6).to_string(),
        ]);
    }
    grid
}
