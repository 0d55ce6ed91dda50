//! What is known beside the counts by granule, for a spreadsheet.

use super::ProfileReport;
use super::fact_tables::{cells_of, lock_kind};
use crate::csv;

impl ProfileReport<'_> {
    /// A row for each counter of each filter that is not 0.
    pub(super) fn filters_csv(&self) -> String {
        let mut text = csv::line([
            "filter",
            "name",
            "granule_bytes",
            "kinds",
            "accessor",
            "number",
            "address",
            "area",
            "count",
            "threshold_cycle",
        ]);
        let facts = &self.profile.facts;
        for (id, filter) in (0..).zip(&facts.filters) {
            for count in &filter.counts {
                let event = facts
                    .events
                    .iter()
                    .find(|at| (at.filter, at.address, at.accessor) == (id, count.address, count.accessor));
                text += &csv::line([
                    id.to_string(),
                    filter.name.clone(),
                    filter.granule_bytes.to_string(),
                    filter.kinds.clone(),
                    filter.by.word().to_owned(),
                    count.accessor.to_string(),
                    format!("{:#x}", count.address),
                    self.address(count.address),
                    count.count.to_string(),
                    event.map_or(String::new(), |event| event.time.to_string()),
                ]);
            }
        }
        text
    }

    /// A row for each phase, area, stretch and node.
    pub(super) fn phases_csv(&self) -> String {
        let mut text = csv::line([
            "phase",
            "name",
            "begin_cycle",
            "end_cycle",
            "area",
            "area_name",
            "granule",
            "granules",
            "node",
            "local",
            "remote",
        ]);
        for (id, phase) in (0..).zip(&self.profile.facts.phases) {
            for cell in cells_of(&self.profile.facts.phase_cells, id) {
                text += &csv::line([
                    id.to_string(),
                    phase.name.clone(),
                    phase.begin.to_string(),
                    phase.end.to_string(),
                    cell.area.to_string(),
                    self.area_name(cell.area as usize),
                    cell.granule.to_string(),
                    cell.granules.to_string(),
                    cell.node.to_string(),
                    cell.local.to_string(),
                    cell.remote.to_string(),
                ]);
            }
        }
        text
    }

    /// A row for each lock, with a column for the acquisitions of each node.
    pub(super) fn locks_csv(&self) -> String {
        let head = [
            "lock",
            "kind",
            "address",
            "area",
            "offset",
            "home",
            "acquisitions",
            "contended",
            "wait_cycles",
            "transfers",
        ];
        let mut head: Vec<String> = head.map(str::to_owned).into();
        head.extend(self.nodes.iter().map(|node| format!("acquisitions_node_{node}")));
        let mut text = csv::line(head);
        for (id, lock) in self.profile.facts.locks.iter().enumerate() {
            let mut row = vec![
                id.to_string(),
                lock_kind(lock.kind).to_owned(),
                format!("{:#x}", lock.address),
                lock.area.map_or(String::new(), |area| self.area_name(area as usize)),
                lock.offset.to_string(),
                lock.home.to_string(),
                lock.acquisitions.to_string(),
                lock.contended.to_string(),
                lock.wait_cycles.to_string(),
                lock.transfers.to_string(),
            ];
            let of_node = |node: &u16| {
                lock.by_node.iter().find(|(known, _)| known == node).map_or(0, |(_, count)| *count)
            };
            row.extend(self.nodes.iter().map(|node| of_node(node).to_string()));
            text += &csv::line(row);
        }
        text
    }

    /// A row for each area, thread and place that brought pages into memory.
    pub(super) fn touches_csv(&self) -> String {
        let mut text = csv::line(["area", "name", "thread", "pages", "place"]);
        for touch in &self.profile.facts.first_touches {
            text += &csv::line([
                touch.area.to_string(),
                self.area_name(touch.area as usize),
                touch.thread.to_string(),
                touch.pages.to_string(),
                self.place(touch.code),
            ]);
        }
        text
    }
}
