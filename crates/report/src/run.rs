//! One run as a row of numbers: what `run` and `record` print, and what `tune` puts side by side.

use crate::grid::{Column, Grid};
use crate::number::{grouped, measure, megabytes_per_second, percent, share};
use crate::text::base_name;
use crate::{Style, csv};
use olifant_opium::profile::{Evidence, LinkTotals, Profile, RunInfo};
use serde::Serialize;

/// One run in figures. As JSON it is the RUN of the stable output; fields may be added, none is renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRow {
    /// `plan`, or thread and memory policy as `fill, striped:1`.
    pub placement: String,
    /// Simulated (or real) seconds.
    pub seconds: f64,
    /// Loads and stores that reached the first-level cache.
    pub accesses: u64,
    /// First-level misses.
    pub l1_misses: u64,
    /// Second-level misses.
    pub l2_misses: u64,
    /// Request packets on the network.
    pub request_packets: u64,
    /// Response packets on the network.
    pub response_packets: u64,
    /// Bytes on the network.
    pub network_bytes: u64,
    /// Seconds of host time.
    pub host_seconds: f64,
    /// Hash over every counter and clock.
    pub digest: String,
    /// TLB misses.
    pub tlb_misses: u64,
    /// Permissions to write a line already held.
    pub upgrades: u64,
    /// Dirty lines written back.
    pub write_backs: u64,
    /// Transactions whose home is another node.
    pub remote_transactions: u64,
    /// The node whose bus was busiest, as `node 2`; empty if there is none.
    pub busiest_bus: String,
    /// Share of the run in which it was busy, 0 to 1.
    pub busiest_bus_utilisation: f64,
    /// The node whose coherence unit was busiest.
    pub busiest_unit: String,
    /// Share of the run in which it was busy, 0 to 1.
    pub busiest_unit_utilisation: f64,
    /// The busiest link, as `node0→router0`.
    pub busiest_link: String,
    /// Share of the run in which it was busy, 0 to 1.
    pub busiest_link_utilisation: f64,
    /// The program's exit code; 128 + n for a signal n.
    pub exit_code: i32,
    /// Whether the program ran to its end.
    pub complete: bool,
    /// How the numbers were obtained: `exact`, `sampled` or `simulated`.
    pub evidence: Evidence,
    /// Path of the profile, if one was kept.
    pub profile: Option<String>,
}

impl RunRow {
    /// The figures of a profile; `path` is where it is kept.
    pub fn from_profile(profile: &Profile, path: Option<&str>) -> Self {
        let totals = &profile.totals;
        let nodes = || profile.nodes.iter();
        let bus = busiest(nodes(), |node| node.bus_utilisation);
        let unit = busiest(nodes(), |node| node.unit_utilisation);
        let link = busiest(profile.links.iter(), |link| link.utilisation);
        RunRow {
            placement: placement(&profile.run),
            seconds: totals.seconds,
            accesses: totals.reads + totals.writes,
            l1_misses: totals.l1_misses,
            l2_misses: totals.l2_misses,
            request_packets: totals.request_packets,
            response_packets: totals.response_packets,
            network_bytes: totals.network_bytes,
            host_seconds: totals.host_seconds,
            digest: totals.digest.clone(),
            tlb_misses: totals.tlb_misses,
            upgrades: totals.upgrades,
            write_backs: totals.write_backs,
            remote_transactions: totals.remote_transactions,
            busiest_bus: bus.map_or(String::new(), |bus| format!("node {}", bus.node)),
            busiest_bus_utilisation: bus.map_or(0.0, |bus| bus.bus_utilisation),
            busiest_unit: unit.map_or(String::new(), |unit| format!("node {}", unit.node)),
            busiest_unit_utilisation: unit.map_or(0.0, |unit| unit.unit_utilisation),
            busiest_link: link.map_or(String::new(), link_name),
            busiest_link_utilisation: link.map_or(0.0, |link| link.utilisation),
            exit_code: profile.run.exit_code,
            complete: profile.run.is_complete,
            evidence: profile.run.evidence,
            profile: path.map(str::to_owned),
        }
    }

    /// Packets of both kinds.
    pub fn packets(&self) -> u64 {
        self.request_packets + self.response_packets
    }

    /// Network bytes per second of the run.
    pub fn network_bytes_per_s(&self) -> f64 {
        self.network_bytes as f64 / self.seconds
    }

    /// As one JSON object.
    pub fn json(&self) -> String {
        crate::json(self)
    }

    /// As a header and one row.
    pub fn csv(&self) -> String {
        let fields = self.fields();
        csv::line(fields.iter().map(|(name, _)| name)) + &csv::line(fields.iter().map(|(_, value)| value))
    }

