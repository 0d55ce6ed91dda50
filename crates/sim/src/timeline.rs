//! A server with a queue: first come, first served, by the time of arrival and whatever the order of asking.
//!
//! Buses, memories, coherence units and links are such servers. Processors run ahead of each other by up to the
//! ordering quantum, and a transaction asks for all its servers at once, the later ones at times to come; so requests
//! reach a server out of the order of their times. A plain "busy until" would make all wait for the one furthest ahead.
//! The queue keeps the latest requests in the order of their arrival: a new one takes its place among them, waits for
//! those before it, and pushes back those behind it.
//!
//! Exact where requests come in order; rates are conserved in any order. Departure from hardware: a request that was
//! answered already is not told of one that pushes it back; only those that ask later see both.

/// Fractions of a cycle that occupancies are kept in, so that a rate is met exactly on average.
const FRACTION_BITS: u32 = 8;
/// Requests that are remembered at most; the older half is forgotten when there are more. A request that comes before all
/// that are remembered waits for the forgotten ones.
const REMEMBERED: usize = 1024;

/// Small, since many are moved: two words of the host.
#[derive(Clone, Copy, Default)]
struct Request {
    arrival: u64,
    /// How long after its arrival the server is done with it and with all before it.
    stay: u32,
    length: u32,
}

impl Request {
    #[inline]
    fn new(arrival: u64, end: u64, length: u64) -> Self {
        // Both fit unless a wait is longer than 2^32 cycles; then the rest of it is lost.
        let clamped = |cycles: u64| u32::try_from(cycles).unwrap_or(u32::MAX);
        Self { arrival, stay: clamped(end - arrival), length: clamped(length) }
    }

    #[inline]
    fn end(self) -> u64 {
        self.arrival + u64::from(self.stay)
    }
}

/// A server's queue over time.
#[derive(Default)]
pub struct Timeline {
    /// In the order of arrival; equal ones in the order of asking.
    requests: Vec<Request>,
    /// When the server was done with all that are forgotten.
    forgotten_end: u64,
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

impl Timeline {
    /// Lets a request in that arrives at `time`, and returns how long it waits before it is served.
    #[inline]
    pub fn reserve(&mut self, time: u64, occupancy: &mut Occupancy) -> u64 {
        let length = occupancy.next();
        self.busy_cycles += length;
        let (last_arrival, free) =
            self.requests.last().map_or((0, self.forgotten_end), |last| (last.arrival, last.end()));
        if time < last_arrival {
            return self.reserve_before_others(time, length);
        }
        let begin = free.max(time);
        if self.requests.len() == REMEMBERED {
            self.forget();
        }
        self.requests.push(Request::new(time, begin + length, length));
        begin - time
    }

    /// The same for a request that came before others that asked first.
    #[inline(never)]
    fn reserve_before_others(&mut self, time: u64, length: u64) -> u64 {
        let mut place = self.requests.len();
        self.requests.push(Request::default());
        let requests = &mut self.requests[..];
        let mut free = self.forgotten_end;
        while place > 0 {
            let before = requests[place - 1];
            if before.arrival <= time {
                free = before.end();
                break;
            }
            requests[place] = before;
            place -= 1;
        }
        let begin = free.max(time);
        let mut end = begin + length;
        requests[place] = Request::new(time, end, length);
        for request in &mut requests[place + 1..] {
            let pushed = end + u64::from(request.length);
            if pushed <= request.end() {
                break;
            }
            *request = Request::new(request.arrival, pushed, request.length.into());
            end = pushed;
        }
        if self.requests.len() > REMEMBERED {
            self.forget();
        }
        begin - time
    }

    fn forget(&mut self) {
        self.forgotten_end = self.requests[REMEMBERED / 2 - 1].end();
        self.requests.drain(..REMEMBERED / 2);
    }

    /// Cycles granted so far.
    pub fn busy_cycles(&self) -> u64 {
        self.busy_cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn wait(line: &mut Timeline, time: u64, cycles: u64) -> u64 {
        line.reserve(time, &mut Occupancy::from_cycles(cycles as f64))
    }

    #[test]
    fn an_idle_server_makes_nobody_wait() {
        let mut line = Timeline::default();
        for k in 0..3000 {
            assert_eq!(wait(&mut line, k * 50, 50), 0);
        }
        assert_eq!(line.busy_cycles(), 150_000);
    }

    #[test]
    fn simultaneous_requests_queue_up() {
        let mut line = Timeline::default();
        for k in 0..3000 {
            assert_eq!(wait(&mut line, 100, 37), 37 * k);
        }
    }

    #[test]
    fn waits_in_order_of_time_equal_those_of_a_plain_queue() {
        for (load, seed) in [(20, 1), (36, 2), (40, 3), (90, 4)] {
            let mut random = Random::new(seed);
            let (mut line, mut free, mut now) = (Timeline::default(), 0u64, 0);
            for step in 0..20_000 {
                now += random.below(load);
                let length = 1 + random.below(38);
                assert_eq!(
                    wait(&mut line, now, length),
                    free.saturating_sub(now),
                    "seed {seed}, step {step}"
                );
                free = free.max(now) + length;
            }
        }
    }

    #[test]
    fn one_that_ran_ahead_does_not_hold_up_earlier_arrivals() {
        let mut line = Timeline::default();
        assert_eq!(wait(&mut line, 1000, 40), 0);
        assert_eq!(wait(&mut line, 10, 40), 0);
        assert_eq!(wait(&mut line, 20, 40), 30);
        assert_eq!(wait(&mut line, 1010, 40), 30);
    }

    #[test]
    fn one_that_asks_last_waits_for_exactly_what_came_before_it_in_whatever_order_that_asked() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let mut line = Timeline::default();
            let mut arrivals: Vec<(u64, u64)> =
                (0..300).map(|_| (random.below(4000), 1 + random.below(30))).collect();
            for &(time, length) in &arrivals {
                wait(&mut line, time, length);
            }
            arrivals.sort_unstable();
            let time = random.below(4500);
            let before = arrivals.iter().take_while(|&&(arrival, _)| arrival <= time);
            let free = before.fold(0, |free: u64, &(arrival, length)| free.max(arrival) + length);
            assert_eq!(wait(&mut line, time, 1), free.saturating_sub(time), "seed {seed}");
        }
    }

    #[test]
    fn an_overloaded_server_grants_no_more_than_all_of_its_time() {
        // More is asked for than there is time, by askers up to 1,000 cycles apart; the last of all ends when all work is done.
        let mut random = Random::new(7);
        let mut line = Timeline::default();
        let mut last = 0;
        for step in 0..100_000u64 {
            let time = step * 30 + random.below(1000);
            last = time + wait(&mut line, time, 40) + 40;
        }
        assert!(last.abs_diff(100_000 * 40) < 2 * 1000, "{last}");
    }

    #[test]
    fn fractions_are_met_on_average() {
        let mut line = Timeline::default();
        let mut occupancy = Occupancy::from_cycles(37.3);
        for _ in 0..1000 {
            line.reserve(0, &mut occupancy);
        }
        assert!(line.busy_cycles().abs_diff(37_300) <= 4, "{}", line.busy_cycles());
    }
}
