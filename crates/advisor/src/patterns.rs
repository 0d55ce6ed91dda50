//! Patterns: what stands out in a profile, each by its name, with what it costs and what to do. For a person who reads a report;
//! the plan is made without them.
//!
//! A pattern must matter: it takes [`LEAST_SHARE`] of the time of the threads concerned. A line that moves costs the machine's remote
//! latency each time, a remote access likewise, waiting for a lock what was measured. What cannot be told apart by counts
//! alone is left out; docs/method.md says how each pattern is recognised.

use olifant_machine::Machine;
use olifant_opium::facts::Lock;
use olifant_opium::map::{GranuleMap, MapCell};
use olifant_opium::profile::{Accesses, AreaKind, ContestedLine, Profile, Sharing};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Share of the time of its threads that a pattern must take.
const LEAST_SHARE: f64 = 0.005;
/// An area whose first toucher brought in this share of its pages was initialised by it.
const MOST_PAGES: f64 = 0.9;
/// A part of an area is a node's own if the node makes this share of its transactions.
const OWN: f64 = 0.75;
/// An area is used in bands if this share of its transactions is in parts of one node's own.
const IN_BANDS: f64 = 0.6;
/// Lines fetched per line and node must reach this mean before a copy, which fetches each line once, saves anything.
const LEAST_READS_PER_COPY: u64 = 2;

/// The name of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatternKind {
    /// Threads use different words of a line.
    FalseSharing,
    /// Threads change the same words in turn.
    Migratory,
    /// Some threads write what others read.
    ProducerConsumer,
    /// Threads use the same words in no order.
    TrueSharing,
    /// One thread touched first what the nodes then use part by part.
    MasterInitialised,
    /// What all only read lives on one node.
    ReadOnlyShared,
    /// Threads wait for a lock.
    ContendedLock,
}

impl PatternKind {
    /// For tables and programs.
    pub fn word(self) -> &'static str {
        match self {
            PatternKind::FalseSharing => "false sharing",
            PatternKind::Migratory => "migratory data",
            PatternKind::ProducerConsumer => "producer and consumers",
            PatternKind::TrueSharing => "true sharing",
            PatternKind::MasterInitialised => "master-initialised, used in bands",
            PatternKind::ReadOnlyShared => "read-only, shared by all",
            PatternKind::ContendedLock => "contended lock",
        }
    }
}

/// Something that stands out.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Index of the area.
    pub area: u32,
    /// The fields or the area concerned.
    pub what: String,
    /// Share of the time of its threads that it takes, 0 to 1.
    pub share: f64,
    /// What was seen, and what to do.
    pub advice: String,
}

/// What stands out, the most costly first. A profile whose machine cannot be read has nothing that does, as costs are unknown.
pub fn patterns(profile: &Profile, map: &GranuleMap) -> Vec<Pattern> {
    let Ok(machine) = Machine::from_toml(&profile.run.machine_toml) else { return Vec::new() };
    let finder = Finder::new(profile, &machine);
    let mut found = finder.lines();
    found.extend(finder.areas(map));
    found.extend(profile.facts.locks.iter().filter_map(|lock| finder.lock(lock)));
    found.retain(|pattern| pattern.share >= LEAST_SHARE);
    found.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.kind.cmp(&b.kind)).then(a.area.cmp(&b.area)));
    found
}

struct Finder<'p> {
    profile: &'p Profile,
    /// Cycles of a thread, on average.
    cycles: f64,
    /// Cycles of one remote access.
    remote_cycles: f64,
    line_bytes: u64,
}

impl<'p> Finder<'p> {
    fn new(profile: &'p Profile, machine: &Machine) -> Self {
        let run: u64 = profile.threads.iter().map(|thread| thread.ended.saturating_sub(thread.started)).sum();
        let cycles = run as f64 / profile.threads.len().max(1) as f64;
        let latency_ns = machine.memory.latency.0 + 4.0 * machine.coherence.latency.0;
        Finder {
            profile,
            cycles: cycles.max(1.0),
            remote_cycles: latency_ns * 1e-9 * machine.processor.clock.0,
            line_bytes: machine.processor.l2.line.0,
        }
    }

    /// What remote accesses of so many threads cost them.
    fn share(&self, remote: u64, threads: usize) -> f64 {
        remote as f64 * self.remote_cycles / (self.cycles * threads.max(1) as f64)
    }

    /// Patterns of contested lines, by area and class.
    fn lines(&self) -> Vec<Pattern> {
        let mut groups: BTreeMap<(u32, PatternKind), Vec<&ContestedLine>> = BTreeMap::new();
        for line in &self.profile.contested {
            // Lines of locks are the lock's affair.
            if let Some(kind) = kind_of(line.sharing).filter(|_| !self.holds_lock(line)) {
                groups.entry((line.area, kind)).or_default().push(line);
            }
        }
        groups.into_iter().map(|((area, kind), lines)| self.line_pattern(area, kind, &lines)).collect()
    }

