//! A server with a queue, as a calendar: one bit per cycle says whether the server is busy.
//!
//! Buses, memories, coherence units and links are such servers. Processors run ahead of each other by up to the
//! ordering quantum, so requests reach a server out of the order of their times. A plain "busy until" would let one
//! that ran ahead block all earlier ones; the calendar gives every request the first free cycles at or after its own
//! time, so it is work-conserving whatever the order, and exact when requests come in order.
//!
//! Departure from hardware: a request that comes late in host order may slip into a gap in front of one that was
//! granted before it; a grant may be split over several gaps.

/// Cycles per calendar word.
const WORD_CYCLES: u64 = 64;
/// Words in the ring. A request further than this behind the newest one is served at once.
const WORDS: usize = 2048;
/// Longest path over full words that is remembered; sums of two stay inside the type.
const SKIP_MAX: u16 = 1 << 14;
/// Fractions of a cycle that occupancies are kept in, so that a rate is met exactly on average.
const FRACTION_BITS: u32 = 8;

#[derive(Clone, Copy)]
struct Word {
    /// Which 64 cycles this ring place holds now.
    number: u64,
    busy: u64,
}

/// A server's occupancy over time.
pub struct Timeline {
    words: Box<[Word]>,
    /// For a word without a free bit, how many words on the next one with a free bit may be; a lower bound.
    skips: Box<[u16]>,
    busy_cycles: u64,
}

/// How long a request keeps a server busy, with the remainder that earlier requests left over.
#[derive(Debug, Clone, Copy, Default)]
pub struct Occupancy {
    /// In 1/256 cycles.
    length: u64,
    carried: u64,
}

impl Occupancy {
    /// An occupancy of so many cycles, fractions allowed.
    pub fn from_cycles(cycles: f64) -> Self {
        // A float-to-int `as` saturates, so an absurd machine cannot wrap.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let length = (cycles * f64::from(1 << FRACTION_BITS)).round() as u64;
        Self { length, carried: 0 }
    }

    /// Whole cycles of the next request; what is cut off is carried to the one after it.
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
            busy_cycles: 0,
        }
    }
}

impl Timeline {
    /// Takes the first free cycles at or after `time` and returns the wait: how much later than in an idle server the
    /// request ends.
    pub fn reserve(&mut self, time: u64, occupancy: &mut Occupancy) -> u64 {
        let length = occupancy.next();
        self.busy_cycles += length;
        if length == 0 {
            return 0;
        }
        let number = time / WORD_CYCLES;
        let from = time % WORD_CYCLES;
        let word = &mut self.words[number as usize % WORDS];
        if word.number < number {
            *word = Word { number, busy: 0 };
        }
        // Most requests find the server idle for as long as they need it, within one word.
        if from + length <= WORD_CYCLES {
            let wanted = (u64::MAX >> (WORD_CYCLES - length)) << from;
            if word.number == number && word.busy & wanted == 0 {
                word.busy |= wanted;
                return 0;
            }
        }
        self.reserve_in_gaps(time, length)
    }

    #[inline(never)]
    fn reserve_in_gaps(&mut self, time: u64, length: u64) -> u64 {
        let mut needed = length;
        let mut number = time / WORD_CYCLES;
        let mut open = u64::MAX << (time % WORD_CYCLES);
        let horizon = number + WORDS as u64;
        while number < horizon {
            let at = number as usize % WORDS;
            let word = &mut self.words[at];
            if word.number != number {
                if word.number > number {
                    return 0;
                }
                *word = Word { number, busy: 0 };
            }
            if word.busy == u64::MAX {
                number = self.skip(number);
                open = u64::MAX;
                continue;
            }
            let free = !word.busy & open;
            let granted = lowest_bits(free, needed);
            word.busy |= granted;
            if word.busy == u64::MAX {
                self.skips[at] = 1;
            }
            needed -= u64::from(granted.count_ones());
            if needed == 0 {
                let end = number * WORD_CYCLES + u64::from(64 - granted.leading_zeros());
                return end - (time + length);
            }
            number += 1;
            open = u64::MAX;
        }
        (number * WORD_CYCLES).saturating_sub(time + length)
    }

    /// The word to look at after a full one; paths over full words halve each time they are walked.
    fn skip(&mut self, number: u64) -> u64 {
        let at = number as usize % WORDS;
        let next = number + u64::from(self.skips[at]);
        let beyond = next as usize % WORDS;
        let Word { number: there, busy } = self.words[beyond];
        if there == next && busy == u64::MAX && self.skips[at] < SKIP_MAX {
            self.skips[at] += self.skips[beyond];
        }
        next
    }

    /// Cycles granted so far.
    pub fn busy_cycles(&self) -> u64 {
        self.busy_cycles
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

    fn wait(line: &mut Timeline, time: u64, cycles: f64) -> u64 {
        line.reserve(time, &mut Occupancy::from_cycles(cycles))
    }

    #[test]
    fn an_idle_server_makes_nobody_wait() {
        let mut line = Timeline::default();
        for k in 0..1000 {
            assert_eq!(wait(&mut line, k * 50, 50.0), 0);
        }
        assert_eq!(line.busy_cycles(), 50_000);
    }

    #[test]
    fn simultaneous_requests_queue_up() {
        let mut line = Timeline::default();
        for k in 0..20 {
            assert_eq!(wait(&mut line, 100, 37.0), 37 * k);
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
        assert!((line.busy_cycles() as i64 - 37_300).abs() <= 4, "{}", line.busy_cycles());
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
            wait(&mut line, (state >> 33) % 30_000, length as f64);
            granted += length;
        }
        let busy: u64 = line.words.iter().map(|word| u64::from(word.busy.count_ones())).sum();
        assert_eq!(busy, granted);
    }
}
