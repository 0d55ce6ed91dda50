//! One profile at length: what ran, the machine's totals, nodes and links, the areas that mattered most with who used
//! them and where they live, threads, and the lines that threads fought over.
//!
//! The choice and order of areas are here; `machine_tables.rs` and `area_tables.rs` show them to a person, `json.rs`
//! to a program, `csv.rs` and `csv_tables.rs` to a spreadsheet; `fact_tables.rs` and `fact_csv.rs` what is known beside the counts.

mod area_tables;
mod csv;
mod csv_tables;
mod fact_csv;
mod fact_tables;
mod json;
mod machine_tables;
mod sampled;

pub use csv_tables::CsvRows;
pub(crate) use fact_tables::lock_kind;

use crate::Style;
use crate::number::{grouped, percent};
use crate::run::{command, evidence, placement};
use crate::text::{elide, wrap};
use crate::traffic::{self, Traffic};
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{Frame, Profile, Sharing};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;

/// The order of areas.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Most remote transactions first.
    #[default]
    Remote,
    /// Most local transactions first.
    Local,
    /// Most transactions first.
    Transactions,
    /// Largest first.
    Bytes,
    /// By name.
    Name,
}

/// What a report shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportOptions {
    /// Rows of a table before the rest is summed up. JSON and CSV have all.
    pub top: usize,
    /// The order of areas.
    pub sort: Sort,
    /// Whether the areas' granules are shown, too.
    pub granules: bool,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { top: 10, sort: Sort::default(), granules: false }
    }
}

/// A profile to be shown.
pub struct ProfileReport<'p> {
    profile: &'p Profile,
    map: Cow<'p, GranuleMap>,
    options: ReportOptions,
    /// Finds the source of a code address.
    locate: Option<&'p dyn Fn(u64) -> Option<Frame>>,
    nodes: Vec<u16>,
    /// By area.
    traffic: Vec<Traffic>,
    /// Areas with traffic, in the order asked for.
    order: Vec<usize>,
    /// Names that several areas have.
    shared_names: HashSet<&'p str>,
}

impl<'p> ProfileReport<'p> {
    /// A report of `profile`.
    pub fn new(profile: &'p Profile, options: ReportOptions) -> Self {
        Self::with(profile, Cow::Owned(GranuleMap::of(profile)), options)
    }

    /// The same of a profile whose map was read beside it, and whose granules may not have been.
    pub fn of_map(profile: &'p Profile, map: &'p GranuleMap, options: ReportOptions) -> Self {
        Self::with(profile, Cow::Borrowed(map), options)
    }

    fn with(profile: &'p Profile, map: Cow<'p, GranuleMap>, options: ReportOptions) -> Self {
        let nodes = traffic::node_ids(profile, &map);
        let traffic = traffic::by_area(profile, &map, &nodes);
        let is_used = |area: &usize| traffic[*area].transactions() > 0;
        let mut order: Vec<usize> = (0..profile.areas.len()).filter(is_used).collect();
        // Stable: among equals the order of birth.
        match options.sort {
            // On one node nothing is remote: the most used ones first, then.
            Sort::Remote if traffic.iter().all(|traffic| traffic.remote == 0) => {
                order.sort_by_key(|area| Reverse(traffic[*area].transactions()));
            }
            Sort::Remote => order.sort_by_key(|area| Reverse(traffic[*area].remote)),
            Sort::Local => order.sort_by_key(|area| Reverse(traffic[*area].local)),
            Sort::Transactions => order.sort_by_key(|area| Reverse(traffic[*area].transactions())),
            Sort::Bytes => order.sort_by_key(|area| Reverse(profile.areas[*area].bytes)),
            Sort::Name => order.sort_by(|a, b| profile.areas[*a].name.cmp(&profile.areas[*b].name)),
        }
        let mut names = HashSet::new();
        let shared_names =
            profile.areas.iter().map(|area| area.name.as_str()).filter(|name| !names.insert(*name)).collect();
        ProfileReport { profile, map, options, locate: None, nodes, traffic, order, shared_names }
    }

