//! What differs where a sample stands for the accesses: counts are samples, and a share has an interval around it.

use super::ProfileReport;
use crate::grid::{Column, Grid};
use crate::number::{grouped, measure, percent, share};
use crate::run::seconds_name;
use olifant_opium::profile::Evidence;
use olifant_opium::share_interval;

impl ProfileReport<'_> {
    /// Whether the numbers are samples.
    pub(super) fn is_sampled(&self) -> bool {
        self.profile.run.evidence == Evidence::Sampled
    }

    /// The interval of an area's share of all accesses, from 0 to 1, at a level of 95 %; nothing for what was counted
    /// rather than sampled.
    pub(super) fn area_interval(&self, id: usize) -> Option<(f64, f64)> {
        let all = self.traffic.iter().map(crate::traffic::Traffic::transactions).sum();
        self.is_sampled().then(|| share_interval(self.traffic[id].transactions(), all))
    }

    /// The same as text.
    pub(super) fn area_interval_text(&self, id: usize) -> String {
        self.area_interval(id).map_or_else(String::new, |(low, high)| interval(low, high))
    }

    /// Totals of a sampled run: what no sample can tell is left out.
    pub(super) fn sampled_totals(&self, width: usize) -> Vec<String> {
        let totals = &self.profile.totals;
        let accesses = totals.reads + totals.writes;
        let mut grid = Grid::new([("totals", Column::Text), ("", Column::Number), ("", Column::Flexible)]);
        let mut row = |name: &str, value: String, note: String| grid.row([name.to_owned(), value, note]);
        row(seconds_name(Evidence::Sampled), measure(totals.seconds), String::new());
        row("sampled accesses", grouped(accesses), "each to a line; shares follow the time spent".to_owned());
        for (name, part) in [("  writes", totals.writes), ("  remote", totals.remote_transactions)] {
            let (low, high) = share_interval(part, accesses);
            let note = format!("{}, 95 % interval {}", percent(share(part, accesses)), interval(low, high));
            row(name, grouped(part), note);
        }
        grid.lines(width)
    }
}

fn interval(low: f64, high: f64) -> String {
    format!("{:.1} to {:.1} %", 100.0 * low, 100.0 * high)
}