    /// As a table of two columns for a person.
    pub fn table(&self, style: Style) -> String {
        let mut grid = Grid::new([
            ("run", Column::Text),
            (&self.placement, Column::FlexibleNumber),
            ("", Column::Flexible),
        ]);
        let of_accesses = |count| format!("{} of the accesses", percent(share(count, self.accesses)));
        let of_transactions = |count| {
            let transactions = self.l2_misses + self.upgrades + self.write_backs;
            format!("{} of the transactions", percent(share(count, transactions)))
        };
        grid.row([seconds_name(self.evidence).to_owned(), measure(self.seconds), String::new()]);
        grid.row(["accesses".to_owned(), grouped(self.accesses), String::new()]);
        grid.row(["TLB misses".to_owned(), grouped(self.tlb_misses), of_accesses(self.tlb_misses)]);
        grid.row(["L1 misses".to_owned(), grouped(self.l1_misses), of_accesses(self.l1_misses)]);
        grid.row(["L2 misses".to_owned(), grouped(self.l2_misses), of_accesses(self.l2_misses)]);
        grid.row(["upgrades".to_owned(), grouped(self.upgrades), String::new()]);
        grid.row(["write-backs".to_owned(), grouped(self.write_backs), String::new()]);
        let remote = self.remote_transactions;
        grid.row(["remote transactions".to_owned(), grouped(remote), of_transactions(remote)]);
        grid.row(["request packets".to_owned(), grouped(self.request_packets), String::new()]);
        grid.row(["response packets".to_owned(), grouped(self.response_packets), String::new()]);
        grid.row([
            "MB/s on the links".to_owned(),
            megabytes_per_second(self.network_bytes_per_s()),
            String::new(),
        ]);
        for (name, busiest, utilisation) in self.busiest() {
            grid.row([name.to_owned(), percent(utilisation), busiest.to_owned()]);
        }
        grid.row(["host seconds".to_owned(), measure(self.host_seconds), String::new()]);
        let mut lines = grid.lines(style.width);
        lines.push(String::new());
        lines.push(format!(" digest {}{}", self.digest, self.ending()));
        lines.join("\n") + "\n"
    }

    /// What was busiest, with its name and share.
    pub(crate) fn busiest(&self) -> [(&'static str, &str, f64); 3] {
        [
            ("busiest bus", &self.busiest_bus, self.busiest_bus_utilisation),
            ("busiest unit", &self.busiest_unit, self.busiest_unit_utilisation),
            ("busiest link", &self.busiest_link, self.busiest_link_utilisation),
        ]
    }

    /// How the program ended, where that is worth a word.
    fn ending(&self) -> String {
        match (self.complete, self.exit_code) {
            (true, 0) => String::new(),
            (true, code) => format!("; exit code {code}"),
            (false, code) => format!("; cut short, exit code {code}"),
        }
    }

    /// Every field by its name in JSON, in the same order.
    pub(crate) fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("placement", self.placement.clone()),
            ("seconds", self.seconds.to_string()),
            ("accesses", self.accesses.to_string()),
            ("l1_misses", self.l1_misses.to_string()),
            ("l2_misses", self.l2_misses.to_string()),
            ("request_packets", self.request_packets.to_string()),
            ("response_packets", self.response_packets.to_string()),
            ("network_bytes", self.network_bytes.to_string()),
            ("host_seconds", self.host_seconds.to_string()),
            ("digest", self.digest.clone()),
            ("tlb_misses", self.tlb_misses.to_string()),
            ("upgrades", self.upgrades.to_string()),
            ("write_backs", self.write_backs.to_string()),
            ("remote_transactions", self.remote_transactions.to_string()),
            ("busiest_bus", self.busiest_bus.clone()),
            ("busiest_bus_utilisation", self.busiest_bus_utilisation.to_string()),
            ("busiest_unit", self.busiest_unit.clone()),
            ("busiest_unit_utilisation", self.busiest_unit_utilisation.to_string()),
            ("busiest_link", self.busiest_link.clone()),
            ("busiest_link_utilisation", self.busiest_link_utilisation.to_string()),
            ("exit_code", self.exit_code.to_string()),
            ("complete", self.complete.to_string()),
            ("evidence", evidence(self.evidence).to_owned()),
            ("profile", self.profile.clone().unwrap_or_default()),
        ]
    }
}

/// `plan`, or the policies.
pub(crate) fn placement(run: &RunInfo) -> String {
    match run.plan {
        Some(_) => "plan".to_owned(),
        None => format!("{}, {}", run.thread_policy, run.memory_policy),
    }
}

/// The program's file name and its arguments.
pub(crate) fn command(run: &RunInfo) -> String {
    let words = std::iter::once(base_name(&run.program)).chain(run.args.iter().map(String::as_str));
    words.collect::<Vec<_>>().join(" ")
}

/// `node0→router0`.
pub(crate) fn link_name(link: &LinkTotals) -> String {
    format!("{}→{}", link.from, link.to)
}

/// The word for an evidence level, as in the profile file.
pub(crate) fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Exact => "exact",
        Evidence::Sampled => "sampled",
        Evidence::Simulated => "simulated",
    }
}

/// What a run's seconds are.
pub(crate) fn seconds_name(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Simulated => "simulated seconds",
        Evidence::Exact | Evidence::Sampled => "seconds",
    }
}

/// The member with the highest share; the first of equals. A share of no time counts as none.
fn busiest<T>(members: impl DoubleEndedIterator<Item = T>, utilisation: impl Fn(&T) -> f64) -> Option<T> {
    members.rev().max_by(|a, b| utilisation(a).max(0.0).total_cmp(&utilisation(b).max(0.0)))
}
