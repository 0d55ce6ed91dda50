//! What the advisor hands back.

use olifant_placement::Plan;

/// A plan with what is expected of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// What goes where; without threads and areas if nothing is to be done.
    pub plan: Plan,
    /// Whether to apply it.
    pub verdict: Verdict,
    /// What is expected of it.
    pub effect: Effect,
    /// What placement cannot mend, and what it could do better with the program's help; the weightiest first.
    pub findings: Vec<Finding>,
}

/// Whether a plan is worth applying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Apply it.
    Tune,
    /// Leave the program alone.
    LeaveAlone {
        /// Why, for a person.
        reason: String,
    },
}

/// The expected effect of the plan on the whole run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Accesses (fetches, upgrades, write-backs) whose page lived on another node.
    pub remote_before: u64,
    /// The same after the plan.
    pub remote_after: u64,
    /// Network packets that these cause at least; invalidations and interventions come on top.
    pub packets_before: u64,
    /// The same after the plan.
    pub packets_after: u64,
    /// All accesses, local and remote.
    pub accesses: u64,
    /// Expected time as a share of the time before.
    pub time_ratio: f64,
}

/// Something a person may want to change in the program. `Display` gives it as a sentence.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Threads use different words of one line, at least one of them writing.
    FalseSharing(Contention),
    /// Threads use the same words of a line, at least one of them writing.
    TrueSharing(Contention),
    /// Data that are only read, from several nodes.
    ReadOnly {
        /// The area's name.
        area: String,
        /// Bytes that a copy costs on each node.
        bytes_per_node: u64,
        /// Accesses to it that left their node.
        remote: u64,
    },
}

/// Contested lines of one area.
#[derive(Debug, Clone, PartialEq)]
pub struct Contention {
    /// The area's name.
    pub area: String,
    /// Lines of the area that are contested in this way.
    pub lines: usize,
    /// Times that they moved.
    pub transfers: u64,
    /// Offset of the worst line from the area's first byte; negative if it begins before.
    pub offset: i64,
    /// Bytes per line.
    pub line_bytes: u32,
    /// Who uses the worst line, ascending by thread.
    pub users: Vec<LineUser>,
    /// Whether some words are shared besides.
    pub is_mixed: bool,
}

/// One thread's use of a contested line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineUser {
    /// The thread.
    pub thread: u16,
    /// Bytes of the line that it reads, as inclusive ranges.
    pub reads: Vec<(u32, u32)>,
    /// Bytes that it writes, likewise.
    pub writes: Vec<(u32, u32)>,
    /// Where in the program: function and line if known, else object and offset, else the address.
    pub code: String,
}
