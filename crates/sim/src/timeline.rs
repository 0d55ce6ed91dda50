//! A server with a queue, as a calendar: one bit per four cycles says whether the server is busy.
//!
//! Buses, memories, coherence units and links are such servers. Processors run ahead of each other by up to the
//! ordering quantum, so requests reach a server out of the order of their times. A plain "busy until" would let one
//! that ran ahead block all earlier ones; the calendar gives every request the first free cycles at or after its own
//! time, so it is work-conserving whatever the order, and exact when requests come in order.
//!
//! An idle server makes nobody wait and rates are met exactly; a wait is a multiple of four cycles.
//! Departure from hardware: a request that comes late in host order may slip into a gap in front of one that was
//! granted before it; a grant may be split over several gaps.

use crate::index::index;

/// Cycles per bit: coarse enough that most grants lie within one word, fine against the occupancies of real servers.
const BIT_CYCLES: u64 = 4;
/// Bits per calendar word.
const WORD_BITS: u64 = 64;
/// Words in the ring: how far apart in time, in units of 256 cycles, bookings may lie before they wait for each other.
const WORDS: usize = 2048;
/// Longest path over full words that is remembered; sums of two stay inside the type.
const SKIP_MAX: u16 = 1 << 14;
/// Fractions of a calendar bit that occupancies are kept in, so that a rate is met exactly on average.
const FRACTION_BITS: u32 = 8;

#[derive(Clone, Copy)]
struct Word {
    /// Which 64 bits of the calendar this ring place holds now.
    number: u64,
    busy: u64,
}

/// A server's occupancy over time.
pub struct Timeline {
    words: Box<[Word]>,
    /// For a word without a free bit, how many words on the next one with a free bit may be; a lower bound.
    skips: Box<[u16]>,
    busy_bits: u64,
}

/// How long a request keeps a server busy, with the remainder that earlier requests left over.
#[derive(Debug, Clone, Copy, Default)]
pub struct Occupancy {
    /// In 1/256 calendar bits.
    length: u64,
    carried: u64,
}

impl Occupancy {
    /// An occupancy of so many cycles, fractions allowed.
    pub fn from_cycles(cycles: f64) -> Self {
        // A float-to-int `as` saturates, so an absurd machine cannot wrap.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let length = (cycles / BIT_CYCLES as f64 * f64::from(1 << FRACTION_BITS)).round() as u64;
        Self { length, carried: 0 }
    }

    /// Whole calendar bits of the next request; what is cut off is carried to the one after it.
    fn next(&mut self) -> u64 {
        let total = self.length + self.carried;
        self.carried = total & ((1 << FRACTION_BITS) - 1);
        total >> FRACTION_BITS
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            words: vec![Word { number: 0, busy: 0 }; WORDS].into_boxed_slice(),
            skips: vec![1; WORDS].into_boxed_slice(),
            busy_bits: 0,
        }
    }
}

impl Timeline {
    /// Takes the first free cycles at or after `time` and returns the wait: how much later than in an idle server the
    /// request ends.
    pub fn reserve(&mut self, time: u64, occupancy: &mut Occupancy) -> u64 {
        let length = occupancy.next();
        self.busy_bits += length;
        if length == 0 {
            return 0;
        }
        let start = time / BIT_CYCLES;
        let number = start / WORD_BITS;
        let from = start % WORD_BITS;
        let at = index(number) % WORDS;
        let word = &mut self.words[at];
        if word.number < number {
            *word = Word { number, busy: 0 };
            self.skips[at] = 1;
        }
        // Most requests find the server idle for as long as they need it, within one word.
        if from + length <= WORD_BITS {
            let wanted = (u64::MAX >> (WORD_BITS - length)) << from;
            if word.number == number && word.busy & wanted == 0 {
                word.busy |= wanted;
                return 0;
            }
        }
        self.reserve_in_gaps(start, length) * BIT_CYCLES
    }

    /// The same for a request that finds no word idle for all of it; in calendar bits.
    #[inline(never)]
    fn reserve_in_gaps(&mut self, start: u64, length: u64) -> u64 {
        let mut needed = length;
        let mut number = start / WORD_BITS;
        let mut open = u64::MAX << (start % WORD_BITS);
        let horizon = number + WORDS as u64;
        while number < horizon {
            let at = index(number) % WORDS;
            let word = &mut self.words[at];
            if word.number > number {
                // Somebody booked a lap ahead in this place: what it held before is closed.
                number += 1;
                open = u64::MAX;
                continue;
            }
            if word.number < number {
                *word = Word { number, busy: 0 };
                self.skips[at] = 1;
            }
            if word.busy == u64::MAX {
                number = self.skip(number);
                open = u64::MAX;
                continue;
            }
            let free = !word.busy & open;
            let granted = lowest_bits(free, needed);
            word.busy |= granted;
            needed -= u64::from(granted.count_ones());
            if needed == 0 {
                let end = number * WORD_BITS + u64::from(64 - granted.leading_zeros());
                return end - (start + length);
            }
            number += 1;
            open = u64::MAX;
        }
        (number * WORD_BITS).saturating_sub(start + length)
    }

