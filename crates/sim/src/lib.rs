//! The simulated ccNUMA machine: caches, coherence protocol, buses, links, page tables, and the operating system's
//! scheduler. Pure: one input and seed in, the same bytes out.
//!
//! Way of an access: a hook in the program serves first-level hits by itself in a block that it shares with `level1`
//! (`record` is the contract); everything else comes to [`System::access`], goes through `engine` (TLB, second level)
//! and, if it must, onto the bus as a `transaction` that the `protocol` table governs. Buses, units and links are
//! `timeline`s; `clock` turns latencies into stalls; `system` orders the processors.
//!
//! Where the model departs from hardware, the file that departs says so in its head.

// Tests cast small known numbers.
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod cache;
mod clock;
mod counters;
mod cpu;
mod directory;
mod engine;
mod index;
mod invariants;
mod level1;
mod network;
mod observer;
mod pages;
mod probe;
pub mod protocol;
mod random;
mod record;
mod setup;
pub mod system;
#[cfg(test)]
mod system_tests;
mod threads;
mod timeline;
mod tlb;
mod transaction;

pub use counters::{CpuCounters, NodeCounts};
pub use engine::Engine;
pub use index::index;
pub use network::{LinkCounts, UnitCounts};
pub use observer::{FirstTouch, Observer, Transaction};
pub use pages::{PageInfo, PageTable, Placement, Translation};
pub use random::{Random, mix};
pub use record::{Increment, RECORD_BYTES, Record};
pub use setup::SimError;
pub use system::{Next, Options, SpinEvidence, System, ThreadId};
pub use threads::{Status, Thread};
