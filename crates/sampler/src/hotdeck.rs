//! What the samples add up to, with the addresses filled in that could not be computed.
//!
//! A walk that passes an instruction whose address depends on memory knows that the access happens, but not where it goes.
//! Other samples of the same thread stood right at that instruction and know. Each access without an address is given
//! that of one of those, drawn at random ("hot-deck imputation"), so that an instruction counts as often as it was
//! met, and where it went is told by those who saw it. Where nobody did, the access stays without an area, and is counted.

use crate::random::Random;
use std::collections::BTreeMap;

/// Where an access went, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The area.
    pub area: u32,
    /// The granule's first address.
    pub granule: u64,
    /// The node that the thread ran on.
    pub node: u16,
}

/// An instruction as one thread runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instruction {
    /// The thread.
    pub thread: u16,
    /// The instruction's address.
    pub code: u64,
    /// It writes.
    pub is_write: bool,
}

/// Accesses by instruction.
#[derive(Debug, Clone, Default)]
pub struct HotDeck {
    by_instruction: BTreeMap<Instruction, Seen>,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    cells: BTreeMap<Cell, u64>,
    donors: BTreeMap<Cell, u64>,
    without_address: u64,
}

/// One thread's reads and writes of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// The sums.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// By cell and thread.
    pub counts: BTreeMap<(Cell, u16), Count>,
    /// Accesses whose address was taken from another sample.
    pub filled_in: u64,
    /// Accesses that nobody saw the address of.
    pub without_area: u64,
}

impl HotDeck {
    /// An access with an address.
    pub fn see(&mut self, instruction: Instruction, cell: Cell) {
        *self.by_instruction.entry(instruction).or_default().cells.entry(cell).or_insert(0) += 1;
    }

    /// Where an access of this instruction goes, without counting it.
    pub fn donate(&mut self, instruction: Instruction, cell: Cell) {
        *self.by_instruction.entry(instruction).or_default().donors.entry(cell).or_insert(0) += 1;
    }

    /// An access without one.
    pub fn miss(&mut self, instruction: Instruction) {
        self.by_instruction.entry(instruction).or_default().without_address += 1;
    }

    /// Fills in what is missing, and adds up.
    pub fn sums(&self, random: &mut Random) -> Sums {
        let mut sums = Sums::default();
        for (instruction, seen) in &self.by_instruction {
            let mut add = |cell: Cell, accesses: u64| {
                let count = sums.counts.entry((cell, instruction.thread)).or_default();
                if instruction.is_write { count.writes += accesses } else { count.reads += accesses }
            };
            seen.cells.iter().for_each(|(cell, accesses)| add(*cell, *accesses));
            let donors: u64 = seen.donors.values().sum();
            if donors == 0 {
                sums.without_area += seen.without_address;
                continue;
            }
            sums.filled_in += seen.without_address;
            for _ in 0..seen.without_address {
                let mut place = random.below(usize::try_from(donors).unwrap_or(usize::MAX)) as u64;
                let donor = seen.donors.iter().find(|(_, accesses)| {
                    let is_it = place < **accesses;
                    place = place.saturating_sub(**accesses);
                    is_it
                });
                if let Some((cell, _)) = donor {
                    add(*cell, 1);
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_without_address_goes_where_others_of_its_instruction_went_and_none_is_lost() {
        let mut deck = HotDeck::default();
        let instruction = Instruction { thread: 1, code: 0x400, is_write: false };
        let cell = |area| Cell { area, granule: 0, node: 0 };
        (0..300).for_each(|_| deck.donate(instruction, cell(0)));
        (0..100).for_each(|_| deck.donate(instruction, cell(1)));
        (0..400).for_each(|_| deck.see(instruction, cell(1)));
        (0..4000).for_each(|_| deck.miss(instruction));
        deck.miss(Instruction { code: 0x500, ..instruction });
        let sums = deck.sums(&mut Random::new(7));
        assert_eq!((sums.filled_in, sums.without_area), (4000, 1));
        let reads = |area| sums.counts[&(cell(area), 1)].reads;
        assert_eq!(reads(0) + reads(1), 4400);
        // Three in four of 4000 drawn: the spread is 27.
        assert!((3000 - 150..3000 + 150).contains(&reads(0)), "{}", reads(0));
    }
}