    /// The word to look at after a full one; paths over full words halve each time they are walked.
    fn skip(&mut self, number: u64) -> u64 {
        let at = index(number) % WORDS;
        let next = number + u64::from(self.skips[at]);
        let beyond = index(next) % WORDS;
        let Word { number: there, busy } = self.words[beyond];
        if there == next && busy == u64::MAX && self.skips[at] < SKIP_MAX {
            self.skips[at] += self.skips[beyond];
        }
        next
    }

    /// Cycles granted so far.
    pub fn busy_cycles(&self) -> u64 {
        self.busy_bits * BIT_CYCLES
    }
}

/// The lowest `n` (at least 1) set bits of a word, or all if there are fewer; taken run by run, since free cycles
/// lie together.
fn lowest_bits(word: u64, n: u64) -> u64 {
    let (mut rest, mut left) = (word, n);
    while rest != 0 && left > 0 {
        let first = rest.trailing_zeros();
        let run = u64::from((rest >> first).trailing_ones()).min(left);
        rest &= !((u64::MAX >> (64 - run)) << first);
        left -= run;
    }
    word & !rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The same server as a plain list of bits.
    fn plain_wait(busy: &mut [bool], time: u64, length: u64) -> u64 {
        let start = (time / BIT_CYCLES) as usize;
        let mut left = length;
        let mut at = start;
        while left > 0 {
            if !busy[at] {
                busy[at] = true;
                left -= 1;
            }
            at += 1;
        }
        (at as u64 - start as u64 - length) * BIT_CYCLES
    }

    #[test]
    fn waits_equal_those_of_a_plain_list_of_bits_over_many_laps_of_the_ring() {
        // Ten bits are asked for on average; an overload must not outgrow the ring.
        for (load, steps, seed) in [(6, 8_000, 1), (9, 40_000, 2), (11, 60_000, 3), (30, 60_000, 4)] {
            let mut random = Random::new(seed);
            let mut line = Timeline::default();
            let mut busy = vec![false; 4_000_000];
            let mut now = 0;
            for step in 0..steps {
                // Arrivals jump back and forth by a quantum around a time that goes on at about the rate of service.
                now += random.below(2 * BIT_CYCLES * load);
                let time = now + random.below(1000);
                let length = 1 + random.below(19);
                let expected = plain_wait(&mut busy, time, length);
                let found = wait(&mut line, time, (length * BIT_CYCLES) as f64);
                assert_eq!(found, expected, "seed {seed}, step {step}");
            }
        }
    }

    fn wait(line: &mut Timeline, time: u64, cycles: f64) -> u64 {
        line.reserve(time, &mut Occupancy::from_cycles(cycles))
    }

    #[test]
    fn an_idle_server_makes_nobody_wait() {
        let mut line = Timeline::default();
        for k in 0..1000 {
            assert_eq!(wait(&mut line, k * 48, 48.0), 0);
        }
        assert_eq!(line.busy_cycles(), 48_000);
    }

    #[test]
    fn simultaneous_requests_queue_up() {
        let mut line = Timeline::default();
        for k in 0..20 {
            assert_eq!(wait(&mut line, 100, 36.0), 36 * k);
        }
    }

    #[test]
    fn a_late_comer_from_the_past_uses_the_gap() {
        let mut line = Timeline::default();
        assert_eq!(wait(&mut line, 1000, 40.0), 0);
        assert_eq!(wait(&mut line, 10, 40.0), 0);
        assert_eq!(wait(&mut line, 980, 40.0), 40);
    }

    #[test]
    fn fractions_are_met_on_average() {
        let mut line = Timeline::default();
        let mut occupancy = Occupancy::from_cycles(37.3);
        for _ in 0..1000 {
            line.reserve(0, &mut occupancy);
        }
        assert!((line.busy_cycles() as i64 - 37_300).abs() <= 8, "{}", line.busy_cycles());
    }

    #[test]
    fn every_granted_cycle_is_granted_once() {
        // Waits in any order of arrival: total busy cycles equal the union of the grants.
        let mut line = Timeline::default();
        let mut state = 12345u64;
        let mut granted = 0;
        for _ in 0..2000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let length = 1 + (state >> 60);
            wait(&mut line, (state >> 33) % 100_000, (length * BIT_CYCLES) as f64);
            granted += length;
        }
        let busy: u64 = line.words.iter().map(|word| u64::from(word.busy.count_ones())).sum();
        assert_eq!(busy, granted);
    }
}
