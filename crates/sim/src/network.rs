//! The network between nodes: coherence units, links, and the packets that cross them.
//!
//! Model: a packet passes the sender's unit, the links of a fixed route (cut-through: every hop adds its latency, the
//! slowest one the time of the packet's length), and the receiver's unit. Units and links are servers with queues.
//! Leaves out: flow control, virtual channels, adaptive routing.

use crate::protocol::Packet;
use crate::timeline::{Occupancy, Timeline};
use olifant_machine::{Link, Machine, NodeId, Routes};

/// What crossed a link so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// Cycles in which the link was busy.
    pub busy_cycles: u64,
}

/// What passed a coherence unit so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnitCounts {
    /// Request packets sent.
    pub requests_out: u64,
    /// Request packets received.
    pub requests_in: u64,
    /// Response packets sent.
    pub responses_out: u64,
    /// Response packets received.
    pub responses_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Cycles in which the unit was busy.
    pub busy_cycles: u64,
}

struct Unit {
    timeline: Timeline,
    occupancy: Occupancy,
    counts: UnitCounts,
}

struct Wire {
    timeline: Timeline,
    /// By size: without and with a line.
    occupancy: [Occupancy; 2],
    /// Whole cycles that a packet of that size takes to pass.
    length: [u64; 2],
    latency: u64,
    counts: LinkCounts,
}

/// The network of one machine.
pub struct Interconnect {
    units: Vec<Unit>,
    wires: Vec<Wire>,
    /// Links of the route from node a to node b, at `a * nodes + b`.
    routes: Vec<Box<[u32]>>,
    unit_latency: u64,
    bytes: [u64; 2],
}

impl Interconnect {
    /// The idle network of `machine`, whose nodes are dense and connected.
    pub fn new(machine: &Machine, routes: &Routes) -> Self {
        let clock = machine.processor.clock;
        let cycles = |link: &Link, bytes| link.bandwidth.time_for(bytes).0 * clock.0 / 1e9;
        let unit = &machine.coherence;
        let sizes = [unit.request, unit.response];
        let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
        Self {
            units: ids
                .iter()
                .map(|_| Unit {
                    timeline: Timeline::default(),
                    occupancy: Occupancy::from_cycles(unit.occupancy.0 * clock.0 / 1e9),
                    counts: UnitCounts::default(),
                })
                .collect(),
            wires: machine
                .network
                .links
                .iter()
                .map(|link| Wire {
                    timeline: Timeline::default(),
                    occupancy: sizes.map(|bytes| Occupancy::from_cycles(cycles(link, bytes))),
                    length: sizes.map(|bytes| link.bandwidth.time_for(bytes).to_cycles(clock).0),
                    latency: link.latency.to_cycles(clock).0,
                    counts: LinkCounts::default(),
                })
                .collect(),
            routes: ids
                .iter()
                .flat_map(|&from| ids.iter().map(move |&to| (from, to)))
                .map(|(from, to)| {
                    routes
                        .links(from, to)
                        .iter()
                        .map(|&link| u32::try_from(link).unwrap_or(u32::MAX))
                        .collect()
                })
                .collect(),
            unit_latency: unit.latency.to_cycles(clock).0,
            bytes: sizes.map(|bytes| bytes.0),
        }
    }

    /// Sends a packet at `time` and returns when the receiver has it. Within a node nothing is sent.
    pub fn send(&mut self, from: u16, to: u16, packet: Packet, time: u64) -> u64 {
        if from == to {
            return time;
        }
        let is_response = packet == Packet::Data;
        let size = usize::from(matches!(packet, Packet::Data | Packet::CarryHome));
        let bytes = self.bytes[size];
        let mut time = self.pass_unit(from, time);
        let sent = &mut self.units[usize::from(from)].counts;
        sent.bytes_out += bytes;
        *if is_response { &mut sent.responses_out } else { &mut sent.requests_out } += 1;
        let mut length = 0;
        for &link in &self.routes[usize::from(from) * self.units.len() + usize::from(to)] {
            let wire = &mut self.wires[link as usize];
            time += wire.timeline.reserve(time, &mut wire.occupancy[size]) + wire.latency;
            wire.counts.packets += 1;
            wire.counts.bytes += bytes;
            length = length.max(wire.length[size]);
        }
        let received = &mut self.units[usize::from(to)].counts;
        received.bytes_in += bytes;
        *if is_response { &mut received.responses_in } else { &mut received.requests_in } += 1;
        self.pass_unit(to, time + length)
    }

    /// What passed the unit of a node.
    pub fn unit(&self, node: usize) -> UnitCounts {
        let unit = &self.units[node];
        UnitCounts { busy_cycles: unit.timeline.busy_cycles(), ..unit.counts }
    }

    /// What crossed each link, in the machine's order.
    pub fn links(&self) -> impl Iterator<Item = LinkCounts> + '_ {
        self.wires.iter().map(|wire| LinkCounts { busy_cycles: wire.timeline.busy_cycles(), ..wire.counts })
    }

    fn pass_unit(&mut self, node: u16, time: u64) -> u64 {
        let unit = &mut self.units[usize::from(node)];
        time + unit.timeline.reserve(time, &mut unit.occupancy) + self.unit_latency
    }
}
