//! Untuned and tuned side by side: the proof of `olifant tune`.
//!
//! The data is here, with its JSON; `compare.rs` makes it from two profiles and the plan, `table.rs` and `csv.rs` show
//! it.

mod compare;
mod csv;
mod table;

use crate::RunRow;
pub use compare::Comparison;
use serde::Serialize;

/// What came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// The plan made the program faster.
    #[serde(rename = "tuned")]
    Tuned,
    /// There is nothing to gain.
    #[serde(rename = "leave it alone")]
    LeaveItAlone,
}

impl Verdict {
    /// The word in all outputs.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Tuned => "tuned",
            Verdict::LeaveItAlone => "leave it alone",
        }
    }
}

/// The comparison of a run without and a run with a plan. Its JSON is the stable output of `tune`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TuneReport {
    /// Path of the program as given.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Name of the machine.
    pub machine: String,
    /// The configuration, as `4N4`.
    pub configuration: String,
    /// Threads of the program, the main one included.
    pub threads: usize,
    /// The seed.
    pub seed: u64,
    /// What came out.
    pub verdict: Verdict,
    /// Why it is to be left alone, for a person; empty if it was tuned.
    pub because: String,
    /// The run without the plan.
    pub untuned: RunRow,
    /// The run with it; none if no plan was worth a second run.
    pub tuned: Option<RunRow>,
    /// A run on one processor, for the speed-up.
    pub single: Option<RunRow>,
    /// Path of the plan, if it was kept.
    pub plan: Option<String>,
    /// The plan's cpus for threads 0, 1, 2, ..., in the form of `--threads`; none if it leaves threads alone.
    pub thread_plan: Option<String>,
    /// The areas with traffic or a decision, those that mattered most first.
    pub areas: Vec<AreaRow>,
}

/// What happened to an area, or to several that one statement allocated and one decision covers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AreaRow {
    /// Its name: a symbol, or `function (file:line)`.
    pub name: String,
    /// Function that allocated it.
    pub function: Option<String>,
    /// Source file of the allocation, as the compiler knew it.
    pub file: Option<String>,
    /// Line of the allocation.
    pub line: Option<u32>,
    /// Size in bytes, of all together.
    pub bytes: u64,
    /// How many areas this stands for.
    pub count: usize,
    /// Transactions that left their node, without the plan.
    pub remote_before: u64,
    /// The same with the plan; none without a second run.
    pub remote_after: Option<u64>,
    /// What was done: a memory policy, blocks of pages, advice, or `left alone`.
    pub decision: String,
    /// Why.
    pub reason: String,
    /// Text of the source line, if it could be read.
    pub source_line: Option<String>,
}

impl TuneReport {
    /// As one JSON object.
    pub fn json(&self) -> String {
        crate::json(self)
    }
}
