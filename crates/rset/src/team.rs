//! Threads under a policy: the thread-package-like layer of the papers' RSet library.
//!
//! A [`Team`] says how many threads there are and on which cpus of a set each runs. Running it makes the threads, binds
//! each, and starts the work only when all are bound: a thread that cannot be bound is an error before any work, not a
//! slow thread. A thread's new memory comes from the set, nearest first.

use crate::System;
use crate::error::{Cause, Error, Result};
use core::ops::Range;
use olifant_machine::{Bytes, CpuId, Node};
use olifant_placement::{ResourceSet, ThreadPolicy};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Threads and where each runs.
#[derive(Debug, Clone)]
pub struct Team {
    system: System,
    set: ResourceSet,
    /// What each thread is bound to.
    places: Vec<ResourceSet>,
}

/// One thread of a team at work.
#[derive(Debug, Clone, Copy)]
pub struct Member<'t> {
    /// Its number, from 0.
    pub number: usize,
    /// How many there are.
    pub count: usize,
    /// What it is bound to.
    pub place: &'t ResourceSet,
}

impl Team {
    /// A team of `count` threads on a set: thread i on the i-th cpu that the policy deals, from the start again where
    /// there are more threads than cpus; floating threads run on all of the set. 0 threads are one for each cpu.
    /// # Errors  [`Error::Refused`] if the set has no cpus, or a list names one that it does not have.
    pub fn new(system: &System, set: &ResourceSet, policy: &ThreadPolicy, count: usize) -> Result<Team> {
        let action = || format!("make a team on {set}");
        let nodes: Vec<Node> = system
            .hierarchy()
            .nodes()
            .iter()
            .map(|node| Node {
                id: node.id,
                cpus: node.cpus.intersection(&set.cpus).iter().collect(),
                memory: Bytes(0),
            })
            .collect();
        let order = policy.assign(&nodes);
        if order.is_empty() {
            return Err(Error::refused(action(), Cause::Empty { needs: "cpus" }));
        }
        let outside: Vec<CpuId> = order.iter().copied().filter(|&cpu| !set.cpus.contains(cpu)).collect();
        if let Some(cpu) = outside.first() {
            return Err(Error::invalid(
                action(),
                format!("the list names cpu {cpu}, which the set does not have"),
            ));
        }
        let count = if count == 0 { order.len() } else { count };
        let place = |cpu: CpuId| match policy {
            ThreadPolicy::Float => set.clone(),
            _ => ResourceSet::new([cpu].into_iter().collect(), set.nodes.clone()),
        };
        let places = order.iter().cycle().take(count).map(|&cpu| place(cpu)).collect();
        Ok(Team { system: system.clone(), set: set.clone(), places })
    }

    /// How many threads there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none, which [`Team::new`] rules out.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What each thread is bound to, by number.
    pub fn places(&self) -> &[ResourceSet] {
        &self.places
    }

    /// Runs `work` once on each thread and gives the results by number.
    /// # Errors  [`Error::Refused`] if a thread cannot be made or bound; then no work has run.
    /// # Panics  As `work` does.
    pub fn run<T: Send>(&self, work: impl Fn(Member<'_>) -> T + Sync) -> Result<Vec<T>> {
        let count = self.len();
        let gate = Gate::new(count);
        let member = |number: usize| {
            let place = &self.places[number];
            let is_open = gate.pass(self.system.bind_here(place).err());
            is_open.then(|| work(Member { number, count, place }))
        };
        let results = std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(count);
            for number in 0..count {
                let member = &member;
                let name = format!("rset-{number}");
                match std::thread::Builder::new().name(name).spawn_scoped(scope, move || member(number)) {
                    Ok(thread) => threads.push(thread),
                    Err(source) => {
                        let problem = format!("the system makes no more threads: {source}");
                        gate.shut(Error::invalid(format!("start thread {number} of {count}"), problem));
                        break;
                    }
                }
            }
            let join = |thread: std::thread::ScopedJoinHandle<'_, Option<T>>| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect::<Option<Vec<T>>>()
        });
        match gate.failure() {
            Some(error) => Err(error),
            None => Ok(results.unwrap_or_default()),
        }
    }

    /// Runs `body` for the parts of a range, one part a thread, in order of the threads: neighbouring parts are on
    /// neighbouring threads, and the same range is always cut alike, so data placed by one loop is local in the next.
    /// # Errors  As [`Team::run`].
    pub fn parallel_for(
        &self,
        range: Range<usize>,
        body: impl Fn(Range<usize>, Member<'_>) + Sync,
    ) -> Result<()> {
        let length = range.len();
        self.run(|member| {
            let cut = |number: usize| range.start + part_start(length, number, member.count);
            let part = cut(member.number)..cut(member.number + 1);
            if !part.is_empty() {
                body(part, member);
            }
        })?;
        Ok(())
    }

    /// The set that the team was made on.
    pub fn set(&self) -> &ResourceSet {
        &self.set
    }
}

/// Where threads wait until all are bound, or one has failed.
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

struct GateState {
    missing: usize,
    failure: Option<Error>,
    has_failed: bool,
}

impl Gate {
    fn new(count: usize) -> Gate {
        let state = GateState { missing: count, failure: None, has_failed: false };
        Gate { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits for the others; false if one of them, or the caller, has failed.
    fn pass(&self, failure: Option<Error>) -> bool {
        if let Some(error) = failure {
            self.shut(error);
        }
        let mut state = self.locked();
        state.missing -= 1;
        self.changed.notify_all();
        while state.missing > 0 && !state.has_failed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.has_failed
    }

    /// Lets nobody through; the first error stays.
    fn shut(&self, error: Error) {
        let mut state = self.locked();
        state.failure.get_or_insert(error);
        state.has_failed = true;
        self.changed.notify_all();
    }

    fn failure(&self) -> Option<Error> {
        self.locked().failure.take()
    }

    fn locked(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where part `number` of `count` starts in `length` things; sizes differ by one at most.
fn part_start(length: usize, number: usize, count: usize) -> usize {
    length / count * number + (length % count).min(number)
}
