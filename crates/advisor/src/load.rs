//! What a placement costs: remote accesses and packets counted, and the work of buses, units and processors from
//! which [`crate::queue`] predicts the time.
//!
//! The model, per transaction of a processor on node a to a page on node h, with the machine's own figures:
//! - a fetch occupies the bus of a for a line; a remote one also for its address, the bus of h for a line, and both
//!   coherence units for two packets each. It delays by the local memory latency; a remote one also by four unit passages and the links;
//! - an upgrade occupies buses for an address only, otherwise like a fetch without the memory latency;
//! - a write-back occupies buses for a line and each unit for one packet; nobody waits for it.
//!
//! Invalidations and transfers from other caches depend on who holds copies, not on where pages live: the packets that
//! the profile counted beyond those above are taken to change as the sharing between threads on different nodes does.
//! Left out: link bandwidth, and the buses' part in those transfers.

use crate::demand::Entry;
use crate::layout::Layout;
use crate::queue::Work;
use olifant_machine::{BytesPerSecond, Machine};
use olifant_opium::profile::CpuTotals;

/// Seconds that transactions take on this machine.
pub(crate) struct Costs {
    /// Bus time of a line.
    line: f64,
    /// Bus time of an address.
    address: f64,
    /// Unit time of a packet.
    packet: f64,
    /// Local latency beyond the bus time.
    memory: f64,
    /// Latency of four unit passages beyond the units' busy time.
    passages: f64,
}

impl Costs {
    /// Reads the machine's figures.
    pub fn new(machine: &Machine) -> Costs {
        let BytesPerSecond(rate) = machine.memory.bandwidth;
        let line = if rate > 0.0 { machine.processor.l2.line.0 as f64 / rate } else { 0.0 };
        let packet = machine.coherence.occupancy.0 * 1e-9;
        let passage = (machine.coherence.latency.0 * 1e-9 - packet).max(0.0);
        Costs {
            line,
            address: machine.memory.address_only.0 * 1e-9,
            packet,
            memory: (machine.memory.latency.0 * 1e-9 - line).max(0.0),
            passages: 4.0 * passage,
        }
    }
}

/// Counters and work of one placement.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    /// Accesses whose page lives on another node.
    pub remote: f64,
    /// Network packets that they cause at least.
    pub packets: f64,
    /// All accesses.
    pub transactions: f64,
    /// Work of processors (customers) and of buses and units (centres: buses first, then units).
    pub work: Work,
}

impl Load {
    /// Nothing yet, for so many teams.
    pub fn new(teams: usize, layout: &Layout) -> Load {
        Load { remote: 0.0, packets: 0.0, transactions: 0.0, work: Work::new(teams, 2 * layout.len()) }
    }

    /// Adds a share of transactions of a team, from its node to a page's home. Returns how many were remote.
    pub fn add(
        &mut self,
        team: usize,
        (from, home): (usize, usize),
        entry: &Entry,
        share: f64,
        costs: &Costs,
        layout: &Layout,
    ) -> f64 {
        let nodes = layout.len();
        let fetches = entry.fetches() as f64 * share;
        let upgrades = entry.upgrades as f64 * share;
        let write_backs = entry.write_backs as f64 * share;
        let transactions = fetches + upgrades + write_backs;
        let bus = fetches * costs.line + upgrades * costs.address;
        let row = &mut self.work.service[team * 2 * nodes..(team + 1) * 2 * nodes];
        self.transactions += transactions;
        row[from] += bus;
        self.work.unawaited[from] += write_backs * costs.line;
        self.work.delay[team] += fetches * costs.memory;
        if from == home {
            return 0.0;
        }
        let units = 2.0 * (fetches + upgrades) * costs.packet;
        // The request of a remote fetch takes the bus for its address before the line comes back over it.
        row[from] += fetches * costs.address;
        row[home] += bus;
        row[nodes + from] += units;
        row[nodes + home] += units;
        self.work.unawaited[home] += write_backs * costs.line;
        self.work.unawaited[nodes + from] += write_backs * costs.packet;
        self.work.unawaited[nodes + home] += write_backs * costs.packet;
        self.work.delay[team] += (fetches + upgrades) * (costs.passages + layout.flight[from * nodes + home]);
        self.remote += transactions;
        self.packets += entry.packets() as f64 * share;
        transactions
    }

    /// Adds what homes don't change: each team's computation in seconds, and packets that go between holders of copies
    /// on different nodes, spread evenly over teams and units.
    pub fn add_fixed(&mut self, compute: &[f64], packets: f64, costs: &Costs, layout: &Layout) {
        let nodes = layout.len();
        let teams = compute.len();
        let mean_flight = layout.flight.iter().sum::<f64>() / (nodes * nodes.saturating_sub(1)).max(1) as f64;
        let per_team = packets / teams.max(1) as f64;
        // A packet passes two units and flies one way.
        let delay = per_team * (costs.passages + mean_flight) / 2.0;
        let service = 2.0 * per_team * costs.packet / nodes.max(1) as f64;
        for (team, &seconds) in compute.iter().enumerate() {
            self.work.compute[team] += seconds;
            self.work.delay[team] += delay;
            for unit in &mut self.work.service[team * 2 * nodes + nodes..(team + 1) * 2 * nodes] {
                *unit += service;
            }
        }
    }
}

/// Seconds of computation per team, from the counters of the cpus it ran on; what cpus without a team did (threads that
/// floated) is spread over all.
pub(crate) fn compute_seconds(machine: &Machine, cpus: &[CpuTotals], team_cpus: &[u16]) -> Vec<f64> {
    let processor = &machine.processor;
    let seconds = |cpu: &CpuTotals| {
        let second_level_hits = cpu.l1_misses.saturating_sub(cpu.l2_misses) as f64;
        let cycles = cpu.instructions as f64 * processor.cpi
            + second_level_hits * processor.l2.hit.0 as f64
            + cpu.tlb_misses as f64 * processor.tlb.miss.0 as f64;
        cycles / processor.clock.0.max(1.0)
    };
    let strangers: f64 = cpus.iter().filter(|cpu| !team_cpus.contains(&cpu.cpu)).map(seconds).sum();
    let spread = strangers / team_cpus.len().max(1) as f64;
    team_cpus
        .iter()
        .map(|&wanted| spread + cpus.iter().find(|cpu| cpu.cpu == wanted).map_or(0.0, seconds))
        .collect()
}
