//! The areas of a page: of one run, or the same areas of two runs side by side, with what a plan did and why.

use super::census::Census;
use crate::decision;
use crate::identity::{frames, kind, matching};
use crate::text::cut;
use olifant_opium::profile::{Area, Frame, Profile};
use olifant_placement::Plan;
use serde::Serialize;
use std::cmp::Reverse;

/// The longest name; C++ templates make longer ones, which no reader wants.
pub(super) const LONGEST_NAME: usize = 300;
/// Frames of a call path.
const MOST_FRAMES: usize = 12;

/// One area.
#[derive(Serialize)]
pub(super) struct AreaFacts<'p> {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) ordinal: u32,
    pub(super) bytes: u64,
    /// First address in the first run that has it, as `0x4000`.
    pub(super) start: String,
    /// Thread that allocated it.
    pub(super) thread: u16,
    /// Cycle of its end; none if it lived to the end.
    pub(super) freed: Option<u64>,
    /// Call path of its allocation, innermost first.
    pub(super) frames: Vec<&'p Frame>,
    /// What the plan decided, and why.
    pub(super) decision: Option<DecisionFacts<'p>>,
    /// By run; none where the run does not have it.
    pub(super) runs: Vec<Option<AreaTraffic>>,
}

/// What a plan decided for an area.
#[derive(Serialize)]
pub(super) struct DecisionFacts<'p> {
    pub(super) what: String,
    pub(super) reason: &'p str,
}

/// An area's transactions in one run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct AreaTraffic {
    pub(super) local: u64,
    pub(super) remote: u64,
    /// Transactions by the accessor's node; nodes as in the run's matrix.
    pub(super) by_node: Vec<u64>,
    /// Granules by home, likewise.
    pub(super) homes: Vec<u64>,
}

/// What is left out, summed up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RestFacts {
    pub(super) areas: usize,
    /// Remote transactions by run.
    pub(super) remote: Vec<u64>,
}

/// An area by its ids in the runs.
type Ids = Vec<Option<usize>>;

/// Areas with traffic or a decision, in the page's order, as ids by run: the most remote transactions of any run first.
/// At most `most` of them; the rest is summed up.
pub(super) fn choose(
    profiles: &[&Profile],
    censuses: &[Census],
    plan: Option<&Plan>,
    most: usize,
) -> (Vec<Ids>, Option<RestFacts>) {
    let count =
        |ids: &Ids, run: usize| ids[run].map_or_else(Default::default, |id| censuses[run].areas[id].sum());
    let runs = 0..profiles.len();
    let is_shown = |ids: &Ids| {
        let is_decided = |id| {
            plan.is_some_and(|plan| decision::entry_for(plan, profiles[0], &profiles[0].areas[id]).is_some())
        };
        runs.clone().any(|run| count(ids, run).all() > 0) || ids[0].is_some_and(is_decided)
    };
    let mut chosen: Vec<Ids> = pairs(profiles).into_iter().filter(is_shown).collect();
    let remote = |ids: &Ids| runs.clone().map(|run| count(ids, run).remote).max();
    let all = |ids: &Ids| runs.clone().map(|run| count(ids, run).all()).max();
    // Stable: among equals the order of birth.
    chosen.sort_by_cached_key(|ids| Reverse((remote(ids), all(ids))));
    let left_out = chosen.split_off(most.min(chosen.len()));
    let rest = (!left_out.is_empty()).then(|| RestFacts {
        areas: left_out.len(),
        remote: runs.clone().map(|run| left_out.iter().map(|ids| count(ids, run).remote).sum()).collect(),
    });
    (chosen, rest)
}

/// The areas of all runs, each with its ids; what only a later run has comes last.
fn pairs(profiles: &[&Profile]) -> Vec<Ids> {
    match profiles {
        [before, after] => {
            let matched = matching(before, after);
            let mut is_new = vec![true; after.areas.len()];
            matched.iter().flatten().for_each(|area| is_new[*area] = false);
            let of_both = matched.into_iter().enumerate().map(|(before, after)| vec![Some(before), after]);
            let of_second =
                (0..after.areas.len()).filter(|area| is_new[*area]).map(|after| vec![None, Some(after)]);
            of_both.chain(of_second).collect()
        }
        _ => (0..profiles.first().map_or(0, |profile| profile.areas.len()))
            .map(|area| vec![Some(area)])
            .collect(),
    }
}

/// The facts of the area that `ids` names.
pub(super) fn facts<'p>(
    profiles: &[&'p Profile],
    censuses: &[Census],
    plan: Option<&'p Plan>,
    ids: &Ids,
) -> Option<AreaFacts<'p>> {
    let (profile, area) = ids
        .iter()
        .zip(profiles)
        .find_map(|(id, profile)| profile.areas.get((*id)?).map(|area| (*profile, area)))?;
    Some(AreaFacts {
        name: cut(&area.name, LONGEST_NAME),
        kind: kind(area.kind),
        ordinal: area.ordinal,
        bytes: area.bytes,
        start: format!("{:#x}", area.start),
        thread: area.thread,
        freed: area.freed,
        frames: frames(profile, area).iter().take(MOST_FRAMES).collect(),
        decision: plan.and_then(|plan| decided(plan, profile, area)),
        runs: ids.iter().zip(censuses).map(|(id, census)| id.map(|id| traffic(census, id))).collect(),
    })
}

/// The innermost frame of the statement that allocated the area.
pub(super) fn statement<'p>(profiles: &[&'p Profile], ids: &Ids) -> Option<&'p Frame> {
    ids.iter().zip(profiles).find_map(|(id, profile)| frames(profile, profile.areas.get((*id)?)?).first())
}

fn decided<'p>(plan: &'p Plan, profile: &Profile, area: &Area) -> Option<DecisionFacts<'p>> {
    let entry = plan.areas.get(decision::entry_for(plan, profile, area)?)?;
    Some(DecisionFacts { what: decision::words(&entry.decision), reason: &entry.reason })
}

fn traffic(census: &Census, id: usize) -> AreaTraffic {
    let area = &census.areas[id];
    let sum = area.sum();
    AreaTraffic {
        local: sum.local,
        remote: sum.remote,
        by_node: census.by_node(area),
        homes: census.granules_by_home(area),
    }
}
