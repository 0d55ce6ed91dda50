//! The part of a profile beside the counts by granule: what filters counted, phases of the run, locks, who touched an area
//! first, and where code addresses are in the source. Plain data, in fixed orders, as `profile.rs`.

use crate::board::CardModel;
use crate::filter::By;
use crate::profile::Frame;
use serde::{Deserialize, Serialize};

/// What a run showed beside the counts by granule.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The card that counted.
    pub card: CardModel,
    /// Its filters, in the order of programming; index = filter number.
    pub filters: Vec<FilterRecord>,
    /// Its secondary counters, likewise.
    pub secondaries: Vec<SecondaryRecord>,
    /// Counters that reached their thresholds, in the order of time.
    pub events: Vec<CardEvent>,
    /// Phases of the run, in the order of time; index = phase number.
    pub phases: Vec<Phase>,
    /// Traffic of each phase, ascending by (phase, area, granule, node).
    pub phase_cells: Vec<PhaseCell>,
    /// Locks, those that were waited for longest first.
    pub locks: Vec<Lock>,
    /// Who brought the pages of each area into memory, ascending by area, then most pages first.
    pub first_touches: Vec<FirstTouches>,
    /// Source of the code addresses that the profile names, ascending by address.
    pub places: Vec<Place>,
}

/// What a filter counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterRecord {
    /// Its name.
    pub name: String,
    /// The filter as it was programmed, in the form of `--filter`.
    pub text: String,
    /// Bytes per granule.
    pub granule_bytes: u64,
    /// Kinds and directions that passed, joined by `+`.
    pub kinds: String,
    /// What its accessors are.
    pub by: By,
    /// What it watched: first addresses and bytes, ascending.
    pub ranges: Vec<(u64, u64)>,
    /// Transactions that it counted, those of counters that were cleared since included.
    pub total: u64,
    /// Transactions that it could not count because a counter was full.
    pub lost: u64,
    /// Why it did not watch all that it should.
    pub refused: Option<String>,
    /// Its counters that are not 0, ascending by (address, accessor).
    pub counts: Vec<FilterCount>,
}

/// One counter of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterCount {
    /// First address of the granule.
    pub address: u64,
    /// Number of the node, thread or cpu.
    pub accessor: u16,
    /// Its value.
    pub count: u64,
}

/// What a secondary counter counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondaryRecord {
    /// Its name.
    pub name: String,
    /// In the form of `--secondary`.
    pub text: String,
    /// Its value.
    pub count: u64,
}

/// A counter reached its threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardEvent {
    /// Number of the filter.
    pub filter: u32,
    /// First address of the granule.
    pub address: u64,
    /// Number of the node, thread or cpu.
    pub accessor: u16,
    /// The value reached.
    pub count: u64,
    /// When, in cycles.
    pub time: u64,
}

/// A stretch of the run between barriers, or marked by the program.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The program's mark; empty where barriers begin and end it.
    pub name: String,
    /// Its first cycle.
    pub begin: u64,
    /// Its end.
    pub end: u64,
    /// Times that threads met, at a barrier or a join, up to its end.
    pub stretches: u32,
}

/// Traffic of a node with a stretch of an area in one phase.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCell {
    /// Index into the phases.
    pub phase: u32,
    /// Index into the areas.
    pub area: u32,
    /// First granule of the stretch.
    pub granule: u64,
    /// Granules of the stretch, a power of two.
    pub granules: u64,
    /// The node that made the transactions.
    pub node: u16,
    /// Transactions with granules that live on it.
    pub local: u64,
    /// Transactions with granules that live elsewhere.
    pub remote: u64,
}

/// What kind of lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// A mutex of the C library.
    Mutex,
    /// A spin lock of the C library.
    SpinLock,
    /// A word that threads poll and then take by an atomic operation.
    AtomicSpin,
}

/// A lock, and what it cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// What it is.
    pub kind: LockKind,
    /// Its address.
    pub address: u64,
    /// The area that it lies in.
    pub area: Option<u32>,
    /// Its offset from the area's start.
    pub offset: u64,
    /// Node of the memory that it lies in.
    pub home: u16,
    /// Times that it was taken. An atomic spin lock is known from its first wait on; earlier ones are not counted.
    pub acquisitions: u64,
    /// Of those, the ones that had to wait.
    pub contended: u64,
    /// Cycles that threads waited, all together.
    pub wait_cycles: u64,
    /// Times that it went to a thread on another node than its last holder's.
    pub transfers: u64,
    /// Acquisitions by node, ascending.
    pub by_node: Vec<(u16, u64)>,
}

/// Pages of an area that the same thread touched first at the same place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstTouches {
    /// Index into the areas.
    pub area: u32,
    /// The thread.
    pub thread: u16,
    /// Code address of the access; 0 where the runtime made it.
    pub code: u64,
    /// How many pages.
    pub pages: u64,
}

/// The source of a code address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The address.
    pub code: u64,
    /// Its innermost frame.
    pub frame: Frame,
}
