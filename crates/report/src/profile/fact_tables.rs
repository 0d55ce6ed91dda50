//! What is known beside the counts by granule, for a person: filters and their counters, thresholds, phases, locks, and who
//! touched the areas first.

use super::{ProfileReport, and_more};
use crate::grid::{Column, Grid};
use crate::number::{grouped, percent, share, short, size};
use crate::text::ranges;
use olifant_opium::facts::{FilterCount, FilterRecord, FirstTouches, Lock, LockKind, PhaseCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;

impl ProfileReport<'_> {
    /// The filters, and of each the counters with most.
    pub(super) fn filter_table(&self, width: usize) -> Vec<String> {
        let filters = &self.profile.facts.filters;
        if filters.is_empty() {
            return Vec::new();
        }
        let mut grid = Grid::new([
            ("filter", Column::Flexible),
            ("granule", Column::Number),
            ("kinds", Column::Flexible),
            ("bytes", Column::Number),
            ("counters", Column::Number),
            ("count", Column::Number),
        ]);
        for filter in filters {
            let bytes = filter.ranges.iter().map(|(_, bytes)| bytes).sum();
            grid.row([
                filter.name.clone(),
                size(filter.granule_bytes),
                filter.kinds.clone(),
                if bytes > 1 << 46 { "all".to_owned() } else { size(bytes) },
                grouped(filter.counts.len() as u64),
                short(filter.total),
            ]);
        }
        let mut lines = grid.lines(width);
        for secondary in &self.profile.facts.secondaries {
            lines.push(format!(" secondary {}: {}", secondary.text, grouped(secondary.count)));
        }
        for filter in filters {
            lines.extend(filter.refused.as_ref().map(|refused| format!(" {refused}")));
            let full =
                format!(" filter {}: {} transactions met a full counter", filter.name, grouped(filter.lost));
            lines.extend((filter.lost > 0).then_some(full));
        }
        lines
    }

    /// The counters of each filter with most.
    pub(super) fn counter_table(&self, width: usize) -> Vec<String> {
        let counters = |filter: &FilterRecord| {
            let mut counts: Vec<FilterCount> = filter.counts.clone();
            counts.sort_by_key(|count| Reverse(count.count));
            counts.truncate(self.options.top);
            counts
        };
        let mut grid = Grid::new([
            ("counter of", Column::Flexible),
            ("at", Column::Flexible),
            ("by", Column::Text),
            ("count", Column::Number),
            ("threshold", Column::Text),
        ]);
        let facts = &self.profile.facts;
        let mut hidden = 0;
        for (number, filter) in (0..).zip(&facts.filters) {
            let shown = counters(filter);
            hidden += filter.counts.len() - shown.len();
            for count in shown {
                let is_same = |at: &&olifant_opium::facts::CardEvent| {
                    (at.filter, at.address, at.accessor) == (number, count.address, count.accessor)
                };
                let event = facts.events.iter().find(is_same);
                grid.row([
                    filter.name.clone(),
                    self.address(count.address),
                    format!("{} {}", filter.by.word(), count.accessor),
                    grouped(count.count),
                    event.map_or(String::new(), |at| format!("{} at cycle {}", at.count, grouped(at.time))),
                ]);
            }
        }
        if facts.filters.iter().all(|filter| filter.counts.is_empty()) {
            return Vec::new();
        }
        let mut lines = grid.lines(width);
        lines.extend(and_more(hidden, "counters with less"));
        lines
    }

    /// The phases, with the area that was reached remotely most in each.
    pub(super) fn phase_table(&self, width: usize) -> Vec<String> {
        let phases = &self.profile.facts.phases;
        if phases.len() < 2 {
            return Vec::new();
        }
        let mut sums = vec![(0, 0, BTreeMap::<u32, u64>::new()); phases.len()];
        for cell in &self.profile.facts.phase_cells {
            let (local, remote, by_area) = &mut sums[cell.phase as usize];
            *local += cell.local;
            *remote += cell.remote;
            *by_area.entry(cell.area).or_default() += cell.remote;
        }
        let mut grid = Grid::new([
            ("phase", Column::Flexible),
            ("from cycle", Column::Number),
            ("cycles", Column::Number),
            ("local", Column::Number),
            ("remote", Column::Number),
            ("share", Column::Number),
            ("mostly remote", Column::Flexible),
        ]);
        let shown: Vec<usize> = shown_phases(&sums, self.options.top.max(10));
        for &id in &shown {
            let (phase, (local, remote, by_area)) = (&phases[id], &sums[id]);
            let most = by_area.iter().max_by_key(|(area, count)| (**count, Reverse(**area)));
            let most = most.filter(|(_, count)| **count > 0).map_or(String::new(), |(area, count)| {
                format!("{} {}", self.area_name(*area as usize), percent(share(*count, *remote)))
            });
            let name = if phase.name.is_empty() { id.to_string() } else { format!("{id} {}", phase.name) };
            grid.row([
                name,
                short(phase.begin),
                short(phase.end.saturating_sub(phase.begin)),
                short(*local),
                short(*remote),
                percent(share(*remote, local + remote)),
                most,
            ]);
        }
        let mut lines = grid.lines(width);
        lines.extend(and_more(phases.len() - shown.len(), "phases with fewer transactions"));
        lines
    }

    /// Locks that anybody waited for, or that went from node to node.
    pub(super) fn lock_table(&self, width: usize) -> Vec<String> {
        let mattered = |lock: &&Lock| lock.contended > 0 || lock.transfers > 0;
        let locks: Vec<&Lock> = self.profile.facts.locks.iter().filter(mattered).collect();
        if locks.is_empty() {
            return Vec::new();
        }
        let shown = self.options.top.min(locks.len());
        let mut grid = Grid::new([
            ("lock", Column::Flexible),
            ("kind", Column::Text),
            ("home", Column::Number),
            ("taken", Column::Number),
            ("waited", Column::Number),
            ("cycles waited", Column::Number),
            ("node to node", Column::Number),
            ("by node", Column::Text),
        ]);
        for lock in &locks[..shown] {
            let by_node: Vec<u64> = lock.by_node.iter().map(|(_, count)| *count).collect();
            grid.row([
                self.lock_name(lock),
                lock_kind(lock.kind).to_owned(),
                lock.home.to_string(),
                short(lock.acquisitions),
                short(lock.contended),
                short(lock.wait_cycles),
                short(lock.transfers),
                format!("[{}]", crate::text::bars(&by_node)),
            ]);
        }
        let mut lines = grid.lines(width);
        lines.extend(and_more(locks.len() - shown, "locks that were waited for less"));
        lines
    }

    /// Who brought the pages of the areas with most remote transactions into memory.
    pub(super) fn touch_table(&self, width: usize) -> Vec<String> {
        let mut by_area: BTreeMap<u32, Vec<&FirstTouches>> = BTreeMap::new();
        for touch in &self.profile.facts.first_touches {
            by_area.entry(touch.area).or_default().push(touch);
        }
        let mut grid = Grid::new([
            ("area", Column::Flexible),
            ("pages", Column::Number),
            ("first touched by threads", Column::Flexible),
            ("most of them in", Column::Flexible),
        ]);
        let mut rows = 0;
        for id in self.order.iter().take(self.options.top) {
            let touches = u32::try_from(*id).ok().and_then(|id| by_area.get(&id));
            let Some(touches) = touches else { continue };
            let mut threads: Vec<u16> = touches.iter().map(|touch| touch.thread).collect();
            threads.sort_unstable();
            threads.dedup();
            let mut by_code: BTreeMap<u64, u64> = BTreeMap::new();
            touches.iter().for_each(|touch| *by_code.entry(touch.code).or_default() += touch.pages);
            let code = by_code
                .iter()
                .max_by_key(|(code, pages)| (**pages, Reverse(**code)))
                .map_or(0, |(code, _)| *code);
            grid.row([
                self.area_name(*id),
                grouped(touches.iter().map(|touch| touch.pages).sum()),
                ranges(&threads),
                self.place(code),
            ]);
            rows += 1;
        }
        if rows == 0 { Vec::new() } else { grid.lines(width) }
    }

    /// An address as an offset in its area.
    pub(super) fn address(&self, address: u64) -> String {
        let holds = |(_, area): &(usize, &olifant_opium::profile::Area)| {
            address.checked_sub(area.start).is_some_and(|offset| offset < area.bytes)
        };
        let areas = self.profile.areas.iter().enumerate();
        // "Elsewhere" covers every address, and comes last.
        match areas.clone().find(holds) {
            Some((id, area)) => format!("{} +{:#x}", self.area_name(id), address - area.start),
            None => format!("{address:#x}"),
        }
    }

    /// A lock by the area that it lies in.
    pub(super) fn lock_name(&self, lock: &Lock) -> String {
        match lock.area {
            Some(area) if lock.offset > 0 => format!("{} +{}", self.area_name(area as usize), lock.offset),
            Some(area) => self.area_name(area as usize),
            None => format!("{:#x}", lock.address),
        }
    }
}

/// The phases with most transactions, in the order of time.
fn shown_phases(sums: &[(u64, u64, BTreeMap<u32, u64>)], most: usize) -> Vec<usize> {
    let mut ids: Vec<usize> = (0..sums.len()).collect();
    ids.sort_by_key(|id| Reverse(sums[*id].0 + sums[*id].1));
    ids.truncate(most);
    ids.sort_unstable();
    ids
}

/// The word for a kind of lock, as in the profile file.
pub(crate) fn lock_kind(kind: LockKind) -> &'static str {
    match kind {
        LockKind::Mutex => "mutex",
        LockKind::SpinLock => "spin-lock",
        LockKind::AtomicSpin => "atomic-spin",
    }
}

/// Sums over the cells of an area.
pub(super) fn cells_of(cells: &[PhaseCell], phase: u32) -> impl Iterator<Item = &PhaseCell> {
    let first = cells.partition_point(|cell| cell.phase < phase);
    cells[first..].iter().take_while(move |cell| cell.phase == phase)
}
