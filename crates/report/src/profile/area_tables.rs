//! What the program did, for a person: areas and their granules, threads, contested lines.
//!
//! Who used an area and where it lives are shown as percentages by node where the machine is small and the terminal
//! wide, else as bars, a block per node.

use super::{ProfileReport, and_more, sharing};
use crate::grid::{Column, Grid};
use crate::number::{percent, share, short, size};
use crate::text::{bars, ranges};
use crate::traffic;
use olifant_opium::profile::{ContestedLine, Granule};
use std::cmp::Reverse;

/// The most nodes whose percentages are written out.
const MOST_PERCENTAGES: usize = 4;
/// The least width for percentages.
const WIDE: usize = 100;
/// Threads shown in their order; a larger program shows those with the most remote transactions.
const MOST_THREADS: usize = 16;

impl ProfileReport<'_> {
    pub(super) fn area_table(&self, width: usize) -> Vec<String> {
        if self.order.is_empty() {
            return vec![" No area missed the second-level cache.".to_owned()];
        }
        let shown = self.options.top.min(self.order.len());
        let (used, homes) = (self.by_node("used by", width), self.by_node("lives on", width));
        let mut columns = vec![
            ("", Column::Number),
            ("area", Column::Flexible),
            ("size", Column::Number),
            ("local", Column::Number),
            ("remote", Column::Number),
            ("share", Column::Number),
            (used.as_str(), Column::Text),
            (homes.as_str(), Column::Text),
        ];
        if self.is_sampled() {
            columns.push(("of all, 95 %", Column::Number));
        }
        let mut grid = Grid::new(columns);
        for (index, &id) in self.order[..shown].iter().enumerate() {
            let (area, traffic) = (&self.profile.areas[id], &self.traffic[id]);
            let mut row = vec![
                (index + 1).to_string(),
                self.area_name(id),
                size(area.bytes),
                short(traffic.local),
                short(traffic.remote),
                percent(share(traffic.remote, traffic.transactions())),
                distribution(&traffic.by_node, width),
                distribution(&traffic.homes, width),
            ];
            if self.is_sampled() {
                row.push(self.area_interval_text(id));
            }
            grid.row(row);
        }
        let mut lines = grid.lines(width);
        let rest: u64 = self.order[shown..].iter().map(|area| self.traffic[*area].remote).sum();
        let what = format!("areas with {} remote transactions", short(rest));
        lines.extend(and_more(self.order.len() - shown, &what));
        lines
    }

    /// The granules with the most remote transactions.
    pub(super) fn granule_table(&self, width: usize) -> Vec<String> {
        let traffic_of = |granule: &Granule| traffic::of_granules(1, granule.home, &granule.by, &self.nodes);
        let mut granules: Vec<_> =
            self.profile.granules.iter().map(|granule| (granule, traffic_of(granule))).collect();
        granules.sort_by_key(|(_, traffic)| Reverse(traffic.remote));
        let shown = self.options.top.min(granules.len());
        let mut grid = Grid::new([
            ("granule", Column::Number),
            ("area", Column::Flexible),
            ("home", Column::Number),
            ("local", Column::Number),
            ("remote", Column::Number),
            (&self.by_node("used by", width), Column::Text),
        ]);
        for (granule, traffic) in &granules[..shown] {
            grid.row([
                granule.index.to_string(),
                self.area_name(granule.area as usize),
                granule.home.to_string(),
                short(traffic.local),
                short(traffic.remote),
                distribution(&traffic.by_node, width),
            ]);
        }
        let mut lines = grid.lines(width);
        let what = format!("granules of {}", size(self.profile.granule_bytes));
        lines.extend(and_more(granules.len() - shown, &what));
        lines
    }

    pub(super) fn thread_table(&self, width: usize) -> Vec<String> {
        let by_thread = traffic::by_thread(self.profile, &self.map);
        let mut threads: Vec<_> = by_thread.iter().zip(&self.profile.threads).enumerate().collect();
        if threads.is_empty() {
            return Vec::new();
        }
        let hidden = threads.len().saturating_sub(MOST_THREADS);
        if hidden > 0 {
            threads.sort_by_key(|(_, ((_, remote), _))| Reverse(*remote));
            threads.truncate(MOST_THREADS);
        }
        let mut grid = Grid::new([
            ("thread", Column::Number),
            ("cpu", Column::Number),
            ("node", Column::Number),
            ("local", Column::Number),
            ("remote", Column::Number),
            ("share", Column::Number),
            ("cycles", Column::Number),
            ("routine", Column::Flexible),
        ]);
        for (id, ((local, remote), thread)) in threads {
            let name = if id == 0 && thread.name.is_empty() { "main" } else { &thread.name };
            let routine = self.place(thread.routine);
            grid.row([
                id.to_string(),
                thread.cpu.to_string(),
                thread.node.to_string(),
                short(*local),
                short(*remote),
                percent(share(*remote, local + remote)),
                short(thread.ended.saturating_sub(thread.started)),
                [name, &routine].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "),
            ]);
        }
        let mut lines = grid.lines(width);
        lines.extend(and_more(hidden, "threads with fewer remote transactions"));
        lines
    }

    pub(super) fn contested_table(&self, width: usize) -> Vec<String> {
        let contested = &self.profile.contested;
        if contested.is_empty() {
            return Vec::new();
        }
        let shown = self.options.top.min(contested.len());
        let mut grid = Grid::new([
            ("contested line", Column::Flexible),
            ("transfers", Column::Number),
            ("sharing", Column::Text),
            ("written by", Column::Flexible),
            ("read by", Column::Flexible),
            ("for example in", Column::Flexible),
        ]);
        for line in &contested[..shown] {
            let threads = |part: fn(&olifant_opium::profile::LineAccesses) -> u64| {
                let who: Vec<u16> = line.by.iter().filter(|by| part(by) > 0).map(|by| by.thread).collect();
                ranges(&who)
            };
            grid.row([
                self.line_name(line),
                short(line.transfers),
                sharing(line.sharing).to_owned(),
                threads(|by| by.writes),
                threads(|by| by.reads),
                self.example(line),
            ]);
        }
        let mut lines = grid.lines(width);
        lines.extend(and_more(contested.len() - shown, "contested lines, with fewer transfers"));
        lines
    }

    /// The fields of a line where they are known, else its offset in its area.
    fn line_name(&self, line: &ContestedLine) -> String {
        if line.fields.is_empty() {
            return format!("{} {:+}", self.area_name(line.area as usize), line.offset);
        }
        line.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Where the thread that wrote most did so.
    fn example(&self, line: &ContestedLine) -> String {
        let writer = line.by.iter().rev().max_by_key(|by| (by.writes, by.reads));
        writer.map_or(String::new(), |writer| self.place(writer.code))
    }

    /// The name of an area, with its ordinal where several have the same name.
    pub(super) fn area_name(&self, id: usize) -> String {
        let Some(area) = self.profile.areas.get(id) else { return String::new() };
        if self.shared_names.contains(area.name.as_str()) {
            format!("{} #{}", area.name, area.ordinal)
        } else {
            area.name.clone()
        }
    }

    /// The title of a column of distributions: which nodes the percentages are of.
    fn by_node(&self, title: &str, width: usize) -> String {
        if self.nodes.len() > MOST_PERCENTAGES || width < WIDE {
            return title.to_owned();
        }
        format!("{title} {}, %", ranges(&self.nodes))
    }
}

/// Counts by node as percentages or as bars.
fn distribution(counts: &[u64], width: usize) -> String {
    if counts.len() > MOST_PERCENTAGES || width < WIDE {
        return format!("[{}]", bars(counts));
    }
    let sum: u64 = counts.iter().sum();
    let part = |count: &u64| {
        let percent = share(*count, sum) * 100.0;
        if percent.is_finite() { format!("{percent:3.0}") } else { "  -".to_owned() }
    };
    counts.iter().map(part).collect::<Vec<_>>().join(" ")
}
