//! What the plain machine must know of its caches and pages.

use olifant_machine::Machine;

/// Sizes in bytes, and numbers of sets.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub page: u64,
    pub line: u64,
    pub level1_line: u64,
    pub level1_sets: u64,
    pub level2_sets: u64,
    pub tlb_sets: u64,
}

impl Sizes {
    pub fn new(machine: &Machine) -> Self {
        let processor = &machine.processor;
        let (level1, level2, tlb) = (&processor.l1, &processor.l2, &processor.tlb);
        // First-level lines are simulated with at least 32 bytes.
        let level1_line = level1.line.0.max(32);
        Self {
            page: machine.os.page.0,
            line: level2.line.0,
            level1_line,
            level1_sets: level1.size.0 / u64::from(level1.ways) / level1_line,
            level2_sets: level2.size.0 / u64::from(level2.ways) / level2.line.0,
            tlb_sets: u64::from(tlb.entries / tlb.ways),
        }
    }
}
