//! Finds spin-waits: a loop whose every turn leaves the processor in the same state and writes nothing waits for
//! another processor, and would go on for ever without it.
//!
//! When a thread has used up its turn with first-level hits on reads only, its next accesses are looked at one by one.
//! The front end passes a hash of the thread's registers and near stack; if the same code address is reached in the same
//! state, the turn between is a proven spin-wait: the thread is parked until a line that it read is taken away, and
//! its polls are accounted arithmetically. A loop that counts its turns never repeats a state and is left alone.
//!
//! A thread that wakes since its line was taken is looked at again at once, for as long as it stays in that loop: what it
//! waits for may not have come yet, as when others arrive at a barrier.

use crate::record::{Increment, Record};

/// Accesses looked at before a probe gives up.
const PROBE_LENGTH: usize = 32;
/// Turns that are let pass after fruitless probes, at most.
const PATIENCE_MAX: u32 = 64;

#[derive(Debug, Clone, Copy)]
struct Step {
    address: u64,
    code: u64,
    state: u64,
    increment: Increment,
}

/// A proven spin-wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spin {
    /// What one turn reads.
    pub addresses: Vec<u64>,
    /// Instructions of one turn.
    pub instructions: u64,
    /// Reads of one turn.
    pub reads: u64,
}

/// The search for spin-waits on one processor.
pub struct Probe {
    /// A block without tags, so that hooks serve no access while it stands in for the processor's own.
    decoy: Box<[Record]>,
    steps: Vec<Step>,
    is_active: bool,
    /// Whether it looks at a thread that wakes from a proven spin-wait, and only while that goes on.
    is_following: bool,
    /// Code addresses of the last proven turn.
    turn_codes: Vec<u64>,
    patience: u32,
    turns_to_pass: u32,
}

impl Default for Probe {
    fn default() -> Self {
        let mut header = Record::header(0, 1);
        header.set_limit(u32::MAX);
        Self {
            decoy: vec![header, Record::default()].into_boxed_slice(),
            steps: Vec::with_capacity(PROBE_LENGTH),
            is_active: false,
            is_following: false,
            turn_codes: Vec::new(),
            patience: 0,
            turns_to_pass: 0,
        }
    }
}

impl Probe {
    /// Whether accesses are being looked at.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// The block that makes hooks call for each access.
    pub fn decoy(&self) -> &[Record] {
        &self.decoy
    }

    /// A turn ended that only hit on reads: starts to look, unless such turns were fruitless lately.
    pub fn suspect(&mut self) {
        if self.turns_to_pass > 0 {
            self.turns_to_pass -= 1;
            return;
        }
        self.is_active = true;
        self.steps.clear();
    }

    /// A thread wakes from a proven spin-wait: looks whether it goes on.
    pub fn follow(&mut self) {
        self.is_active = true;
        self.is_following = true;
        self.steps.clear();
    }

    /// What was proven so far no longer holds: a line was fetched anew. Looks on if the thread is being followed.
    pub fn start_over(&mut self) -> bool {
        self.steps.clear();
        self.is_following
    }

    /// Stops looking; returns the instructions that hooks counted in the decoy.
    pub fn stop(&mut self) -> u32 {
        self.is_active = false;
        self.is_following = false;
        let instructions = self.decoy[0].stamp();
        self.decoy[0].set_stamp(0);
        instructions
    }

    /// The last look was fruitless: lets more turns pass before the next. To have followed a thread out of its loop is no
    /// failure.
    pub fn discourage(&mut self) {
        if self.is_following {
            return;
        }
        self.patience = (self.patience * 2 + 1).min(PATIENCE_MAX);
        self.turns_to_pass = self.patience;
    }

    /// Notes an access that hit and wrote nothing. A spin if this state was seen before; `Err` if the search is over.
    pub fn note(
        &mut self,
        address: u64,
        code: u64,
        state: u64,
        increment: Increment,
    ) -> Result<Option<Spin>, ()> {
        if self.is_following && !self.turn_codes.contains(&code) {
            return Err(());
        }
        let seen = self.steps.iter().rposition(|step| (step.code, step.state) == (code, state));
        if let Some(first) = seen {
            let turn = &self.steps[first..];
            let mut addresses: Vec<u64> = turn.iter().map(|step| step.address).collect();
            addresses.sort_unstable();
            addresses.dedup();
            self.patience = 0;
            self.turn_codes.clear();
            self.turn_codes.extend(turn.iter().map(|step| step.code));
            let instructions = turn.iter().map(|step| u64::from(step.increment.instructions())).sum();
            let reads = turn.iter().map(|step| step.increment.reads()).sum();
            return Ok(Some(Spin { addresses, instructions, reads }));
        }
        if self.steps.len() == PROBE_LENGTH {
            return Err(());
        }
        self.steps.push(Step { address, code, state, increment });
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_state_is_a_spin_with_its_turn() {
        let mut probe = Probe::default();
        probe.suspect();
        let read = Increment::read(3);
        assert_eq!(probe.note(8, 100, 1, read), Ok(None));
        assert_eq!(probe.note(64, 104, 2, read), Ok(None));
        let spin = probe.note(8, 100, 1, read);
        assert_eq!(spin, Ok(Some(Spin { addresses: vec![8, 64], instructions: 6, reads: 2 })));
    }

    #[test]
    fn a_counting_loop_is_no_spin() {
        let mut probe = Probe::default();
        probe.suspect();
        let mut turns = 0;
        while let Ok(found) = probe.note(8, 100, turns, Increment::read(3)) {
            assert_eq!(found, None);
            turns += 1;
        }
        assert_eq!(turns, PROBE_LENGTH as u64);
    }

    #[test]
    fn a_followed_thread_is_looked_at_until_it_leaves_its_loop() {
        let mut probe = Probe::default();
        let read = Increment::read(3);
        probe.suspect();
        assert_eq!(probe.note(8, 100, 1, read), Ok(None));
        assert!(matches!(probe.note(8, 100, 1, read), Ok(Some(_))));
        probe.stop();
        probe.follow();
        assert_eq!(probe.note(8, 100, 2, read), Ok(None));
        assert!(probe.start_over());
        assert_eq!(probe.note(8, 100, 2, read), Ok(None));
        assert_eq!(probe.note(64, 200, 3, read), Err(()));
    }

    #[test]
    fn fruitless_probes_become_rare() {
        let mut probe = Probe::default();
        let mut looks = 0;
        for _ in 0..1000 {
            probe.suspect();
            if probe.is_active() {
                looks += 1;
                probe.stop();
                probe.discourage();
            }
        }
        assert!(looks < 30, "{looks}");
    }
}
