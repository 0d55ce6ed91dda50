//! Successive refinement: from coarse granules over the whole address space down to lines, each step where the last one found
//! granules that several accessors share.
//!
//! A step has learnt something if its granules tell accessors apart that its regions did not: measured in bits per access, the
//! information that knowing the granule, beyond the region, gives about the accessor. After a step that has shown nothing new
//! the next goes straight to lines. It ends there, or where nothing is contested any more.
//!
//! Source of the method: the paper named in `filter.rs`, "A methodology based on successive refinements".

use crate::facts::FilterRecord;
use crate::filter::{By, FilterSpec, Granularity, Target};
use crate::{Kinds, filter};
use std::collections::BTreeMap;

/// Granules of the first steps, in bytes; the last is the machine's line.
const GRANULES: [u64; 4] = [filter::LARGEST_GRANULE, 64 << 10, 4 << 10, 512];
/// Regions of a step: as many as the prototype's card has filters.
const MOST_REGIONS: usize = 32;
/// An accessor counts in a granule from this share of its accesses on.
const LEAST_PART: f64 = 0.1;
/// A step that gives fewer bits per access has shown nothing new.
const LEAST_BITS: f64 = 0.01;
/// The next step looks at the granules that hold this share of the contested accesses.
const COVERED: f64 = 0.95;

/// What is looked at in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Bytes per granule.
    pub granule_bytes: u64,
    /// First addresses and bytes, ascending; none stands for the whole address space.
    pub regions: Vec<(u64, u64)>,
}

/// What a step showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// Granules with their accesses by accessor, ascending by address.
    pub granules: BTreeMap<u64, BTreeMap<u16, u64>>,
    /// Accesses in all.
    pub accesses: u64,
    /// Accesses to granules that several accessors share.
    pub contested: u64,
    /// Bits that the granule, beyond the region, tells about an access's accessor.
    pub bits: f64,
}

/// Why there is no next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Nothing passed the filters.
    NothingCounted,
    /// Every granule has one accessor.
    NothingContested,
    /// The finer granules show the mix of the coarser ones.
    NothingNew,
    /// Granules are lines.
    Lines,
}

impl Stop {
    /// For a person.
    pub fn reason(self) -> &'static str {
        match self {
            Stop::NothingCounted => "no access passed the filters",
            Stop::NothingContested => "each granule has one accessor: it can live with it",
            Stop::NothingNew => "finer granules show the same mix: the accessors share them evenly",
            Stop::Lines => "granules are cache lines",
        }
    }
}

impl Step {
    /// The whole address space by the largest granules.
    pub fn first() -> Self {
        Step { granule_bytes: GRANULES[0], regions: Vec::new() }
    }

    /// The filters of the step.
    pub fn filters(&self, kinds: Kinds, by: By) -> Vec<FilterSpec> {
        let filter = |target: Target| FilterSpec {
            granularity: Granularity::Bytes(self.granule_bytes),
            kinds: Some(kinds),
            by,
            ..FilterSpec::new(target)
        };
        if self.regions.is_empty() {
            return vec![filter(Target::All)];
        }
        self.regions.iter().map(|&(start, bytes)| filter(Target::Range { start, bytes })).collect()
    }

    /// What the step's filters counted.
    pub fn learn(&self, records: &[FilterRecord]) -> Learnt {
        let mut learnt = Learnt { granules: BTreeMap::new(), accesses: 0, contested: 0, bits: 0.0 };
        let mut bits = 0.0;
        for record in records {
            let mut granules: BTreeMap<u64, BTreeMap<u16, u64>> = BTreeMap::new();
            let mut region: BTreeMap<u16, u64> = BTreeMap::new();
            for count in &record.counts {
                *granules.entry(count.address).or_default().entry(count.accessor).or_default() += count.count;
                *region.entry(count.accessor).or_default() += count.count;
            }
            let all: u64 = region.values().sum();
            learnt.accesses += all;
            for by in granules.values() {
                let sum: u64 = by.values().sum();
                if is_contested(by) {
                    learnt.contested += sum;
                }
                for (accessor, count) in by {
                    let (here, before) = (share(*count, sum), share(region[accessor], all));
                    bits += *count as f64 * (here / before).log2();
                }
            }
            learnt.granules.extend(granules);
        }
        learnt.bits = if learnt.accesses == 0 { 0.0 } else { bits / learnt.accesses as f64 };
        learnt
    }

    /// The next step on a machine with these lines.
    ///
    /// # Errors
    /// Why there is none.
    pub fn next(&self, learnt: &Learnt, line_bytes: u64) -> Result<Step, Stop> {
        if learnt.accesses == 0 {
            return Err(Stop::NothingCounted);
        }
        if learnt.contested == 0 {
            return Err(Stop::NothingContested);
        }
        // The first step only says where memory is.
        let is_new = self.regions.is_empty() || learnt.bits >= LEAST_BITS;
        if self.granule_bytes <= line_bytes {
            return Err(if is_new { Stop::Lines } else { Stop::NothingNew });
        }
        // What the sizes between do not part, lines may: one last look, at once.
        let is_finer = |bytes: &u64| is_new && *bytes < self.granule_bytes && *bytes > line_bytes;
        let finer = GRANULES.into_iter().find(is_finer);
        let regions = self.hottest(learnt);
        Ok(Step { granule_bytes: finer.unwrap_or(line_bytes), regions })
    }

