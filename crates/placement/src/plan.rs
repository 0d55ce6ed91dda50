//! A plan: what goes where. A short text (TOML) that a person can read, edit and keep in version control.
//!
//! An area is matched by where it was allocated (function, file, line), its size and its ordinal among equals, or by
//! the name of a global symbol. Each decision carries its reason and its predicted effect.

use crate::MemoryPolicy;
use olifant_machine::{CpuId, NodeId};

/// What goes where, for one program on one machine configuration.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Plan {
    /// The program it was made for (its file name, for a reader; not matched).
    pub program: String,
    /// The machine it was made for.
    pub machine: String,
    /// The configuration, as `4N4`.
    pub configuration: String,
    /// Thread i runs on `threads[i]`; empty leaves threads to the policy of the run.
    pub threads: Vec<CpuId>,
    /// Areas with a decision, in the order of importance.
    pub areas: Vec<AreaPlan>,
    /// What the advisor expects of the whole plan.
    pub predicted: Option<Prediction>,
}

/// The predicted effect of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Accesses that left their node, before.
    pub remote_before: u64,
    /// The same after the plan is applied.
    pub remote_after: u64,
    /// Expected time as a share of the time before (0.5: twice as fast).
    pub time_ratio: f64,
}

/// The decision for one area (or for all areas that match).
#[derive(Debug, Clone, PartialEq)]
pub struct AreaPlan {
    /// Which area.
    pub area: AreaMatch,
    /// What is done with it.
    pub decision: Decision,
    /// Why, for a person.
    pub reason: String,
    /// Accesses to it that left their node, before.
    pub remote_before: u64,
    /// The same as predicted after.
    pub remote_after: u64,
}

/// How an area is recognised in the next run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AreaMatch {
    /// An allocation by its site.
    Site {
        /// Function that called the allocator.
        function: String,
        /// Source file name; empty if unknown.
        file: String,
        /// Line; 0 if unknown.
        line: u32,
        /// Size in bytes; `None` matches any.
        bytes: Option<u64>,
        /// 0-based ordinal among the allocations of this site and size; `None` matches all.
        ordinal: Option<u32>,
    },
    /// A global array by its symbol.
    Symbol(String),
}

impl core::fmt::Display for AreaMatch {
    /// For a person: `main at ocean.c:210`, with the ordinal where there is one, or the symbol.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            AreaMatch::Symbol(symbol) => f.write_str(symbol),
            AreaMatch::Site { function, file, line, ordinal, .. } => {
                f.write_str(function)?;
                if !file.is_empty() {
                    write!(f, " at {file}:{line}")?;
                }
                ordinal.map_or(Ok(()), |ordinal| write!(f, " #{ordinal}"))
            }
        }
    }
}

/// What is done with an area.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// All of it by one policy.
    Policy(MemoryPolicy),
    /// Runs of pages, from the area's first page on: so many pages on that node. The last run's node also takes pages
    /// beyond the sum.
    Blocks(Vec<Run>),
    /// As many equal parts as nodes are listed, in order, each on its node; cut at the nearest page.
    Parts(Vec<NodeId>),
    /// Read-only after its initialisation: worth a copy per node. Advice; a runtime that cannot replicate stripes it.
    Replicate,
    /// Lines that need padding. Advice to the programmer; nothing is moved.
    Pad,
}

/// So many consecutive pages on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Number of pages.
    pub pages: u64,
    /// Where they live.
    pub node: NodeId,
}
