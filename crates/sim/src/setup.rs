//! From a machine to the numbers that the engine computes with, and why some machines cannot be simulated.

use crate::pages::{Geometry, Translation};
use olifant_machine::{LawBroken, Machine, NodeId, Routes, Unreachable};

/// Why a machine cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The machine breaks a law.
    #[error("machine {machine}: {law}")]
    Law {
        /// Its name.
        machine: String,
        /// The law.
        law: LawBroken,
    },
    /// Its nodes are not all connected.
    #[error("machine {machine}: {source}")]
    Unreachable {
        /// Its name.
        machine: String,
        /// The pair.
        source: Unreachable,
    },
    /// The engine does not handle a value.
    #[error("machine {machine}: {key} = {value}: the simulator handles {handled}")]
    Unsupported {
        /// Its name.
        machine: String,
        /// The key of the machine file.
        key: &'static str,
        /// Its value.
        value: u64,
        /// What would be handled.
        handled: &'static str,
    },
    /// A policy names a cpu or node that the machine lacks.
    #[error("{what}: machine {machine} has {present}")]
    Absent {
        /// What was asked.
        what: String,
        /// The machine's name.
        machine: String,
        /// What there is.
        present: String,
    },
}

/// Sizes and times of a machine, in the engine's units.
#[derive(Debug, Clone)]
pub struct Costs {
    /// Stall of a read that hits the second level, beyond a first-level hit, in cycles.
    pub level2_hit: u64,
    /// Page walk, in cycles.
    pub tlb_miss: u64,
    /// Idle time from a miss to its data out of the node's memory, in cycles.
    pub memory: u64,
    /// The same out of another cache of a node.
    pub intervention: u64,
    /// Bus time of a transaction without data.
    pub address_only: u64,
    /// Bus time of a line.
    pub line_transfer: u64,
    /// The same two with fractions.
    pub address_only_occupancy: f64,
    /// Bus time of a line, with fractions.
    pub line_occupancy: f64,
    /// Whether a read of an uncached line gets it exclusive.
    pub exclusive_on_read: bool,
}

/// Shape of the address space and the caches.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// log2 of the page size.
    pub page_bits: u32,
    /// log2 of the coherence line size.
    pub line_bits: u32,
    /// log2 of lines per page.
    pub page_line_bits: u32,
    /// Second-level sets minus one.
    pub level2_set_mask: usize,
    /// First-level sets.
    pub level1_sets: usize,
    /// First-level line size in bytes.
    pub level1_line: usize,
}

/// Smallest first-level line that the records can hold; a machine with smaller ones is simulated with this.
const LEVEL1_LINE_MIN: u64 = 32;

impl Shape {
    /// The shape of a machine that obeys its laws.
    pub fn new(machine: &Machine) -> Result<Self, SimError> {
        let unsupported = |key, value, handled| SimError::Unsupported {
            machine: machine.name.clone(),
            key,
            value,
            handled,
        };
        let (level1, level2) = (&machine.processor.l1, &machine.processor.l2);
        let level1_line = level1.line.0.max(LEVEL1_LINE_MIN);
        if u64::from(level1.ways) > level1_line / 8 {
            return Err(unsupported(
                "processor.l1.ways",
                level1.ways.into(),
                "at most one way per 8 bytes of line",
            ));
        }
        let level1_sets = level1.size.0 / u64::from(level1.ways) / level1_line;
        if level1_sets * level1_line < 1 << crate::record::TAG_SHIFT {
            return Err(unsupported("processor.l1.size", level1.size.0, "ways of at least 1 KiB"));
        }
        let (page, line) = (machine.os.page.0, level2.line.0);
        if line < level1_line || page < line {
            return Err(unsupported(
                "processor.l2.line",
                line,
                "lines from the first level's size to a page",
            ));
        }
        let level2_sets = level2.size.0 / u64::from(level2.ways) / line;
        if !level2_sets.is_power_of_two() || !level1_sets.is_power_of_two() {
            return Err(unsupported("processor.l2.size", level2.size.0, "power-of-two numbers of sets"));
        }
        #[allow(clippy::cast_possible_truncation)]
        Ok(Self {
            page_bits: page.trailing_zeros(),
            line_bits: line.trailing_zeros(),
            page_line_bits: page.trailing_zeros() - line.trailing_zeros(),
            level2_set_mask: level2_sets as usize - 1,
            level1_sets: level1_sets as usize,
            level1_line: level1_line as usize,
        })
    }

    /// Line of an address on a page with this translation.
    #[allow(clippy::cast_possible_truncation)]
    #[inline]
    pub fn line(&self, address: u64, translation: Translation) -> u32 {
        let offset = (address & ((1 << self.page_bits) - 1)) >> self.line_bits;
        translation.slot() << self.page_line_bits | offset as u32
    }

    /// Second-level set of a line of a page with this colour.
    #[inline]
    pub fn level2_set(&self, colour: u16, line: u32) -> usize {
        let offset = line as usize & ((1 << self.page_line_bits) - 1);
        (usize::from(colour) << self.page_line_bits | offset) & self.level2_set_mask
    }
}

/// The times of a machine.
pub fn costs(machine: &Machine) -> Costs {
    let clock = machine.processor.clock;
    let line = machine.memory.bandwidth.time_for(machine.processor.l2.line);
    Costs {
        level2_hit: machine.processor.l2.hit.0.saturating_sub(machine.processor.l1.hit.0),
        tlb_miss: machine.processor.tlb.miss.0,
        memory: machine.memory.latency.to_cycles(clock).0,
        intervention: machine.memory.intervention.to_cycles(clock).0,
        address_only: machine.memory.address_only.to_cycles(clock).0,
        line_transfer: line.to_cycles(clock).0,
        address_only_occupancy: machine.memory.address_only.0 * clock.0 / 1e9,
        line_occupancy: line.0 * clock.0 / 1e9,
        exclusive_on_read: machine.coherence.exclusive_on_read,
    }
}

/// What the page table needs of a machine: colours, frames per node, nodes by distance.
pub fn geometry(machine: &Machine, routes: &Routes) -> Geometry {
    let page = machine.os.page.0;
    let level2 = &machine.processor.l2;
    let colours = (level2.size.0 / u64::from(level2.ways) / page).clamp(1, u64::from(u16::MAX));
    let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
    #[allow(clippy::cast_possible_truncation)]
    let nearest = ids
        .iter()
        .map(|&from| {
            let mut order: Vec<u16> = (0..ids.len() as u16).collect();
            order.sort_by_key(|&to| (routes.links(from, ids[usize::from(to)]).len(), to));
            order
        })
        .collect();
    #[allow(clippy::cast_possible_truncation)]
    Geometry {
        page_bits: page.trailing_zeros(),
        colours: colours as u16,
        capacity: machine.nodes.iter().map(|node| node.memory.0 / page).collect(),
        nearest,
        frames: machine.os.frames,
    }
}
