//! The profile's facts beside the counts by granule: what the card's filters counted, phases, locks and first touches, each
//! with the area that it belongs to.

use crate::areas::Index;
use crate::state::Runtime;
use crate::{locks, modules};
use olifant_opium::PhaseCounts;
use olifant_opium::facts::{Facts, FirstTouches, Phase, PhaseCell};
use olifant_opium::profile::{Area, Granule};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Cells of an area in a phase: as many as a reader tells apart.
const MOST_CELLS: u64 = 64;
/// Cells of all phases in a profile.
const MOST_PHASE_CELLS: usize = 200_000;
/// Places of first touches that are kept for an area.
const MOST_PLACES: usize = 32;
/// Locks that are kept.
const MOST_LOCKS: usize = 1000;

/// The facts as they stand; `granules` are already joined with `areas`.
pub fn take(runtime: &mut Runtime, areas: &[Area], granules: &[Granule], granule_bytes: u64) -> Facts {
    let now = runtime.system.now_cycles();
    let locks = locks::for_profile(runtime);
    let card = runtime.system.engine().observer();
    let (filters, secondaries, events) = card.board().records();
    let index = Index::new(areas);
    let phases = card.phases(now);
    let mut facts = Facts {
        card: card.board().model(),
        filters,
        secondaries,
        events,
        phases: phases.iter().map(phase).collect(),
        phase_cells: phase_cells(&phases, areas, &index, granule_bytes),
        locks,
        first_touches: Vec::new(),
        places: Vec::new(),
    };
    facts.locks.truncate(MOST_LOCKS);
    for lock in &mut facts.locks {
        lock.area = index.covering(lock.address, lock.address + 1);
        if let Some(area) = lock.area {
            let start = areas[area as usize].start;
            lock.offset = lock.address - start;
            let granule = lock.address / granule_bytes - start / granule_bytes;
            let found =
                granules.binary_search_by_key(&(area, granule), |granule| (granule.area, granule.index));
            lock.home = found.map_or(0, |at| granules[at].home);
        }
    }
    let page_bytes = runtime.spec.machine.os.page.0;
    let mut touches: BTreeMap<(u32, u16, u64), u64> = BTreeMap::new();
    for touch in runtime.system.engine().observer().first_touches() {
        if let Some(area) = index.covering(touch.address, touch.address + page_bytes) {
            let code = modules::translate(touch.code).unwrap_or(0);
            *touches.entry((area, touch.thread, code)).or_default() += 1;
        }
    }
    let mut all: Vec<FirstTouches> = touches
        .into_iter()
        .map(|((area, thread, code), pages)| FirstTouches { area, thread, code, pages })
        .collect();
    all.sort_by_key(|touch| (touch.area, Reverse(touch.pages), touch.thread));
    let mut rank = 0;
    let mut last = None;
    all.retain(|touch| {
        rank = if last == Some(touch.area) { rank + 1 } else { 0 };
        last = Some(touch.area);
        rank < MOST_PLACES
    });
    facts.first_touches = all;
    facts
}

fn phase(counts: &PhaseCounts) -> Phase {
    let PhaseCounts { name, begin, end, stretches, .. } = counts;
    Phase { name: name.clone(), begin: *begin, end: *end, stretches: *stretches }
}

/// Traffic by phase, area and stretch of it; stretches are widened until they are few enough.
fn phase_cells(phases: &[PhaseCounts], areas: &[Area], index: &Index, granule_bytes: u64) -> Vec<PhaseCell> {
    let mut most_cells = MOST_CELLS;
    loop {
        let mut cells: BTreeMap<(u32, u32, u64, u16), PhaseCell> = BTreeMap::new();
        for (phase, counts) in (0..).zip(phases) {
            for traffic in &counts.traffic {
                let Some(id) = index.covering(traffic.address, traffic.address + granule_bytes) else {
                    continue;
                };
                let area = &areas[id as usize];
                let of_area = (area.bytes / granule_bytes + 2).div_ceil(most_cells).next_power_of_two();
                let number = (traffic.address / granule_bytes).saturating_sub(area.start / granule_bytes);
                let granule = number / of_area * of_area;
                let cell = cells.entry((phase, id, granule, traffic.node)).or_insert(PhaseCell {
                    phase,
                    area: id,
                    granule,
                    granules: of_area,
                    node: traffic.node,
                    local: 0,
                    remote: 0,
                });
                cell.local += traffic.local;
                cell.remote += traffic.remote;
            }
        }
        if cells.len() <= MOST_PHASE_CELLS || most_cells == 1 {
            return cells.into_values().collect();
        }
        most_cells /= 2;
    }
}

impl Runtime {
    /// Whether the program has one thread only.
    pub fn runs_alone(&self) -> bool {
        self.threads.iter().filter(|thread| !thread.has_ended && !thread.is_ghost).count() == 1
    }

    /// All threads met: perhaps a phase ends.
    pub fn barrier_passed(&mut self) {
        let (now, transactions) = (self.system.now_cycles(), self.transactions());
        self.system.engine_mut().observer_mut().barrier(now, transactions);
    }

    /// The program marks the begin of a phase.
    pub fn mark_phase(&mut self, name: &str) {
        let (now, transactions) = (self.system.now_cycles(), self.transactions());
        self.system.engine_mut().observer_mut().mark(name, now, transactions);
    }

    /// Transactions of the machine so far.
    fn transactions(&self) -> u64 {
        let engine = self.system.engine();
        (0..engine.nodes()).map(|node| engine.node_counts(node).transactions).sum()
    }
}