    fn line_pattern(&self, area: u32, kind: PatternKind, lines: &[&ContestedLine]) -> Pattern {
        let transfers = lines.iter().map(|line| line.transfers).sum();
        // They stand in the order of transfers.
        let worst = lines[0];
        let fields: Vec<&str> = worst.fields.iter().map(|field| field.name.as_str()).collect();
        let what = if fields.is_empty() {
            format!("{} {:+}", self.name(area), worst.offset)
        } else {
            fields.join(", ")
        };
        let count = if lines.len() == 1 { "a line".to_owned() } else { format!("{} lines", lines.len()) };
        let users: BTreeSet<u16> = lines.iter().flat_map(|line| &line.by).map(|by| by.thread).collect();
        let users: Vec<u16> = users.into_iter().collect();
        let share = self.share(transfers, users.len());
        let users = crate::reason::threads(&users);
        let bytes = worst.bytes;
        let advice = match kind {
            PatternKind::FalseSharing => format!(
                "{count} moved {transfers} times between {users}, which use different words: pad and align each thread's part to {bytes} bytes"
            ),
            PatternKind::Migratory => format!(
                "{count} moved {transfers} times as {users} change the same words in turn: keep a part per thread and combine, or let one node do the work"
            ),
            PatternKind::ProducerConsumer => format!(
                "{count} moved {transfers} times between a writer and its readers ({users}): put them on one node, or write less often"
            ),
            _ => format!(
                "{count} moved {transfers} times as {users} use the same words: use them less often, or keep a part per thread and combine"
            ),
        };
        Pattern { kind, area, what, share, advice }
    }

    /// Patterns of areas that one thread initialised.
    fn areas(&self, map: &GranuleMap) -> Vec<Pattern> {
        let mut cells: BTreeMap<u32, Vec<&MapCell>> = BTreeMap::new();
        for cell in &map.cells {
            cells.entry(cell.area).or_default().push(cell);
        }
        cells.into_iter().filter_map(|(area, cells)| self.area_pattern(area, &cells)).collect()
    }

    fn area_pattern(&self, area: u32, cells: &[&MapCell]) -> Option<Pattern> {
        let kind = self.profile.areas.get(area as usize)?.kind;
        if matches!(kind, AreaKind::Stack | AreaKind::Other) {
            return None;
        }
        let initialiser = self.initialiser(area);
        let use_of = AreaUse::of(cells, initialiser.as_ref().map(|(thread, _)| *thread));
        let share = self.share(use_of.remote, use_of.threads.len());
        let nodes = use_of.by_node.values().filter(|count| **count * 20 > use_of.all).count();
        if share < LEAST_SHARE || nodes < 2 {
            return None;
        }
        let what = self.name(area);
        let remote = use_of.remote;
        let lines = self.profile.areas[area as usize].bytes / self.line_bytes;
        // Filled once, by one thread.
        let is_read_only =
            use_of.written <= lines && use_of.written_back <= lines && use_of.writers.len() <= 1;
        if is_read_only {
            // Each copy reads every line once itself.
            if use_of.remote < LEAST_READS_PER_COPY * lines * (nodes as u64 - 1) {
                return None;
            }
            let advice = format!(
                "{nodes} nodes read it, nobody changes it, and {remote} reads left their node: a copy per node (rset_replicate) makes them local"
            );
            return Some(Pattern { kind: PatternKind::ReadOnlyShared, area, what, share, advice });
        }
        let (thread, place) = initialiser?;
        let is_in_bands = use_of.own as f64 >= IN_BANDS * use_of.later as f64 && use_of.owners >= 2;
        is_in_bands.then(|| {
            let advice = format!(
                "thread {thread} touched all of it first{place}, then {} nodes use parts of their own, {remote} times from afar: let each thread initialise its part, or apply a plan",
                use_of.owners
            );
            Pattern { kind: PatternKind::MasterInitialised, area, what, share, advice }
        })
    }

