//! What a page says, as one JSON object: all but the heat map's numbers. `script/` reads it; the names are the page's own
//! affair and may change with it. JavaScript's numbers are exact up to 2^53, which no count comes near; masks and addresses,
//! which do, are texts.

use super::areas::{AreaFacts, RestFacts};
use super::contested::ContestedFacts;
use super::findings::FindingFacts;
use super::heat::MapFacts;
use super::machine::{NodeMatrix, ThreadFacts};
use super::sources::Snippet;
use crate::RunRow;
use olifant_opium::profile::{CpuTotals, LinkTotals, NodeTotals, Totals};
use serde::Serialize;

/// The page.
#[derive(Serialize)]
pub(super) struct Facts<'p> {
    /// The program's file name and its arguments.
    pub(super) command: String,
    pub(super) machine: &'p str,
    pub(super) configuration: &'p str,
    pub(super) seed: u64,
    pub(super) version: &'p str,
    pub(super) granule_bytes: u64,
    /// What came of a tuning; none for a single profile.
    pub(super) verdict: Option<VerdictFacts<'p>>,
    /// One, or before and after.
    pub(super) runs: Vec<RunFacts<'p>>,
    /// Areas with traffic in a run or with a decision, most remote transactions first.
    pub(super) areas: Vec<AreaFacts<'p>>,
    /// What the areas that are left out sum up to.
    pub(super) rest: Option<RestFacts>,
    /// Lines of source, with a few around each.
    pub(super) sources: Vec<Snippet>,
}

/// What came of a tuning.
#[derive(Serialize)]
pub(super) struct VerdictFacts<'p> {
    /// `tuned` or `leave it alone`.
    pub(super) word: &'static str,
    /// Whether the plan made the program faster.
    pub(super) is_tuned: bool,
    /// Why it is to be left alone; empty if it was tuned.
    pub(super) because: &'p str,
    /// Cpus of threads 0, 1, 2, ... in the plan, if it places threads.
    pub(super) thread_plan: Option<&'p str>,
    /// The plan as TOML, if one was applied.
    pub(super) plan: Option<String>,
    /// Seconds of the run on one processor, if there was one.
    pub(super) single_seconds: Option<f64>,
}

/// One run.
#[derive(Serialize)]
pub(super) struct RunFacts<'p> {
    /// `profile`, `before` or `after`.
    pub(super) label: &'static str,
    pub(super) row: RunRow,
    pub(super) totals: &'p Totals,
    pub(super) cpus: &'p [CpuTotals],
    pub(super) nodes: &'p [NodeTotals],
    pub(super) links: &'p [LinkTotals],
    pub(super) threads: Vec<ThreadFacts<'p>>,
    pub(super) matrix: NodeMatrix,
    pub(super) contested: ContestedFacts,
    #[serde(flatten)]
    pub(super) findings: FindingFacts<'p>,
    /// Thread and node of each lane of the heat map.
    pub(super) lanes: Vec<(u16, u16)>,
    /// The areas of the heat map, in the order of its numbers.
    pub(super) maps: Vec<MapFacts>,
}
