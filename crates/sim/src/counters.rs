//! What the simulator counts per processor and per node.

use crate::network::UnitCounts;

/// Counts of one processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CpuCounters {
    /// Instructions.
    pub instructions: u64,
    /// Loads.
    pub reads: u64,
    /// Stores.
    pub writes: u64,
    /// TLB misses.
    pub tlb_misses: u64,
    /// First-level misses.
    pub level1_misses: u64,
    /// Second-level misses: transactions that fetched a line.
    pub level2_misses: u64,
    /// Transactions that only obtained permission to write.
    pub upgrades: u64,
    /// Modified lines written back.
    pub write_backs: u64,
    /// Cycles with nothing to run.
    pub idle_cycles: u64,
}

/// Counts of one node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Transactions of the node's own processors, write-backs included.
    pub transactions: u64,
    /// Of those, the ones whose home is another node.
    pub remote_transactions: u64,
    /// Cycles in which the bus was busy.
    pub bus_busy_cycles: u64,
    /// What passed the coherence unit.
    pub unit: UnitCounts,
    /// Pages in use that live here.
    pub pages: u64,
}
