//! A processor's clock, and what it has in flight: misses and write-backs.
//!
//! Model: instructions take the base CPI. A load miss lets the processor go on for a window of instructions (what an
//! out-of-order core finds to do), then it waits; stores wait for nothing; neither may be issued while all miss
//! registers are taken. A line that is written back keeps its place in a buffer, of as many lines as there are miss
//! registers, until its home's memory has it; a miss that needs the place waits. The hooks only count instructions; stalls
//! are added when the simulator is next called, at the instruction where they would have begun.
//! Departure from hardware: loads that depend on an incomplete load are not known as such and overlap with it while
//! they are inside the window.

/// Parts of a cycle in which clocks are kept.
pub const TICKS_PER_CYCLE: u64 = 256;

/// A miss in its register, or a line in the write-back buffer.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    /// Cycle of its completion.
    done: u64,
    /// Instruction stamp at which the processor waits for it; `None` for a store and a write-back.
    needed_at: Option<u32>,
}

/// Clock and miss registers of one processor.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Time in ticks when the stamp was `base_stamp`, stalls included.
    base: u64,
    base_stamp: u32,
    ticks_per_instruction: u64,
    /// The inverse, in parts of 2^32: a product instead of a division at every stall.
    instructions_per_tick: u64,
    window: u32,
    registers: usize,
    /// In the order of issue.
    misses: Vec<InFlight>,
    /// As many as there are registers at most.
    write_backs: Vec<InFlight>,
    /// Instructions past `base_stamp` at which the oldest load in flight is needed; `u32::MAX` if there is none.
    next_wait: u32,
}

impl Clock {
    /// A clock at zero.
    pub fn new(cpi: f64, window: u32, registers: u32) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let ticks_per_instruction = (cpi * TICKS_PER_CYCLE as f64).round().max(1.0) as u64;
        Self {
            base: 0,
            base_stamp: 0,
            ticks_per_instruction,
            instructions_per_tick: (1 << 32) / ticks_per_instruction,
            window,
            registers: registers.max(1) as usize,
            misses: Vec::new(),
            write_backs: Vec::new(),
            next_wait: u32::MAX,
        }
    }

    /// Time at instruction stamp `stamp`, in ticks, with every stall that began before it.
    #[inline]
    pub fn ticks(&mut self, stamp: u32) -> u64 {
        while self.next_wait <= stamp.wrapping_sub(self.base_stamp) {
            self.wait_for_oldest_load();
        }
        self.unstalled(stamp)
    }

    #[inline(never)]
    fn wait_for_oldest_load(&mut self) {
        let due =
            self.misses.iter().position(|miss| miss.needed_at.is_some()).map(|at| self.misses.remove(at));
        if let Some(InFlight { done, needed_at: Some(needed_at) }) = due {
            self.stall_until(needed_at, done * TICKS_PER_CYCLE);
        }
        self.find_next_wait();
    }

    /// The same in whole cycles, rounded down.
    pub fn cycles(&mut self, stamp: u32) -> u64 {
        self.ticks(stamp) / TICKS_PER_CYCLE
    }

    /// Waits until a miss register is free, and returns the cycle.
    pub fn acquire_register(&mut self, stamp: u32) -> u64 {
        let now = self.cycles(stamp);
        if self.misses.is_empty() {
            return now;
        }
        let freed = make_room(&mut self.misses, self.registers, now);
        self.find_next_wait();
        self.wait_for_room(stamp, now, freed)
    }

    /// A miss issued at `stamp` completes at cycle `done`.
    pub fn add_miss(&mut self, stamp: u32, done: u64, is_load: bool) {
        let needed_at = is_load.then(|| stamp.wrapping_add(self.window));
        self.misses.push(InFlight { done, needed_at });
        self.find_next_wait();
    }

    /// Waits until the write-back buffer has room, and returns the cycle.
    pub fn acquire_buffer(&mut self, stamp: u32) -> u64 {
        let now = self.cycles(stamp);
        let freed = make_room(&mut self.write_backs, self.registers, now);
        self.wait_for_room(stamp, now, freed)
    }

    /// Waits for what must leave, if anything must; returns the cycle.
    fn wait_for_room(&mut self, stamp: u32, now: u64, freed: Option<u64>) -> u64 {
        let Some(done) = freed else { return now };
        self.stall_until(stamp, done * TICKS_PER_CYCLE);
        self.cycles(stamp)
    }

    /// A line written back is out of the buffer at cycle `done`.
    pub fn add_write_back(&mut self, done: u64) {
        self.write_backs.push(InFlight { done, needed_at: None });
    }

    /// Stalls for some cycles at `stamp`, after the stalls that began before it.
    #[inline]
    pub fn stall(&mut self, stamp: u32, cycles: u64) {
        self.ticks(stamp);
        self.base += cycles * TICKS_PER_CYCLE;
    }

    /// Waits for everything in flight.
    pub fn drain(&mut self, stamp: u32) {
        self.ticks(stamp);
        let last = self.misses.drain(..).map(|miss| miss.done).max().unwrap_or(0);
        self.next_wait = u32::MAX;
        self.stall_until(stamp, last * TICKS_PER_CYCLE);
    }

    /// Moves the clock forward to a cycle, if it is behind.
    pub fn advance_to(&mut self, stamp: u32, cycle: u64) {
        self.stall_until(stamp, cycle * TICKS_PER_CYCLE);
    }

    /// Instructions after `stamp` at which the clock reaches `cycle`, with the stalls of the loads in flight; 0 if it has.
    #[inline]
    pub fn instructions_until(&mut self, stamp: u32, cycle: u64) -> u64 {
        let mut now = self.ticks(stamp);
        let end = cycle * TICKS_PER_CYCLE;
        let mut passed = 0;
        if self.next_wait != u32::MAX {
            for miss in &self.misses {
                let Some(needed_at) = miss.needed_at else { continue };
                let needed_at = u64::from(needed_at.wrapping_sub(stamp));
                let reached = now + (needed_at - passed) * self.ticks_per_instruction;
                if reached >= end {
                    break;
                }
                (now, passed) = (reached.max(miss.done * TICKS_PER_CYCLE), needed_at);
            }
        }
        let left = end.saturating_sub(now).min(u64::from(u32::MAX));
        passed + ((left * self.instructions_per_tick) >> 32)
    }

    /// Instructions that some cycles would have taken.
    pub fn instructions_in(&self, cycles: u64) -> u64 {
        cycles * TICKS_PER_CYCLE / self.ticks_per_instruction
    }

    /// The stamps restart: what was `by` becomes 0.
    pub fn rebase(&mut self, stamp: u32, by: u32) {
        self.base = self.unstalled(stamp);
        self.base_stamp = stamp.wrapping_sub(by);
        for miss in &mut self.misses {
            miss.needed_at = miss.needed_at.map(|needed_at| needed_at.wrapping_sub(by));
        }
        self.find_next_wait();
    }

    fn find_next_wait(&mut self) {
        let needed_at = self.misses.iter().find_map(|miss| miss.needed_at);
        self.next_wait = needed_at.map_or(u32::MAX, |stamp| stamp.wrapping_sub(self.base_stamp));
    }

    fn unstalled(&self, stamp: u32) -> u64 {
        self.base + u64::from(stamp.wrapping_sub(self.base_stamp)) * self.ticks_per_instruction
    }

    /// At `stamp` the clock shows at least `ticks`.
    fn stall_until(&mut self, stamp: u32, ticks: u64) {
        self.base += ticks.saturating_sub(self.unstalled(stamp));
    }
}

