//! The network in words: who is linked to whom, how fast, and how far nodes are from each other.

use super::values::{duration, rate, vertex};
use crate::text::wrap;
use olifant_machine::{Link, Machine, Vertex};
use std::collections::{BTreeMap, BTreeSet};

/// Neighbours are listed for networks up to this many directed links.
const LISTED_LINKS: usize = 48;
/// The distance matrix is shown for machines up to this size.
const MATRIX_NODES: usize = 12;
/// Columns of the longest bar of the distance summary.
const BAR: usize = 30;
/// Columns of a line.
const WIDTH: usize = 100;
/// Columns of a list's indent.
const INDENT: usize = 12;

/// The links by kind of ends, latency and bandwidth: `8 between node and router, 80 ns, 720 MB/s in each direction`.
pub(super) fn kinds(machine: &Machine) -> Vec<String> {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for link in &machine.network.links {
        let ends = match (link.from, link.to) {
            (Vertex::Node(_), Vertex::Node(_)) => "nodes",
            (Vertex::Router(_), Vertex::Router(_)) => "routers",
            _ => "node and router",
        };
        let text = format!("between {ends}: {}, {}", duration(link.latency), rate(link.bandwidth));
        match kinds.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => kinds.push((text, 1)),
        }
    }
    kinds.into_iter().map(|(text, count)| format!("{count} links {text} per direction")).collect()
}

/// For each end of links its neighbours, or nothing for a large network.
pub(super) fn neighbours(machine: &Machine) -> Vec<String> {
    let links: &[Link] = &machine.network.links;
    if links.len() > LISTED_LINKS {
        return Vec::new();
    }
    let mut neighbours: BTreeMap<Vertex, BTreeSet<Vertex>> = BTreeMap::new();
    for link in links {
        neighbours.entry(link.from).or_default().insert(link.to);
    }
    let mut lines = Vec::new();
    for (from, to) in neighbours {
        let list: Vec<String> = to.into_iter().map(vertex).collect();
        for (place, line) in wrap(&list.join(", "), WIDTH - INDENT).into_iter().enumerate() {
            let name = if place == 0 { format!("{} ─", vertex(from)) } else { String::new() };
            lines.push(format!("{name:<INDENT$}{line}"));
        }
    }
    lines
}

/// Idle reads between nodes: a matrix, or for a large machine how many nodes are how far.
pub(super) fn distances(machine: &Machine) -> Vec<String> {
    let Ok(reads) = machine.idle_read_matrix() else {
        return vec!["Distances: the network does not join all nodes.".to_owned()];
    };
    if reads.len() > MATRIX_NODES { summary(&reads) } else { matrix(machine, &reads) }
}

fn matrix(machine: &Machine, reads: &[Vec<u64>]) -> Vec<String> {
    let width = reads.iter().flatten().map(|time| time.to_string().len()).max().unwrap_or(0).max(4) + 1;
    let cells = |cells: Vec<String>| cells.iter().map(|cell| format!("{cell:>width$}")).collect::<String>();
    let homes = cells(machine.nodes.iter().map(|node| node.id.to_string()).collect());
    let mut lines = vec![
        "Idle read in ns, by a processor of (row) out of the memory of (column):".to_owned(),
        format!("{:<9}{homes}", "  node"),
    ];
    for (node, row) in machine.nodes.iter().zip(reads) {
        let times = cells(row.iter().map(u64::to_string).collect());
        lines.push(format!("{:<9}{times}", format!("  {:>4}", node.id.0)));
    }
    lines
}

/// Each time that occurs, how many nodes of how many are that far, and how many times the nearest it is.
fn summary(reads: &[Vec<u64>]) -> Vec<String> {
    let times: BTreeSet<u64> = reads.iter().flatten().copied().collect();
    let nearest = times.first().copied().unwrap_or(1).max(1);
    let mut lines = vec!["Idle read in ns, and how many nodes are that far from a processor:".to_owned()];
    for time in times {
        let counts = reads.iter().map(|row| row.iter().filter(|&&other| other == time).count());
        let (least, most) =
            counts.fold((usize::MAX, 0), |(least, most), count| (least.min(count), most.max(count)));
        let nodes = if least == most { most.to_string() } else { format!("{least}-{most}") };
        let ratio = time as f64 / nearest as f64;
        let bar = "▇".repeat((most * BAR).div_ceil(reads.len()));
        lines.push(format!(
            "{time:>8} ns {ratio:>6.2}×  {nodes:>9} {} {bar}",
            if nodes == "1" { "node " } else { "nodes" }
        ));
    }
    lines
}