    /// The thread that brought nearly all pages of an area into memory, and where, in words.
    fn initialiser(&self, area: u32) -> Option<(u16, String)> {
        let facts = &self.profile.facts;
        let touches = || facts.first_touches.iter().filter(|touch| touch.area == area);
        let all: u64 = touches().map(|touch| touch.pages).sum();
        let mut by_thread: BTreeMap<u16, u64> = BTreeMap::new();
        touches().for_each(|touch| *by_thread.entry(touch.thread).or_default() += touch.pages);
        let (thread, pages) =
            by_thread.into_iter().max_by_key(|(thread, pages)| (*pages, Reverse(*thread)))?;
        if (pages as f64) < MOST_PAGES * all as f64 {
            return None;
        }
        let code = touches().find(|touch| touch.thread == thread)?.code;
        let frame = facts.places.iter().find(|place| place.code == code).map(|place| &place.frame);
        let place = frame.map_or(String::new(), |frame| {
            let file = frame.file.rsplit('/').next().unwrap_or_default();
            let line = if frame.line == 0 { String::new() } else { format!(":{}", frame.line) };
            format!(" in {} ({file}{line})", frame.function)
        });
        Some((thread, place))
    }

    fn lock(&self, lock: &Lock) -> Option<Pattern> {
        let area = lock.area?;
        let what =
            if lock.offset == 0 { self.name(area) } else { format!("{} +{}", self.name(area), lock.offset) };
        let local = lock.by_node.iter().find(|(node, _)| *node == lock.home).map_or(0, |(_, count)| *count);
        let far = 100 * (lock.acquisitions - local.min(lock.acquisitions)) / lock.acquisitions.max(1);
        let advice = format!(
            "{} of {} acquisitions waited, {} cycles each, and {} times it went to another node; it lives on node {}, and {far} % of its users elsewhere: hold it more shortly, split it, or keep its users on one node",
            lock.contended,
            lock.acquisitions,
            lock.wait_cycles / lock.contended.max(1),
            lock.transfers,
            lock.home
        );
        let share = lock.wait_cycles as f64 / (self.cycles * self.profile.threads.len().max(1) as f64);
        Some(Pattern { kind: PatternKind::ContendedLock, area, what, share, advice })
    }

    /// Whether a contested line holds a lock.
    fn holds_lock(&self, line: &ContestedLine) -> bool {
        let first = line.offset;
        let holds = |lock: &Lock| {
            let offset = i64::try_from(lock.offset).unwrap_or(i64::MAX);
            lock.area == Some(line.area) && (first..first + i64::from(line.bytes)).contains(&offset)
        };
        self.profile.facts.locks.iter().any(holds)
    }

    fn name(&self, area: u32) -> String {
        self.profile.areas[area as usize].name.clone()
    }
}

/// The pattern of a class of sharing; lines that nobody writes are none.
fn kind_of(sharing: Sharing) -> Option<PatternKind> {
    match sharing {
        Sharing::False | Sharing::Mixed => Some(PatternKind::FalseSharing),
        Sharing::Migratory => Some(PatternKind::Migratory),
        Sharing::ProducerConsumer => Some(PatternKind::ProducerConsumer),
        Sharing::True => Some(PatternKind::TrueSharing),
        Sharing::ReadOnly => None,
    }
}

/// How an area is used.
#[derive(Default)]
struct AreaUse {
    all: u64,
    remote: u64,
    /// Lines fetched to write, and permissions to write.
    written: u64,
    written_back: u64,
    writers: BTreeSet<u16>,
    threads: BTreeSet<u16>,
    /// Transactions of others than the thread that initialised it.
    later: u64,
    by_node: BTreeMap<u16, u64>,
    /// Of the later ones, those in parts that are one node's own.
    own: u64,
    /// Nodes with parts of their own.
    owners: usize,
}

impl AreaUse {
    fn of(cells: &[&MapCell], initialiser: Option<u16>) -> Self {
        let mut sums = AreaUse::default();
        let mut owners = BTreeMap::new();
        for cell in cells {
            let mut by_node: BTreeMap<u16, u64> = BTreeMap::new();
            for by in &cell.by {
                let count = transactions(by);
                if Some(by.thread) != initialiser {
                    *by_node.entry(by.node).or_default() += count;
                    sums.later += count;
                }
                *sums.by_node.entry(by.node).or_default() += count;
                sums.all += count;
                sums.remote += if by.node == cell.home { 0 } else { count };
                sums.written += by.writes + by.upgrades;
                sums.written_back += by.write_backs;
                if by.writes + by.upgrades + by.write_backs > 0 {
                    sums.writers.insert(by.thread);
                }
                sums.threads.insert(by.thread);
            }
            let all: u64 = by_node.values().sum();
            if let Some((node, most)) =
                by_node.into_iter().max_by_key(|(node, count)| (*count, Reverse(*node)))
                && most as f64 >= OWN * all as f64
            {
                sums.own += all;
                *owners.entry(node).or_insert(0) += all;
            }
        }
        sums.owners = owners.values().filter(|count| **count * 20 > sums.own).count();
        sums
    }
}

fn transactions(by: &Accesses) -> u64 {
    by.reads + by.writes + by.upgrades + by.write_backs
}
