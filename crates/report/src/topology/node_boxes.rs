//! Nodes as boxes of text, side by side.

use super::values::{cpulist, memory, rate, short, size};
use crate::text::elide;
use olifant_machine::{CpuId, Machine, Node};

/// Columns within a box's sides.
const INNER: usize = 21;
/// Columns of a box.
pub(super) const BOX: usize = INNER + 2;
/// Columns between boxes.
pub(super) const GAP: usize = 2;
/// Boxes in a row: as many as fit 100 columns.
pub(super) const PER_ROW: usize = 4;
/// Cpus are drawn one by one up to this many.
const DRAWN_CPUS: usize = 8;
/// Cpus in a line of a box at most.
const CPUS_PER_LINE: usize = 4;

/// How the boxes of one row are joined by lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joints {
    /// Not at all.
    None,
    /// Neighbours in the row, and downwards.
    SideAndDown,
    /// Neighbours in the row, and upwards.
    SideAndUp,
    /// Downwards only.
    Down,
}

/// The lines of a row of boxes.
pub(super) fn row(machine: &Machine, nodes: &[&Node], joints: Joints) -> Vec<String> {
    let contents: Vec<Vec<String>> = nodes.iter().map(|node| contents(machine, node)).collect();
    let height = contents.iter().map(Vec::len).max().unwrap_or(0);
    let has_sides = matches!(joints, Joints::SideAndDown | Joints::SideAndUp);
    let mut lines = vec![joined(nodes.iter().map(|node| top(node, joints)), false)];
    for line in 0..height {
        let is_joint = has_sides && line == height / 2;
        let cells = contents.iter().enumerate().map(|(place, content)| {
            let text = content.get(line).map_or("", String::as_str);
            let left = if is_joint && place > 0 { '┤' } else { '│' };
            let right = if is_joint && place + 1 < nodes.len() { '├' } else { '│' };
            format!("{left}{text:<INNER$}{right}")
        });
        lines.push(joined(cells, is_joint));
    }
    let is_open_below = matches!(joints, Joints::Down | Joints::SideAndDown);
    let bottom = format!("╰{}╯", rule(if is_open_below { '┬' } else { '─' }));
    lines.push(joined(nodes.iter().map(|_| bottom.clone()), false));
    lines
}

/// A line with `mark` under the middle of each of `count` boxes, and `between` elsewhere.
pub(super) fn below(count: usize, mark: char, between: char) -> String {
    let side = between.to_string().repeat(INNER / 2 + 1);
    let cell = format!("{side}{mark}{}", between.to_string().repeat(BOX - INNER / 2 - 2));
    let line = vec![cell; count].join(&between.to_string().repeat(GAP));
    line.trim_end().to_owned()
}

fn top(node: &Node, joints: Joints) -> String {
    let title = format!("─ node {} ", node.id);
    if joints != Joints::SideAndUp {
        return format!("╭{title:─<INNER$}╮");
    }
    let mut line: Vec<char> = format!("{title:─<INNER$}").chars().collect();
    line[INNER / 2] = '┴';
    format!("╭{}╮", line.into_iter().collect::<String>())
}

/// A horizontal edge with `middle` in its middle.
fn rule(middle: char) -> String {
    format!("{}{middle}{}", "─".repeat(INNER / 2), "─".repeat(INNER - INNER / 2 - 1))
}

fn joined(cells: impl Iterator<Item = String>, is_joint: bool) -> String {
    let gap = if is_joint { "─".repeat(GAP) } else { " ".repeat(GAP) };
    cells.collect::<Vec<_>>().join(&gap)
}

fn contents(machine: &Machine, node: &Node) -> Vec<String> {
    let processor = &machine.processor;
    let mut lines = cpus(node);
    if !node.cpus.is_empty() {
        lines.push(format!(" L1 {} each", size(processor.l1.size)));
        lines.push(format!(" L2 {} each", size(processor.l2.size)));
        lines.extend(processor.l3.as_ref().map(|l3| format!(" L3 {} shared", size(l3.size))));
    }
    lines.push(format!(" memory {}", memory(node.memory)));
    if node.memory.0 > 0 {
        lines.push(format!(" {}, {} ns", rate(machine.memory.bandwidth), short(machine.memory.latency.0)));
    }
    for line in &mut lines {
        *line = elide(line, INNER);
    }
    lines
}

/// The cpus one by one, as many to a line as fit, or their list.
fn cpus(node: &Node) -> Vec<String> {
    let count = node.cpus.len();
    let Some(last) = node.cpus.last() else { return vec![" no cpus".to_owned()] };
    if count > DRAWN_CPUS {
        return vec![format!(" {count} cpus:"), format!(" {}", cpulist(node))];
    }
    // A bracket on each side and a space in front.
    let width = last.to_string().len() + 3;
    let cell = |cpu: &CpuId| format!(" {:<1$}", format!("[{cpu}]"), width - 1);
    let per_line = (INNER / width).min(CPUS_PER_LINE);
    node.cpus.chunks(per_line).map(|cpus| cpus.iter().map(cell).collect()).collect()
}
