//! The facts beside the counts, as a page tells them: what stands out, phases, locks, first touches.

use super::areas::LONGEST_NAME;
use crate::profile::lock_kind;
use crate::text::cut;
use olifant_opium::facts::{Facts, Phase};
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{Frame, Profile};
use serde::Serialize;
use std::collections::HashMap;

/// Cells of phases in a page; whole areas are left out, the last in the page's order first.
const MOST_CELLS: usize = 40_000;
/// Locks in a page.
const MOST_LOCKS: usize = 500;

/// Something that stands out.
#[derive(Serialize)]
pub(super) struct PatternFacts {
    pattern: &'static str,
    what: String,
    share: f64,
    advice: String,
}

/// A lock.
#[derive(Serialize)]
pub(super) struct LockFacts<'p> {
    name: String,
    kind: &'static str,
    home: u16,
    acquisitions: u64,
    contended: u64,
    wait_cycles: u64,
    transfers: u64,
    by_node: &'p [(u16, u64)],
}

/// Who touched pages of an area first.
#[derive(Serialize)]
pub(super) struct TouchFacts<'p> {
    /// Index into the page's areas.
    area: usize,
    thread: u16,
    pages: u64,
    place: Option<&'p Frame>,
}

/// Phase, index into the page's areas, first granule, granules, node, local and remote transactions.
pub(super) type Cell = (u32, usize, u64, u64, u16, u64, u64);

/// The findings of one run.
#[derive(Serialize)]
pub(super) struct FindingFacts<'p> {
    patterns: Vec<PatternFacts>,
    phases: &'p [Phase],
    phase_cells: Vec<Cell>,
    locks: Vec<LockFacts<'p>>,
    touches: Vec<TouchFacts<'p>>,
}

/// The findings of `profile`; `shown` gives an area's index in the page by its id.
pub(super) fn facts<'p>(
    profile: &'p Profile,
    map: &GranuleMap,
    shown: &HashMap<usize, usize>,
) -> FindingFacts<'p> {
    let Facts { phases, locks, first_touches, places, .. } = &profile.facts;
    let patterns = olifant_advisor::patterns(profile, map).into_iter().map(|pattern| PatternFacts {
        pattern: pattern.kind.word(),
        what: cut(&pattern.what, LONGEST_NAME),
        share: pattern.share,
        advice: pattern.advice,
    });
    let locks = locks.iter().filter(|lock| lock.contended > 0 || lock.transfers > 0).take(MOST_LOCKS);
    let locks = locks.map(|lock| LockFacts {
        name: match lock.area.and_then(|area| profile.areas.get(area as usize)) {
            Some(area) => format!("{} +{}", cut(&area.name, LONGEST_NAME), lock.offset),
            None => format!("{:#x}", lock.address),
        },
        kind: lock_kind(lock.kind),
        home: lock.home,
        acquisitions: lock.acquisitions,
        contended: lock.contended,
        wait_cycles: lock.wait_cycles,
        transfers: lock.transfers,
        by_node: &lock.by_node,
    });
    let touches = first_touches.iter().filter_map(|touch| {
        let place = places.binary_search_by_key(&touch.code, |place| place.code).ok();
        Some(TouchFacts {
            area: *shown.get(&(touch.area as usize))?,
            thread: touch.thread,
            pages: touch.pages,
            place: place.map(|place| &places[place].frame),
        })
    });
    FindingFacts {
        patterns: patterns.collect(),
        phases,
        phase_cells: cells(&profile.facts, shown),
        locks: locks.collect(),
        touches: touches.collect(),
    }
}

/// The cells of the first areas of the page, as many as there is room for.
fn cells(facts: &Facts, shown: &HashMap<usize, usize>) -> Vec<Cell> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let area_of = |area: u32| shown.get(&(area as usize)).copied();
    facts
        .phase_cells
        .iter()
        .filter_map(|cell| area_of(cell.area))
        .for_each(|area| *counts.entry(area).or_default() += 1);
    let mut areas: Vec<(usize, usize)> = counts.into_iter().collect();
    areas.sort_unstable();
    let mut sum = 0;
    let last = areas.iter().take_while(|(_, count)| {
        sum += count;
        sum <= MOST_CELLS
    });
    let last = last.last().map(|(area, _)| *area);
    let cells = facts.phase_cells.iter().filter_map(|cell| {
        let area = area_of(cell.area).filter(|area| Some(*area) <= last)?;
        Some((cell.phase, area, cell.granule, cell.granules, cell.node, cell.local, cell.remote))
    });
    cells.collect()
}