/// Forgets what is done at cycle `now`. Where all places are still taken, takes out what is done first, and says when.
fn make_room(taken: &mut Vec<InFlight>, places: usize, now: u64) -> Option<u64> {
    taken.retain(|entry| entry.done > now);
    if taken.len() < places {
        return None;
    }
    let first = (0..taken.len()).min_by_key(|&at| taken[at].done)?;
    Some(taken.remove(first).done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_load_miss_costs_its_latency_less_the_window() {
        let mut clock = Clock::new(1.0, 40, 4);
        clock.add_miss(100, 300, true);
        assert_eq!(clock.cycles(139), 139);
        assert_eq!(clock.cycles(140), 300);
        assert_eq!(clock.cycles(141), 301);
    }

    #[test]
    fn misses_within_the_window_overlap() {
        let mut clock = Clock::new(1.0, 40, 4);
        clock.add_miss(0, 200, true);
        clock.add_miss(10, 210, true);
        assert_eq!(clock.cycles(40), 200);
        assert_eq!(clock.cycles(50), 210);
    }

    #[test]
    fn a_blocking_processor_pays_every_miss_in_full() {
        let mut clock = Clock::new(1.0, 0, 1);
        for k in 0..10 {
            let now = clock.acquire_register(k);
            assert_eq!(now, u64::from(k) + 100 * u64::from(k));
            clock.add_miss(k, now + 100, true);
        }
    }

    #[test]
    fn a_turn_ends_at_the_instruction_where_the_clock_passes_its_end() {
        let mut random = Random::new(3);
        for _ in 0..2000 {
            let mut clock = Clock::new(0.25 * (1 + random.below(8)) as f64, 40, 4);
            #[allow(clippy::cast_possible_truncation)]
            let stamps: Vec<u32> = (0..random.below(4)).map(|_| random.below(30) as u32).collect();
            let mut stamp = 0;
            for gap in stamps {
                stamp += gap;
                let now = clock.acquire_register(stamp);
                clock.add_miss(stamp, now + random.below(300), random.below(3) > 0);
            }
            let end = clock.cycles(stamp) + random.below(500);
            let room = u32::try_from(clock.instructions_until(stamp, end)).unwrap();
            let before = stamp + room.saturating_sub(1);
            assert!(clock.clone().cycles(before) <= end, "{clock:?}");
            assert!(clock.cycles(stamp + room + 1) >= end, "{clock:?}");
        }
    }

    #[test]
    fn stores_wait_only_for_a_register() {
        let mut clock = Clock::new(1.0, 40, 2);
        clock.add_miss(0, 500, false);
        clock.add_miss(1, 600, false);
        assert_eq!(clock.cycles(400), 400);
        assert_eq!(clock.acquire_register(400), 500);
    }

    #[test]
    fn a_full_buffer_of_write_backs_waits_for_the_first_to_leave() {
        let mut clock = Clock::new(1.0, 40, 2);
        for done in [900, 700] {
            assert_eq!(clock.acquire_buffer(10), 10);
            clock.add_write_back(done);
        }
        assert_eq!(clock.cycles(20), 20);
        assert_eq!(clock.acquire_buffer(20), 700);
    }

    #[test]
    fn rebasing_changes_no_time() {
        let mut clock = Clock::new(0.5, 40, 4);
        clock.add_miss(1000, 900, true);
        let mut other = Clock::new(0.5, 40, 4);
        other.add_miss(1000, 900, true);
        other.rebase(1010, 1000);
        assert_eq!(clock.ticks(2000), other.ticks(1000));
    }
}
