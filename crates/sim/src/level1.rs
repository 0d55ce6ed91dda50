//! The first-level data cache of one processor, kept in the records that the hooks see.
//!
//! Model: set-associative, write back, least recently used goes first; every line is also in the second level
//! (inclusion), and a way is writable only while the second level holds the line modified, so a first-level line
//! leaves without a word. Departure from hardware: it is indexed and tagged by virtual address, which is the same as
//! physical while a way is no larger than a page.

use crate::index::index;
use crate::record::{Record, WAYS, tag};

/// Stamp of a way that holds nothing; stamps of lines are larger.
const EMPTY: u32 = 0;
/// Stamp of a way that does not exist; stamps of lines are smaller.
const ABSENT: u32 = u32::MAX;

/// The sets of a first-level cache, behind its header.
pub struct Level1 {
    records: Box<[Record]>,
    records_per_set: usize,
    set_mask: u64,
    line_bytes: u64,
}

/// What a processor finds in its first level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Miss,
    /// The line, readable only.
    Readable,
    /// The line, writable.
    Writable,
}

impl Level1 {
    /// An empty cache; `line_bytes` is at least 32 and there are at most `line_bytes / 8` ways.
    pub fn new(sets: usize, ways: usize, line_bytes: usize, default_instructions: u32) -> Self {
        let records_per_set = line_bytes / 32;
        let set_mask = ((sets - 1) * line_bytes) as u64;
        let mut records = vec![Record::default(); 1 + sets * records_per_set].into_boxed_slice();
        // A first level is far smaller than 4 GiB.
        #[allow(clippy::cast_possible_truncation)]
        let header_mask = set_mask as u32;
        records[0] = Record::header(header_mask, default_instructions);
        // Ways that the cache lacks are the youngest of all for ever, so that nothing is put there.
        for set in records[1..].chunks_exact_mut(records_per_set) {
            set.iter_mut().flat_map(|record| &mut record.stamps).skip(ways).for_each(|stamp| *stamp = ABSENT);
        }
        Self { records, records_per_set, set_mask, line_bytes: line_bytes as u64 }
    }

    /// The block that hooks see.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The header.
    pub fn header(&mut self) -> &mut Record {
        &mut self.records[0]
    }

    /// The header, to read.
    pub fn header_ref(&self) -> &Record {
        &self.records[0]
    }

    #[inline]
    fn first_record(&self, address: u64) -> usize {
        1 + index((address & self.set_mask) * 2) / size_of::<Record>()
    }

    /// Where the line of `address` stands: record and way.
    #[inline]
    fn find(&self, address: u64) -> Option<(usize, usize)> {
        let first = self.first_record(address);
        let tag = tag(address);
        (first..first + self.records_per_set)
            .find_map(|at| Some((at, way_of(&self.records[at].readable, tag)?)))
    }

    /// Looks an address up and makes its line the most recently used.
    #[inline]
    pub fn touch(&mut self, address: u64) -> Found {
        let stamp = self.records[0].stamp();
        let first = self.first_record(address);
        let record = &mut self.records[first];
        if let Some(way) = way_of(&record.readable, tag(address)) {
            record.stamps[way] = stamp;
            return if record.writable[way] == 0 { Found::Readable } else { Found::Writable };
        }
        if self.records_per_set > 1 { self.touch_hidden(address) } else { Found::Miss }
    }

    /// The same for the ways that hooks do not look at.
    #[inline(never)]
    fn touch_hidden(&mut self, address: u64) -> Found {
        let Some((at, way)) = self.find(address) else { return Found::Miss };
        let stamp = self.records[0].stamp();
        self.records[at].stamps[way] = stamp;
        let found = if self.records[at].writable[way] == 0 { Found::Readable } else { Found::Writable };
        self.promote(self.first_record(address), (at, way));
        found
    }

    /// Swaps a way that hooks do not look at with the oldest one that they do.
    fn promote(&mut self, first: usize, (at, way): (usize, usize)) {
        let oldest = oldest(&self.records[first].stamps);
        let (front, back) = self.records.split_at_mut(at);
        let (near, far) = (&mut front[first], &mut back[0]);
        std::mem::swap(&mut near.readable[oldest], &mut far.readable[way]);
        std::mem::swap(&mut near.writable[oldest], &mut far.writable[way]);
        std::mem::swap(&mut near.stamps[oldest], &mut far.stamps[way]);
    }

    /// Brings a line in that is absent, in place of the least recently used one.
    #[inline]
    pub fn fill(&mut self, address: u64, is_writable: bool) {
        let stamp = self.records[0].stamp();
        let mut place = self.first_record(address);
        if self.records_per_set > 1 {
            place = self.oldest_record(place);
        }
        let record = &mut self.records[place];
        let way = oldest(&record.stamps);
        record.readable[way] = tag(address);
        record.writable[way] = if is_writable { tag(address) } else { 0 };
        record.stamps[way] = stamp;
    }

    /// Of the records of a set, the one with the least recently used way.
    fn oldest_record(&self, first: usize) -> usize {
        let age = |at: &usize| self.records[*at].stamps[oldest(&self.records[*at].stamps)];
        (first..first + self.records_per_set).min_by_key(age).unwrap_or(first)
    }

