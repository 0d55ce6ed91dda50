//! Threads that wait in a loop: found by a probe or named by the front end, parked until what they poll changes.
//!
//! A parked thread costs no host time. It waits for the loss of a line that it polls; its polls are accounted when it
//! wakes. Should nothing change, it looks again by itself, after ever longer times while nothing does: a proof may rest on
//! a hash, and a loop that is only likely to go on may count its turns.

use super::System;
use crate::observer::Observer;
use crate::probe::{Probe, Spin};
use crate::record::Increment;
use crate::threads::{Status, ThreadId};

/// Shortest and longest time, in cycles, after which a spinning thread looks again although nothing changed.
const PATIENCE: (u64, u64) = (10_000, 1_000_000);

/// Why a thread is taken to spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpinEvidence {
    /// Its next turn of the loop cannot differ from the last one.
    Proven,
    /// It made the same poll again and again, but may count its turns, and give up after some.
    Likely,
}

/// One processor's search for spin-waits, and the one that it found.
pub(super) struct SpinSearch {
    pub(super) probe: Probe,
    pub(super) parked: Option<Parked>,
    /// Cycles after which the next proven spin looks again.
    patience: u64,
}

/// A thread that waits in a loop, off its processor.
pub(super) struct Parked {
    spin: Spin,
    since: u64,
    evidence: SpinEvidence,
}

impl Default for SpinSearch {
    fn default() -> Self {
        Self { probe: Probe::default(), parked: None, patience: PATIENCE.0 }
    }
}

impl<O: Observer> System<O> {
    /// The current thread polls `address` in a turn of so many instructions and reads: it waits until the line is
    /// taken away, or a quantum if it only is likely to go on. For operations that the front end sees one by one, such as
    /// atomics.
    pub fn spin(&mut self, address: u64, instructions: u64, reads: u64, evidence: SpinEvidence) {
        self.stop_probe();
        self.park(Spin { addresses: vec![address], instructions, reads }, evidence);
    }

    /// An access of the current thread while a probe looks at each.
    pub(super) fn access_under_probe(&mut self, address: u64, increment: Increment, code: u64, state: u64) {
        let cpu = self.current;
        let misses = self.engine.cpus[cpu].counters.level1_misses;
        self.engine.access(cpu, address, increment, code);
        self.wake_watchers();
        let is_quiet = !increment.is_write() && misses == self.engine.cpus[cpu].counters.level1_misses;
        match self.spins[cpu].probe.note(address, code, state, increment) {
            Ok(None) if is_quiet => {}
            Ok(Some(spin)) if is_quiet => {
                self.stop_probe();
                self.park(spin, SpinEvidence::Proven);
            }
            Ok(_) if !increment.is_write() && self.spins[cpu].probe.start_over() => {}
            _ => {
                self.spins[cpu].probe.discourage();
                self.stop_probe();
            }
        }
    }

    pub(super) fn stop_probe(&mut self) {
        let cpu = self.current;
        if self.spins[cpu].probe.is_active() {
            let instructions = self.spins[cpu].probe.stop();
            self.engine.charge(cpu, instructions.into());
            // The hooks must get their own block back.
            self.must_switch = true;
        }
    }

    fn park(&mut self, spin: Spin, evidence: SpinEvidence) {
        let cpu = self.current;
        self.must_switch = true;
        if self.threads.runnable_on(cpu) > 1 || !self.engine.watch(cpu, &spin.addresses) {
            return;
        }
        let now = self.engine.now(cpu);
        let search = &mut self.spins[cpu];
        let patience = match evidence {
            SpinEvidence::Likely => self.options.quantum_cycles,
            SpinEvidence::Proven => {
                let patience = search.patience;
                search.patience = (patience * 2).min(PATIENCE.1);
                patience
            }
        };
        search.parked = Some(Parked { spin, since: now, evidence });
        self.threads.suspend(cpu, Status::Spinning, Some(now + patience), now);
    }

    /// Wakes the threads whose polled lines were taken.
    pub(super) fn wake_watchers(&mut self) {
        let mut woken = 0;
        while let Some((cpu, time)) = self.engine.woken.pop() {
            let cpu = usize::from(cpu);
            self.spins[cpu].patience = PATIENCE.0;
            let spins_here = |thread: &crate::Thread| thread.cpu == cpu && thread.status == Status::Spinning;
            let waiter = self.threads.all().iter().position(spins_here);
            if let Some(id) = waiter.and_then(|index| u16::try_from(index).ok()) {
                self.wake_at(ThreadId(id), time, false);
                woken += 1;
            }
        }
        let alive = || self.threads.all().iter().filter(|thread| thread.status != Status::Exited).count();
        self.have_met |= woken > 0 && 2 * woken >= alive() - 1;
    }

    /// The spin-wait parked on a processor, if there is one, ends at cycle `time`: its polls are accounted.
    pub(super) fn end_spin(&mut self, cpu: usize, time: u64, timed_out: bool) {
        let Some(Parked { spin, since, evidence }) = self.spins[cpu].parked.take() else { return };
        self.engine.stop_watching(cpu);
        self.engine.poll_until(cpu, time.max(since), spin.instructions, spin.reads);
        match evidence {
            SpinEvidence::Proven => self.spins[cpu].probe.follow(),
            SpinEvidence::Likely if timed_out => self.spins[cpu].probe.suspect(),
            SpinEvidence::Likely => {}
        }
    }
}
