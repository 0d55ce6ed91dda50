//! The counters for a spreadsheet: a row for each area, thread, node and kind; with granules, for each of these, too.
//! `remote` holds the part of `count` that was remote, so that both columns can be summed.

use super::ProfileReport;
use crate::csv;
use olifant_opium::profile::Accesses;
use std::collections::BTreeMap;

/// The columns; `granule` is empty where granules are summed up.
const COLUMNS: [&str; 9] = ["area", "granule", "thread", "node", "kind", "count", "remote", "home", "name"];

/// What a row is counted by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// Rank of the area in the order asked for.
    rank: usize,
    granule: Option<u64>,
    thread: u16,
    node: u16,
    home: u16,
}

impl ProfileReport<'_> {
    /// As a header and rows, areas in the order asked for. Kinds: `read`, `write`, `upgrade`, `write-back`; what is zero
    /// has no row.
    pub fn csv(&self) -> String {
        let mut ranks = vec![None; self.profile.areas.len()];
        for (rank, area) in self.order.iter().enumerate() {
            ranks[*area] = Some(rank);
        }
        let mut sums: BTreeMap<Key, [u64; 4]> = BTreeMap::new();
        let mut add = |area: u32, granule: Option<u64>, home: u16, all: &[Accesses]| {
            let Some(rank) = ranks.get(area as usize).copied().flatten() else { return };
            for by in all {
                let key = Key { rank, granule, thread: by.thread, node: by.node, home };
                let sum = sums.entry(key).or_default();
                for (sum, (_, count)) in sum.iter_mut().zip(kinds(by)) {
                    *sum += count;
                }
            }
        };
        if self.options.granules {
            let granules = self.profile.granules.iter();
            granules.for_each(|granule| add(granule.area, Some(granule.index), granule.home, &granule.by));
        } else {
            self.map.cells.iter().for_each(|cell| add(cell.area, None, cell.home, &cell.by));
        }
        let mut text = csv::line(COLUMNS);
        for (key, counts) in sums {
            let area = self.order[key.rank];
            let names = kinds(&Accesses::default()).map(|(name, _)| name);
            for (name, count) in names.into_iter().zip(counts).filter(|(_, count)| *count > 0) {
                text += &csv::line([
                    area.to_string(),
                    key.granule.map_or(String::new(), |granule| granule.to_string()),
                    key.thread.to_string(),
                    key.node.to_string(),
                    name.to_owned(),
                    count.to_string(),
                    if key.node == key.home { 0 } else { count }.to_string(),
                    key.home.to_string(),
                    self.profile.areas[area].name.clone(),
                ]);
            }
        }
        text
    }
}

/// The counters by their names in the profile file.
fn kinds(by: &Accesses) -> [(&'static str, u64); 4] {
    [("read", by.reads), ("write", by.writes), ("upgrade", by.upgrades), ("write-back", by.write_backs)]
}