    /// Lets the line of `address` be written, if it is held.
    pub fn allow_writes(&mut self, address: u64) {
        if let Some((at, way)) = self.find(address) {
            self.records[at].writable[way] = tag(address);
        }
    }

    /// Drops every line in `address .. address + bytes`.
    pub fn invalidate(&mut self, address: u64, bytes: u64) {
        for line in (address..address + bytes).step_by(index(self.line_bytes)) {
            if let Some((at, way)) = self.find(line) {
                self.records[at].readable[way] = 0;
                self.records[at].writable[way] = 0;
                self.records[at].stamps[way] = EMPTY;
            }
        }
    }

    /// Makes every line in `address .. address + bytes` readable only.
    pub fn forbid_writes(&mut self, address: u64, bytes: u64) {
        for line in (address..address + bytes).step_by(index(self.line_bytes)) {
            if let Some((at, way)) = self.find(line) {
                self.records[at].writable[way] = 0;
            }
        }
    }

    /// Takes `by` off the header's stamp, so that it does not wrap. The lines of a set get their ranks as stamps, which
    /// keeps their order; what is left of the header's stamp is far above any rank.
    pub fn rebase_stamps(&mut self, by: u32) {
        for set in self.records[1..].chunks_exact_mut(self.records_per_set) {
            let before: Vec<u32> = set.iter().flat_map(|record| record.stamps).collect();
            for stamp in set.iter_mut().flat_map(|record| &mut record.stamps) {
                if *stamp != EMPTY && *stamp != ABSENT {
                    // A set has far fewer than 2^32 ways.
                    #[allow(clippy::cast_possible_truncation)]
                    let rank = before.iter().filter(|&other| other < stamp).count() as u32;
                    *stamp = rank + 1;
                }
            }
        }
        let stamp = self.records[0].stamp() - by;
        self.records[0].set_stamp(stamp);
    }

    /// Whether the line of `address` is held, and whether it may be written; the LRU order stays.
    pub fn peek(&self, address: u64) -> Found {
        match self.find(address) {
            None => Found::Miss,
            Some((at, way)) if self.records[at].writable[way] == 0 => Found::Readable,
            Some(_) => Found::Writable,
        }
    }

    /// Number of lines held.
    pub fn lines_held(&self) -> usize {
        self.records[1..].iter().flat_map(|record| record.readable).filter(|&tag| tag != 0).count()
    }
}

/// The way with this tag.
#[inline]
fn way_of(tags: &[u32; WAYS], tag: u32) -> Option<usize> {
    let found = (0..WAYS).fold(0, |found, way| found | u32::from(tags[way] == tag) << way);
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// The way with the smallest stamp, the first of equals.
#[inline]
fn oldest(stamps: &[u32; WAYS]) -> usize {
    // Stamp and way as one number: a chain of minima, without a branch to mispredict.
    let aged = |way: usize| u64::from(stamps[way]) << 2 | way as u64;
    index(aged(0).min(aged(1)).min(aged(2).min(aged(3))) & 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A cache as a list of lines per set, the most recent last.
    fn misses_of_lists(sets: u64, ways: usize, line: u64, trace: &[u64]) -> usize {
        let mut lists = vec![Vec::new(); sets as usize];
        trace
            .iter()
            .filter(|&&address| {
                let list = &mut lists[(address / line % sets) as usize];
                let number = address / line;
                let before = list.len();
                list.retain(|&other| other != number);
                let is_miss = list.len() == before;
                list.push(number);
                if list.len() > ways {
                    list.remove(0);
                }
                is_miss
            })
            .count()
    }

    #[test]
    fn misses_equal_those_of_a_list_per_set() {
        for (sets, ways, line) in
            [(128u64, 4usize, 32u64), (64, 8, 64), (512, 2, 64), (64, 3, 32), (32, 16, 128)]
        {
            let mut random = Random::new(sets);
            let trace: Vec<u64> = (0..60_000)
                .map(|_| 0x10_0000 + random.below(sets * line * (ways as u64 + 2)) / 8 * 8)
                .collect();
            let mut cache = Level1::new(sets as usize, ways, line as usize, 1);
            let mut misses = 0;
            for &address in &trace {
                cache.header().add_instructions(1);
                if cache.touch(address) == Found::Miss {
                    misses += 1;
                    cache.fill(address, false);
                }
            }
            assert_eq!(misses, misses_of_lists(sets, ways, line, &trace), "{sets} sets of {ways}");
        }
    }

    #[test]
    fn more_ways_of_the_same_sets_never_miss_more() {
        let mut random = Random::new(7);
        let trace: Vec<u64> = (0..30_000).map(|_| 0x40_0000 + random.below(1 << 15)).collect();
        let misses: Vec<usize> = (1..=4)
            .map(|ways| {
                let mut cache = Level1::new(128, ways, 32, 1);
                trace
                    .iter()
                    .filter(|&&address| {
                        cache.header().add_instructions(1);
                        let is_miss = cache.touch(address) == Found::Miss;
                        if is_miss {
                            cache.fill(address, true);
                        }
                        is_miss
                    })
                    .count()
            })
            .collect();
        assert!(misses.is_sorted_by(|few, more| few >= more), "{misses:?}");
    }
}
