//! What the machine did, for a person: totals, nodes and links.

use super::{ProfileReport, and_more};
use crate::grid::{Column, Grid};
use crate::number::{grouped, measure, megabytes_per_second, percent, share, short};
use crate::run::{link_name, seconds_name};
use std::cmp::Reverse;

/// Nodes shown in their order; a larger machine shows those with the most remote transactions.
const MOST_NODES: usize = 16;

impl ProfileReport<'_> {
    pub(super) fn totals(&self, width: usize) -> Vec<String> {
        if self.is_sampled() {
            return self.sampled_totals(width);
        }
        let totals = &self.profile.totals;
        let accesses = totals.reads + totals.writes;
        let transactions = totals.l2_misses + totals.upgrades + totals.write_backs;
        let mut grid = Grid::new([("totals", Column::Text), ("", Column::Number), ("", Column::Flexible)]);
        let mut row = |name: &str, value: String, note: String| grid.row([name.to_owned(), value, note]);
        let per_instruction = format!("{} per instruction", measure(share(accesses, totals.instructions)));
        row(seconds_name(self.profile.run.evidence), measure(totals.seconds), String::new());
        row("instructions", grouped(totals.instructions), String::new());
        row("accesses", grouped(accesses), per_instruction);
        row("  writes", grouped(totals.writes), of(totals.writes, accesses, "accesses"));
        row("TLB misses", grouped(totals.tlb_misses), of(totals.tlb_misses, accesses, "accesses"));
        row("L1 misses", grouped(totals.l1_misses), of(totals.l1_misses, accesses, "accesses"));
        row("L2 misses", grouped(totals.l2_misses), of(totals.l2_misses, totals.l1_misses, "L1 misses"));
        row("upgrades", grouped(totals.upgrades), String::new());
        row("write-backs", grouped(totals.write_backs), String::new());
        let remote = totals.remote_transactions;
        row("remote transactions", grouped(remote), of(remote, transactions, "transactions"));
        row("request packets", grouped(totals.request_packets), String::new());
        row("response packets", grouped(totals.response_packets), String::new());
        let rate = format!("{} MB/s", megabytes_per_second(totals.network_bytes as f64 / totals.seconds));
        row("network bytes", grouped(totals.network_bytes), rate);
        row("host seconds", measure(totals.host_seconds), String::new());
        grid.lines(width)
    }

    pub(super) fn node_table(&self, width: usize) -> Vec<String> {
        let mut nodes: Vec<_> = self.profile.nodes.iter().collect();
        let hidden = nodes.len().saturating_sub(MOST_NODES);
        if hidden > 0 {
            nodes.sort_by_key(|node| Reverse(node.remote_transactions));
            nodes.truncate(MOST_NODES);
        }
        let mut grid = Grid::new([
            ("node", Column::Number),
            ("transactions", Column::Number),
            ("remote", Column::Number),
            ("share", Column::Number),
            ("packets out", Column::Number),
            ("in", Column::Number),
            ("bus", Column::Number),
            ("unit", Column::Number),
            ("pages", Column::Number),
        ]);
        for node in nodes {
            grid.row([
                node.node.to_string(),
                short(node.transactions),
                short(node.remote_transactions),
                percent(share(node.remote_transactions, node.transactions)),
                short(node.requests_out + node.responses_out),
                short(node.requests_in + node.responses_in),
                percent(node.bus_utilisation),
                percent(node.unit_utilisation),
                grouped(node.pages),
            ]);
        }
        let mut lines = grid.lines(width);
        lines.extend(and_more(hidden, "nodes with fewer remote transactions"));
        lines
    }

    /// The busiest links.
    pub(super) fn link_table(&self, width: usize) -> Vec<String> {
        let mut links: Vec<_> = self.profile.links.iter().collect();
        if links.is_empty() {
            return Vec::new();
        }
        links.sort_by(|a, b| b.utilisation.max(0.0).total_cmp(&a.utilisation.max(0.0)));
        let shown = self.options.top.min(links.len());
        let mut grid = Grid::new([
            ("link", Column::Flexible),
            ("packets", Column::Number),
            ("bytes", Column::Number),
            ("MB/s", Column::Number),
            ("busy", Column::Number),
        ]);
        for link in &links[..shown] {
            grid.row([
                link_name(link),
                grouped(link.packets),
                grouped(link.bytes),
                megabytes_per_second(link.bytes as f64 / self.profile.totals.seconds),
                percent(link.utilisation),
            ]);
        }
        let mut lines = grid.lines(width);
        lines.extend(and_more(links.len() - shown, "links, less busy"));
        lines
    }
}

/// A part as a share of a named whole.
fn of(part: u64, whole: u64, name: &str) -> String {
    format!("{} of the {name}", percent(share(part, whole)))
}