    /// Runs of contested granules that hold most of the contested accesses, the fullest first until filters run out.
    fn hottest(&self, learnt: &Learnt) -> Vec<(u64, u64)> {
        let contested = learnt.granules.iter().filter(|(_, by)| is_contested(by));
        let mut counts: Vec<(u64, u64)> = contested.map(|(start, by)| (by.values().sum(), *start)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let aim = learnt.contested as f64 * COVERED;
        let mut covered = 0;
        let taken = counts.iter().take_while(|(count, _)| {
            let is_short = (covered as f64) < aim;
            covered += count;
            is_short
        });
        let mut chosen: Vec<(u64, u64)> = taken.map(|&(count, start)| (start, count)).collect();
        chosen.sort_unstable();
        // Start, end and accesses of each run of neighbours.
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        for (start, count) in chosen {
            match runs.last_mut() {
                Some(run) if run.1 == start => {
                    run.1 += self.granule_bytes;
                    run.2 += count;
                }
                _ => runs.push((start, start + self.granule_bytes, count)),
            }
        }
        runs.sort_unstable_by_key(|run| std::cmp::Reverse(run.2));
        runs.truncate(MOST_REGIONS);
        let mut regions: Vec<(u64, u64)> =
            runs.into_iter().map(|(start, end, _)| (start, end - start)).collect();
        regions.sort_unstable();
        regions
    }
}

/// Whether at least two accessors count in a granule.
pub fn is_contested(by: &BTreeMap<u16, u64>) -> bool {
    let sum: u64 = by.values().sum();
    by.values().filter(|count| share(**count, sum) >= LEAST_PART).count() >= 2
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::FilterCount;

    const LINE: u64 = 32;

    /// What a filter counts of `accesses` (address and accessor).
    fn count(step: &Step, accesses: &[(u64, u16)]) -> Vec<FilterRecord> {
        let regions = if step.regions.is_empty() { vec![(0, u64::MAX)] } else { step.regions.clone() };
        regions
            .into_iter()
            .map(|(start, bytes)| {
                let mut counts: BTreeMap<(u64, u16), u64> = BTreeMap::new();
                for (address, accessor) in
                    accesses.iter().filter(|(address, _)| (start..start + bytes).contains(address))
                {
                    let granule = start + (address - start) / step.granule_bytes * step.granule_bytes;
                    *counts.entry((granule, *accessor)).or_default() += 1;
                }
                let count = |((address, accessor), count)| FilterCount { address, accessor, count };
                FilterRecord {
                    name: String::new(),
                    text: String::new(),
                    granule_bytes: step.granule_bytes,
                    kinds: String::new(),
                    by: By::Node,
                    ranges: vec![(start, bytes)],
                    total: 0,
                    lost: 0,
                    refused: None,
                    counts: counts.into_iter().map(count).collect(),
                }
            })
            .collect()
    }

    /// All steps over the same accesses, and why they end.
    fn refine(accesses: &[(u64, u16)]) -> (Vec<Step>, Stop) {
        let mut steps = vec![Step::first()];
        loop {
            let step = steps.last().unwrap();
            let learnt = step.learn(&count(step, accesses));
            match step.next(&learnt, LINE) {
                Ok(next) => steps.push(next),
                Err(stop) => return (steps, stop),
            }
        }
    }

    #[test]
    fn accessors_that_never_meet_end_at_the_granule_that_parts_them() {
        let accesses: Vec<_> = (0..1024).map(|k| (k * 1024, u16::from(k >= 512))).collect();
        let (steps, stop) = refine(&accesses);
        assert_eq!(stop, Stop::NothingContested);
        assert_eq!(steps.last().unwrap().granule_bytes, 64 << 10);
    }

    #[test]
    fn a_false_sharing_line_among_private_pages_is_found() {
        let mut accesses: Vec<_> = (0..2048).map(|k| (k * 4096, (k % 2) as u16)).collect();
        accesses.extend((0..500).map(|k| (7 * 4096 + 96 + k % 2 * 8, (k % 2) as u16)));
        let (steps, stop) = refine(&accesses);
        assert_eq!(stop, Stop::Lines);
        let last = steps.last().unwrap();
        assert_eq!(last.granule_bytes, LINE);
        assert!(last.regions.iter().any(|(start, bytes)| (*start..start + bytes).contains(&(7 * 4096 + 96))));
    }

    #[test]
    fn what_all_use_alike_is_looked_at_no_further() {
        let accesses: Vec<_> = (0..65536).map(|k| (k / 4 * 32, (k % 4) as u16)).collect();
        let (steps, stop) = refine(&accesses);
        let granules: Vec<u64> = steps.iter().map(|step| step.granule_bytes).collect();
        assert_eq!((granules, stop), (vec![2 << 20, 64 << 10, LINE], Stop::NothingNew));
    }

    #[test]
    fn a_step_never_needs_more_filters_than_the_card_has() {
        let mut accesses = Vec::new();
        for k in 0..5000 {
            accesses.extend([(k * 300_000, 0), (k * 300_000 + 64, 1), (k * 300_000 + 64, 1)]);
        }
        let (steps, _) = refine(&accesses);
        assert!(steps.len() > 2);
        assert!(steps.iter().all(|step| step.regions.len() <= MOST_REGIONS));
    }
}
