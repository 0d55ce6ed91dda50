//! Values of a machine with their units, exact.

use olifant_machine::{Bytes, BytesPerSecond, Cache, CpuSet, Hertz, Nanos, Node, Vertex};

/// `1 MiB`, `1536 KiB`: the largest binary unit that gives a whole number.
pub(super) fn size(Bytes(bytes): Bytes) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// Memory to a tenth of a GiB, as a computer rarely has a whole number of them left.
pub(super) fn memory(bytes: Bytes) -> String {
    const GIBIBYTE: u64 = 1 << 30;
    match bytes.0 {
        0 => "none".to_owned(),
        whole if whole.is_multiple_of(GIBIBYTE) || whole < GIBIBYTE => size(bytes),
        odd => format!("{:.1} GiB", odd as f64 / GIBIBYTE as f64),
    }
}

/// `720 MB/s`, `12.8 GB/s`.
pub(super) fn rate(BytesPerSecond(rate): BytesPerSecond) -> String {
    if rate < 10e9 { format!("{} MB/s", short(rate / 1e6)) } else { format!("{} GB/s", short(rate / 1e9)) }
}

/// `350 MHz`, `2.27 GHz`.
pub(super) fn clock(Hertz(clock): Hertz) -> String {
    if clock < 1e9 { format!("{} MHz", short(clock / 1e6)) } else { format!("{} GHz", short(clock / 1e9)) }
}

/// `80 ns`.
pub(super) fn duration(Nanos(nanoseconds): Nanos) -> String {
    format!("{} ns", short(nanoseconds))
}

/// At most two decimals.
pub(super) fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `1 MiB, 4-way, 32 B lines, hit 14 cycles`.
pub(super) fn cache(cache: &Cache) -> String {
    format!(
        "{}, {}-way, {} lines, hit {} cycles",
        size(cache.size),
        cache.ways,
        size(cache.line),
        cache.hit.0
    )
}

/// `node 3`, `router 0`.
pub(super) fn vertex(vertex: Vertex) -> String {
    match vertex {
        Vertex::Node(node) => format!("node {node}"),
        Vertex::Router(router) => format!("router {router}"),
    }
}

/// The cpus of a node as a cpulist.
pub(super) fn cpulist(node: &Node) -> String {
    node.cpus.iter().copied().collect::<CpuSet>().to_string()
}
