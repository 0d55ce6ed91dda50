//! Contested lines: those that move between caches because somebody writes them.
//!
//! A table of fixed size: a line that meets an older one in its place wears that one down and takes the place when
//! nothing is left of it (as in Misra and Gries 1982), so lines that go on moving stay and one-off moves pass. Counts
//! of lines that had to fight for their place are lower bounds.

use olifant_sim::{index, mix};

/// Places of the table; each holds one line.
const PLACES: usize = 1 << 15;
/// Threads that a line remembers; the most active stay.
const CONTESTANTS: usize = 8;
/// Parts of a line that masks can name.
const MASK_PARTS: u64 = 64;
/// Bytes that an access is taken to cover, since hooks pass no size.
const ACCESS_BYTES: u64 = 4;

/// One thread's part in a contested line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contestant {
    /// The thread.
    pub thread: u16,
    /// Transactions that read.
    pub reads: u32,
    /// Transactions that wrote.
    pub writes: u32,
    /// Parts of the line read: bit i is bytes from i times line / 64, at least one byte, on.
    pub read_mask: u64,
    /// Parts written.
    pub write_mask: u64,
    /// Code address of the latest such access.
    pub code: u64,
}

/// A contested line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contest {
    /// Its first address.
    pub address: u64,
    /// Line size.
    pub bytes: u64,
    /// Transactions that took or invalidated another cache's copy.
    pub transfers: u64,
    /// Who, ascending by thread.
    pub by: Vec<Contestant>,
}

/// Which line holds a place, and how firmly. Apart from the rest, since most looks at the table need no more.
#[derive(Clone, Copy, Default)]
struct Hold {
    /// The line's number, cut to 32 bits: 2^32 lines are more than a simulated program has.
    line: u32,
    weight: u32,
}

/// What is known of the line that holds a place. In one piece, so that a note touches few lines of the host.
#[derive(Clone)]
struct Place {
    transfers: u64,
    /// Whose the contestants are, in one line of the host to search; [`NOBODY`] where there is none.
    threads: [u16; CONTESTANTS],
    contestants: [Contestant; CONTESTANTS],
}

/// No thread.
const NOBODY: u16 = u16::MAX;

const fn newcomer(thread: u16) -> Contestant {
    Contestant { thread, reads: 0, writes: 0, read_mask: 0, write_mask: 0, code: 0 }
}

const NEW_PLACE: Place =
    Place { transfers: 0, threads: [NOBODY; CONTESTANTS], contestants: [newcomer(NOBODY); CONTESTANTS] };

impl Place {
    /// Makes room for another line. What the contestants did stays until others take their entries.
    fn clear(&mut self) {
        self.transfers = 0;
        self.threads = [NOBODY; CONTESTANTS];
    }

    /// The entry of a thread; a new one takes the place of the least active if there is no room.
    fn contestant(&mut self, thread: u16) -> &mut Contestant {
        let at = self.threads.iter().position(|&other| other == thread).unwrap_or_else(|| {
            let activity = |at: &usize| self.contestants[*at].reads + self.contestants[*at].writes;
            let free = self.threads.iter().position(|&other| other == NOBODY);
            let at = free.or_else(|| (0..CONTESTANTS).min_by_key(activity)).unwrap_or(0);
            self.threads[at] = thread;
            self.contestants[at] = newcomer(thread);
            at
        });
        &mut self.contestants[at]
    }

    /// Those that are somebody.
    fn by(&self) -> impl Iterator<Item = Contestant> + '_ {
        let somebody = self.threads.iter().zip(&self.contestants).filter(|&(&thread, _)| thread != NOBODY);
        somebody.map(|(_, &contestant)| contestant)
    }
}

pub(crate) struct ContestTable {
    line_bits: u32,
    holds: Vec<Hold>,
    places: Vec<Place>,
}

impl ContestTable {
    pub(crate) fn new(line_bytes: u64) -> Self {
        Self {
            line_bits: line_bytes.trailing_zeros(),
            holds: vec![Hold::default(); PLACES],
            places: vec![NEW_PLACE; PLACES],
        }
    }

    /// log2 of the line size.
    pub(crate) fn line_bits(&self) -> u32 {
        self.line_bits
    }

    pub(crate) fn note(&mut self, line: u64, thread: u16, offset: u64, is_write: bool, code: u64) {
        let at = index(mix(line) % PLACES as u64);
        #[allow(clippy::cast_possible_truncation)]
        let line = line as u32;
        let hold = &mut self.holds[at];
        if hold.weight > 0 && hold.line != line {
            hold.weight -= 1;
            return;
        }
        let place = &mut self.places[at];
        if hold.weight == 0 {
            hold.line = line;
            place.clear();
        }
        hold.weight = hold.weight.saturating_add(1);
        place.transfers += 1;
        let mask = mask(offset, self.line_bits);
        let contestant = place.contestant(thread);
        contestant.code = code;
        if is_write {
            contestant.writes += 1;
            contestant.write_mask |= mask;
        } else {
            contestant.reads += 1;
            contestant.read_mask |= mask;
        }
    }

    pub(crate) fn contests(&self, address: impl Fn(u64) -> u64) -> Vec<Contest> {
        let mut all: Vec<Contest> = self
            .places
            .iter()
            .zip(&self.holds)
            .filter(|(place, _)| place.by().count() > 1)
            .map(|(place, hold)| {
                let mut by: Vec<Contestant> = place.by().collect();
                by.sort_unstable_by_key(|contestant| contestant.thread);
                Contest {
                    address: address(hold.line.into()),
                    bytes: 1 << self.line_bits,
                    transfers: place.transfers,
                    by,
                }
            })
            .collect();
        all.sort_unstable_by_key(|contest| (std::cmp::Reverse(contest.transfers), contest.address));
        all
    }
}

/// The parts of a line that an access at `offset` covers.
fn mask(offset: u64, line_bits: u32) -> u64 {
    let part_bits = line_bits.saturating_sub(MASK_PARTS.trailing_zeros());
    let last_byte = (1 << line_bits) - 1;
    let first = offset & last_byte;
    let (first, last) = (first >> part_bits, (first + ACCESS_BYTES - 1).min(last_byte) >> part_bits);
    (first..=last).fold(0, |mask, bit| mask | 1 << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_line_leads_and_names_who_uses_what() {
        let mut table = ContestTable::new(32);
        for _ in 0..100 {
            table.note(7, 1, 0, true, 0x10);
            table.note(7, 2, 8, true, 0x20);
            table.note(9, 1, 0, true, 0x10);
            table.note(9, 3, 0, false, 0x30);
        }
        table.note(7, 1, 0, true, 0x10);
        let contests = table.contests(|line| line * 32);
        assert_eq!(contests[0].address, 224);
        assert_eq!(contests[0].transfers, 201);
        assert_eq!(contests[0].by[0].write_mask, 0x00f);
        assert_eq!(contests[0].by[1].write_mask, 0xf00);
    }

    #[test]
    fn a_line_that_keeps_moving_survives_a_stream_of_others() {
        let mut table = ContestTable::new(32);
        for k in 0..1_000_000u64 {
            if k % 8 == 0 {
                table.note(3, (k / 8 % 2) as u16, 0, true, 1);
            }
            table.note(1000 + k, 0, 0, false, 1);
        }
        assert_eq!(table.contests(|line| line)[0].address, 3);
    }
}
