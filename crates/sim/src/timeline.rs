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
const WORDS: usize = 4096;
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
        Self { words: vec![Word { number: 0, busy: 0 }; WORDS].into_boxed_slice(), busy_cycles: 0 }
    }
}

impl Timeline {
    /// Takes the first free cycles at or after `time` and returns the wait: how much later than in an idle server the
    /// request ends.
    pub fn reserve(&mut self, time: u64, occupancy: &mut Occupancy) -> u64 {
        let length = occupancy.next();
        let mut needed = length;
        self.busy_cycles += needed;
        let mut number = time / WORD_CYCLES;
        let mut open = u64::MAX << (time % WORD_CYCLES);
        let newest = number + WORDS as u64;
        while needed > 0 && number < newest {
            let word = &mut self.words[(number % WORDS as u64) as usize];
            if word.number != number {
                if word.number > number {
                    return 0;
                }
                *word = Word { number, busy: 0 };
            }
            let free = !word.busy & open;
            let count = u64::from(free.count_ones());
            if count >= needed {
                let last = nth_set_bit(free, needed);
                word.busy |= free & (u64::MAX >> (63 - last));
                return number * WORD_CYCLES + u64::from(last) + 1 - (time + length);
            }
            word.busy |= free;
            needed -= count;
            number += 1;
            open = u64::MAX;
        }
        (number * WORD_CYCLES).saturating_sub(time + length)
    }

    /// Cycles granted so far.
    pub fn busy_cycles(&self) -> u64 {
        self.busy_cycles
    }
}

/// Position of the `n`-th set bit (counting from 1) of a word that has at least `n`.
fn nth_set_bit(mut word: u64, n: u64) -> u32 {
    let run = (word >> word.trailing_zeros()).trailing_ones();
    if u64::from(run) >= n {
        #[allow(clippy::cast_possible_truncation)]
        return word.trailing_zeros() + n as u32 - 1;
    }
    for _ in 1..n {
        word &= word - 1;
    }
    word.trailing_zeros()
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
