//! What was sampled, as a profile: counts are samples, and a granule's home is where its page was found.

use crate::hotdeck::Cell;
use crate::process::Process;
use crate::random::Random;
use olifant_machine::Machine;
use olifant_opium::facts::Facts;
use olifant_opium::profile::{
    Accesses, CpuTotals, Evidence, Granule, NodeTotals, Profile, RunInfo, Thread, Totals,
};
use std::collections::BTreeMap;

/// What is known of the run besides the samples.
pub struct About<'a> {
    /// The computer.
    pub machine: &'a Machine,
    /// The program as given.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where threads ran, in words.
    pub threads: String,
    /// Where memory lived, in words.
    pub memory: String,
    /// The seed.
    pub seed: u64,
    /// Bytes per granule.
    pub granule_bytes: u64,
    /// When it began, in nanoseconds.
    pub begun_ns: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// The program's exit code.
    pub exit_code: i32,
    /// It was recorded until its end.
    pub is_complete: bool,
}

/// The profile of one process, and what could not be told.
pub fn profile(process: &Process, about: &About) -> (Profile, u64) {
    let sums = process.deck.sums(&mut Random::new(about.seed));
    let clock = about.machine.processor.clock.0;
    // Times of a profile are in cycles of the machine's clock, from the run's start.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive time of less than 2^63 cycles"
    )]
    let cycles = |time_ns: u64| (time_ns.saturating_sub(about.begun_ns) as f64 / 1e9 * clock) as u64;
    let mut granules: BTreeMap<(u32, u64), Granule> = BTreeMap::new();
    let mut totals = Totals { seconds: about.seconds, host_seconds: about.seconds, ..Totals::default() };
    let mut cpus: BTreeMap<u16, CpuTotals> = BTreeMap::new();
    let mut nodes: BTreeMap<u16, NodeTotals> = about
        .machine
        .nodes
        .iter()
        .map(|node| (node.id.0, NodeTotals { node: node.id.0, ..NodeTotals::default() }))
        .collect();
    for node in &about.machine.nodes {
        for cpu in &node.cpus {
            cpus.insert(cpu.0, CpuTotals { cpu: cpu.0, node: node.id.0, ..CpuTotals::default() });
        }
    }
    for ((Cell { area, granule, node }, thread), count) in &sums.counts {
        let home = process.homes.get(granule).copied().flatten().unwrap_or(*node);
        let first = process.space.areas[*area as usize].start / about.granule_bytes;
        let index = (granule / about.granule_bytes).saturating_sub(first);
        let entry = granules.entry((*area, index)).or_insert_with(|| Granule {
            area: *area,
            index,
            home,
            by: Vec::new(),
        });
        totals.reads += count.reads;
        totals.writes += count.writes;
        let accesses = count.reads + count.writes;
        let at = nodes.entry(*node).or_insert_with(|| NodeTotals { node: *node, ..NodeTotals::default() });
        at.transactions += accesses;
        if entry.home != *node {
            at.remote_transactions += accesses;
            totals.remote_transactions += accesses;
        }
        add(&mut entry.by, *thread, *node, count.reads, count.writes);
    }
    for granule in granules.values_mut() {
        granule.by.sort_by_key(|by| (by.thread, by.node));
        if let Some(node) = nodes.get_mut(&granule.home) {
            node.pages += 1;
        }
    }
    let threads = process.threads.iter().map(|thread| Thread {
        started: cycles(thread.started),
        ended: cycles(thread.ended),
        ..thread.clone()
    });
    let areas = process.space.areas.iter().map(|area| {
        let mut area = area.clone();
        area.born = cycles(area.born);
        area.freed = area.freed.map(cycles);
        area
    });
    let profile = Profile {
        facts: Facts::default(),
        run: RunInfo {
            program: about.program.clone(),
            args: about.arguments.clone(),
            machine: about.machine.name.clone(),
            machine_toml: about.machine.to_toml(),
            configuration: about.machine.configuration(),
            thread_policy: about.threads.clone(),
            memory_policy: about.memory.clone(),
            plan: None,
            seed: about.seed,
            evidence: Evidence::Sampled,
            is_complete: about.is_complete,
            exit_code: about.exit_code,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        totals,
        cpus: cpus.into_values().collect(),
        nodes: nodes.into_values().collect(),
        links: Vec::new(),
        threads: threads.collect(),
        modules: process.space.modules(),
        sites: process.space.sites.clone(),
        areas: areas.collect(),
        granule_bytes: about.granule_bytes,
        granules: granules.into_values().collect(),
        contested: Vec::new(),
    };
    (profile, sums.without_area)
}

fn add(by: &mut Vec<Accesses>, thread: u16, node: u16, reads: u64, writes: u64) {
    match by.iter_mut().find(|by| (by.thread, by.node) == (thread, node)) {
        Some(known) => {
            known.reads += reads;
            known.writes += writes;
        }
        None => by.push(Accesses { thread, node, reads, writes, ..Accesses::default() }),
    }
}