    /// The same, with the source of code addresses (start routines, accesses to contested lines) found by `locate`.
    pub fn with_code(self, locate: &'p dyn Fn(u64) -> Option<Frame>) -> Self {
        ProfileReport { locate: Some(locate), ..self }
    }

    /// As text for a person.
    pub fn table(&self, style: Style) -> String {
        let mut sections = vec![self.heading(style.width), self.totals(style.width)];
        sections.push(self.patterns(style.width));
        sections.extend([self.node_table(style.width), self.link_table(style.width)]);
        sections.push(self.area_table(style.width));
        if self.options.granules {
            sections.push(self.granule_table(style.width));
        }
        sections.push(self.touch_table(style.width));
        sections.extend([self.filter_table(style.width), self.counter_table(style.width)]);
        sections.extend([self.phase_table(style.width), self.thread_table(style.width)]);
        sections.extend([self.contested_table(style.width), self.lock_table(style.width)]);
        let sections =
            sections.iter().filter(|section| !section.is_empty()).map(|section| section.join("\n"));
        sections.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// What stands out, each with its advice.
    fn patterns(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let patterns = olifant_advisor::patterns(self.profile, &self.map);
        let shown = self.options.top.min(patterns.len());
        for pattern in &patterns[..shown] {
            let share = percent(pattern.share);
            let text = format!(
                "{}: {} ({share} of its threads' time). {}",
                pattern.kind.word(),
                pattern.what,
                pattern.advice
            );
            for (index, line) in wrap(&text, width.saturating_sub(4)).into_iter().enumerate() {
                lines.push(format!(" {} {line}", if index == 0 { '!' } else { ' ' }));
            }
        }
        lines.extend(and_more(patterns.len() - shown, "findings, less costly"));
        lines
    }

    fn heading(&self, width: usize) -> Vec<String> {
        let run = &self.profile.run;
        let first = format!("{} on {} {}", command(run), run.machine, run.configuration);
        let ending = match (run.is_complete, run.exit_code) {
            (true, code) => format!("complete, exit code {code}"),
            (false, code) => format!("cut short, exit code {code}: what was counted until then"),
        };
        // Samples have none: no two recordings are equal.
        let digest = &self.profile.totals.digest;
        let second = format!(
            "{} threads, {}; seed {}; {} numbers; {ending}; Olifant {}{}",
            grouped(self.profile.threads.len() as u64),
            placement(run),
            run.seed,
            evidence(run.evidence),
            run.version,
            if digest.is_empty() { String::new() } else { format!("; digest {digest}") },
        );
        let room = width.saturating_sub(1);
        let mut lines = vec![format!(" {}", elide(&first, room))];
        lines.extend(wrap(&second, room).iter().map(|line| format!(" {line}")));
        lines
    }

    /// The source of a code address as `function (file:line)`; empty if unknown.
    fn place(&self, code: u64) -> String {
        let known = &self.profile.facts.places;
        let frame = match known.binary_search_by_key(&code, |place| place.code) {
            Ok(at) => Some(known[at].frame.clone()),
            Err(_) if code == 0 => None,
            Err(_) => self.locate.and_then(|locate| locate(code)),
        };
        match frame {
            Some(frame) if frame.file.is_empty() => frame.function,
            Some(frame) if frame.line == 0 => {
                format!("{} ({})", frame.function, crate::text::base_name(&frame.file))
            }
            Some(frame) => {
                format!("{} ({}:{})", frame.function, crate::text::base_name(&frame.file), frame.line)
            }
            None => String::new(),
        }
    }
}

/// The word for a class of sharing, as in the profile file.
fn sharing(sharing: Sharing) -> &'static str {
    match sharing {
        Sharing::True => "true",
        Sharing::False => "false",
        Sharing::Mixed => "mixed",
        Sharing::Migratory => "migratory",
        Sharing::ProducerConsumer => "producer-consumer",
        Sharing::ReadOnly => "read-only",
    }
}

/// The line that sums up what a table leaves out.
fn and_more(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!(" and {count} more {what}"))
}
