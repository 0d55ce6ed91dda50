//! Read-only data: areas that one thread fills and all then only read, from several nodes.
//!
//! The profile has no times per granule, so "after initialisation" is judged by counts: a single thread fetched to
//! write, upgraded or wrote back, and no piece of it more often than it has lines (once each). A program that rewrites
//! a line now and then between long phases of reading is not recognised, and is not worth a copy either.

use crate::case::Case;
use crate::layout::NEAREST;
use crate::options::{REPLICATE_ABOVE, REPLICATE_SHARE};

/// Lines fetched per line and node must reach this mean, or a copy (one fetch each) costs what it saves.
const LEAST_READS_PER_COPY: u64 = 2;

/// Who reads and who wrote.
pub(crate) struct Reading {
    /// The area.
    pub area: usize,
    /// The thread that filled it, if its writing was seen.
    pub writer: Option<usize>,
    /// Nodes that read it.
    pub nodes: usize,
}

/// Whether an area is only read after one thread filled it, and stays mostly remote wherever it lives.
pub(crate) fn is_replicable(case: &Case, area: usize) -> Option<Reading> {
    let line = case.layout.line_bytes;
    let mut writer = None;
    let mut reads_by_node = vec![0u64; case.layout.len()];
    let mut lines = 0;
    for piece in case.demand.of_area(area) {
        let lines_of_piece = case.demand.pieces[piece].pages * case.layout.page_bytes / line;
        lines += lines_of_piece;
        for entry in case.demand.entries(piece) {
            if entry.writes + entry.upgrades + entry.write_backs > 0 {
                let is_other = writer.is_some_and(|writer| writer != entry.thread);
                let too_often =
                    entry.writes + entry.upgrades > lines_of_piece || entry.write_backs > lines_of_piece;
                if is_other || too_often {
                    return None;
                }
                writer = Some(entry.thread);
            }
            reads_by_node[case.thread_nodes[entry.thread]] += entry.reads;
        }
    }
    let nodes = reads_by_node.iter().filter(|&&reads| reads > 0).count();
    let reads: u64 = reads_by_node.iter().sum();
    // Lines that nobody touched count too: the whole area would be copied.
    let copied = lines.max(case.profile.areas[area].bytes / line) * nodes as u64;
    let stays_remote = case.best_cost(area) as f64 >= REPLICATE_ABOVE * case.weight(area) as f64;
    let matters =
        case.best_cost(area) as f64 >= REPLICATE_SHARE * (case.demand.all_packets() * NEAREST) as f64;
    (nodes >= 2 && reads >= LEAST_READS_PER_COPY * copied && stays_remote && matters).then_some(Reading {
        area,
        writer,
        nodes,
    })
}
