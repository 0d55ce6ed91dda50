//! A machine as a text picture: what it is in a few lines, its nodes as boxes, its links, and how far nodes are.

use super::links::{distances, kinds, neighbours};
use super::node_boxes::{BOX, GAP, Joints, PER_ROW, below, row};
use super::values::{cache, clock, cpulist, duration, rate, short, size};
use crate::text::{elide, wrap};
use olifant_machine::{Machine, Node, NodeSet, Topology};

/// Columns of the picture.
const WIDTH: usize = 100;
/// Columns of the names in front of the lines about a part.
const NAME: usize = 12;
/// Nodes are drawn one by one up to this many.
const DRAWN_NODES: usize = 8;
/// Kinds of node drawn for larger machines.
const DRAWN_KINDS: usize = PER_ROW;

/// The machine as a picture of at most 100 columns.
pub fn picture(machine: &Machine) -> String {
    let mut lines = vec![elide(&format!("{} {}", machine.name, machine.configuration()), WIDTH)];
    lines.extend(wrap(&machine.description, WIDTH).into_iter().map(|line| elide(&line, WIDTH)));
    lines.push(String::new());
    lines.extend(parts(machine));
    lines.push(String::new());
    lines.extend(nodes(machine));
    lines.push(String::new());
    lines.extend(distances(machine));
    let mut picture: String = lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect();
    picture.truncate(picture.trim_end().len());
    picture.push('\n');
    picture
}

/// What every processor, memory and link is.
fn parts(machine: &Machine) -> Vec<String> {
    let (processor, memory, unit) = (&machine.processor, &machine.memory, &machine.coherence);
    let l3 = processor.l3.as_ref().map(|l3| ("L3", format!("{}; one per node, not simulated", cache(l3))));
    let parts = [
        Some((
            "processor",
            format!(
                "{}, {} cycles an instruction, window {} instructions, {} misses in flight",
                clock(processor.clock),
                short(processor.cpi),
                processor.window_instructions,
                processor.outstanding_misses
            ),
        )),
        Some(("L1", cache(&processor.l1))),
        Some(("L2", cache(&processor.l2))),
        l3,
        Some((
            "TLB",
            format!(
                "{} entries, {}-way, miss {} cycles",
                processor.tlb.entries, processor.tlb.ways, processor.tlb.miss.0
            ),
        )),
        Some((
            "memory",
            format!(
                "{}, {} per node; out of a neighbour's cache {}",
                duration(memory.latency),
                rate(memory.bandwidth),
                duration(memory.intervention)
            ),
        )),
        Some((
            "coherence",
            format!(
                "{} per passage, busy {} per packet; packets of {}, with data {}",
                duration(unit.latency),
                duration(unit.occupancy),
                size(unit.request),
                size(unit.response)
            ),
        )),
        Some(("pages", format!("{}, {} frames", size(machine.os.page), machine.os.frames.word()))),
    ];
    let mut lines: Vec<String> =
        parts.iter().flatten().map(|(name, text)| format!("{name:<NAME$}{text}")).collect();
    if machine.nodes.len() > 1 {
        let title = format!("{}: ", machine.network.topology);
        for (place, kind) in kinds(machine).into_iter().enumerate() {
            let (name, title) = if place == 0 { ("network", title.as_str()) } else { ("", "") };
            lines.push(format!("{name:<NAME$}{title}{kind}"));
        }
    }
    lines
}

fn nodes(machine: &Machine) -> Vec<String> {
    let nodes: Vec<&Node> = machine.nodes.iter().collect();
    if nodes.len() > DRAWN_NODES {
        return kinds_of_nodes(machine);
    }
    match machine.network.topology.parse() {
        Ok(Topology::Square) if nodes.len() == 4 => square(machine, &nodes),
        Ok(Topology::Hub) if (2..=PER_ROW).contains(&nodes.len()) => {
            under_a_bar(machine, &nodes, " hub, router 0 ")
        }
        Ok(Topology::Bus) if (2..=PER_ROW).contains(&nodes.len()) => under_a_bar(machine, &nodes, " bus "),
        _ => {
            let mut lines: Vec<String> =
                nodes.chunks(PER_ROW).flat_map(|chunk| row(machine, chunk, Joints::None)).collect();
            let listed = neighbours(machine);
            if !listed.is_empty() {
                lines.push(String::new());
                lines.extend(listed);
            }
            lines
        }
    }
}

/// Boxes that hang on one bar.
fn under_a_bar(machine: &Machine, nodes: &[&Node], name: &str) -> Vec<String> {
    let mut lines = row(machine, nodes, Joints::Down);
    lines.push(below(nodes.len(), '│', ' '));
    let bar = below(nodes.len(), '╧', '═');
    // The name stands at the end of the bar, where no box hangs on it.
    let kept = bar.chars().count() - name.chars().count() - 2;
    lines.push(format!("{}{name}══", bar.chars().take(kept).collect::<String>()));
    lines
}

/// Two rows of two, joined along the edges.
fn square(machine: &Machine, nodes: &[&Node]) -> Vec<String> {
    let mut lines = row(machine, &nodes[..2], Joints::SideAndDown);
    lines.push(below(2, '│', ' '));
    lines.extend(row(machine, &nodes[2..], Joints::SideAndUp));
    lines
}

/// One box for each kind of node, and which nodes are of that kind.
fn kinds_of_nodes(machine: &Machine) -> Vec<String> {
    let mut kinds: Vec<Vec<&Node>> = Vec::new();
    for node in &machine.nodes {
        let same =
            |kind: &&mut Vec<&Node>| kind[0].cpus.len() == node.cpus.len() && kind[0].memory == node.memory;
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.push(node),
            None => kinds.push(vec![node]),
        }
    }
    let drawn: Vec<&Node> = kinds.iter().take(DRAWN_KINDS).map(|kind| kind[0]).collect();
    let mut boxes = row(machine, &drawn, Joints::None);
    if let [kind] = kinds.as_slice() {
        // The one box leaves room beside it to say how many there are.
        let beside = [
            format!("{} nodes like this one,", kind.len()),
            format!("{} cpus in all:", kind.iter().map(|node| node.cpus.len()).sum::<usize>()),
            format!("nodes {}", ids(kind)),
            format!("cpus {}", cpulist_of(kind)),
        ];
        for (line, text) in boxes.iter_mut().skip(1).zip(beside) {
            *line = elide(&format!("{line:<width$}{text}", width = BOX + GAP), WIDTH);
        }
        return boxes;
    }
    boxes.push(String::new());
    for kind in kinds.iter().take(DRAWN_KINDS) {
        let text = format!("like node {}: {} nodes, {}", kind[0].id, kind.len(), ids(kind));
        boxes.push(elide(&text, WIDTH));
    }
    if kinds.len() > DRAWN_KINDS {
        let others: Vec<&Node> = kinds[DRAWN_KINDS..].iter().flatten().copied().collect();
        boxes.push(elide(&format!("of other kinds: {} nodes, {}", others.len(), ids(&others)), WIDTH));
    }
    boxes
}

fn ids(nodes: &[&Node]) -> String {
    nodes.iter().map(|node| node.id).collect::<NodeSet>().to_string()
}

fn cpulist_of(nodes: &[&Node]) -> String {
    cpulist(&Node {
        cpus: nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect(),
        ..nodes[0].clone()
    })
}
