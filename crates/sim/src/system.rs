//! The whole simulated system: the machine's engine, its clocks' order, and the operating system's scheduler.
//!
//! The ordering rule, part of the specification: the processor with the smallest (time, number) among those with a
//! runnable thread runs next, until its clock is `quantum` cycles past the next one's (or past the next sleeper's
//! time). With a smaller quantum processors see each other's writes sooner; what a quantum does to results is
//! measured in `experiments`. Nothing else orders events, so a run is a function of program, input, machine, seed
//! and quantum.
//!
//! The caller runs the program's threads as contexts on one host thread, calls in for what hooks cannot serve, and
//! switches context as `choose` says.

mod spin_wait;

use crate::engine::Engine;
use crate::observer::Observer;
use crate::pages::Placement;
use crate::random::{Random, mix};
use crate::record::{Increment, Record};
use crate::setup::SimError;
pub use crate::threads::ThreadId;
use crate::threads::{Status, Thread, Threads};
use olifant_machine::{Hertz, Machine};
use olifant_placement::{MemoryPolicy, ThreadPolicy};
pub use spin_wait::SpinEvidence;
use spin_wait::SpinSearch;

/// What a run is told besides the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Where threads run.
    pub threads: ThreadPolicy,
    /// Where pages live, unless a range says otherwise.
    pub memory: MemoryPolicy,
    /// Seed of every choice left to chance.
    pub seed: u64,
    /// Cycles that a processor may run ahead of the others.
    pub quantum_cycles: u64,
    /// Whether more runnable threads than processors take turns instead of being refused.
    pub allow_oversubscription: bool,
    /// Instructions charged per access by hooks that carry no count.
    pub default_instructions: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: ThreadPolicy::Fill,
            memory: MemoryPolicy::FirstTouch,
            seed: 1,
            quantum_cycles: 1000,
            allow_oversubscription: false,
            default_instructions: 3,
        }
    }
}

/// Who runs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// This thread; it is the current one now.
    Run(ThreadId),
    /// No thread can ever run again.
    AllBlocked,
    /// More threads are runnable than there are processors, and they may not take turns.
    Oversubscribed {
        /// Runnable threads.
        threads: usize,
        /// Processors.
        cpus: usize,
    },
}

/// The simulated system.
pub struct System<O> {
    engine: Engine<O>,
    threads: Threads,
    /// Processors in the order in which threads are dealt to them.
    deal: Vec<usize>,
    options: Options,
    clock: Hertz,
    time_slice: u64,
    slice_ends: Vec<u64>,
    current: usize,
    deadline: u64,
    must_switch: bool,
    /// Per processor, its search for spin-waits.
    spins: Vec<SpinSearch>,
    /// Per processor, its first-level misses when the current turn began.
    misses_before: u64,
    have_met: bool,
}

impl<O: Observer> System<O> {
    /// A system without threads.
    /// # Errors  If the machine cannot be simulated, or a policy names a part that it lacks.
    pub fn new(machine: &Machine, options: Options, observer: O) -> Result<Self, SimError> {
        let engine = Engine::new(
            machine,
            options.memory.clone(),
            options.seed,
            options.default_instructions,
            observer,
        )?;
        let cpus = engine.cpus();
        let absent =
            |what: String, present: String| SimError::Absent { what, machine: machine.name.clone(), present };
        if let MemoryPolicy::Node(node) = &options.memory
            && !machine.nodes.iter().any(|other| other.id == *node)
        {
            return Err(absent(format!("memory on node {node}"), format!("{} nodes", machine.nodes.len())));
        }
        let mut numbers: Vec<_> = machine.nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
        numbers.sort_unstable();
        let mut deal = Vec::new();
        for cpu in options.threads.assign(&machine.nodes) {
            match numbers.binary_search(&cpu) {
                Ok(index) => deal.push(index),
                Err(_) => return Err(absent(format!("a thread on cpu {cpu}"), format!("{cpus} cpus"))),
            }
        }
        if options.threads == ThreadPolicy::Float {
            let mut random = Random::new(mix(options.seed));
            for last in (1..deal.len()).rev() {
                deal.swap(last, usize::try_from(random.below(last as u64 + 1)).unwrap_or(last));
            }
        }
        Ok(Self {
            threads: Threads::new(cpus),
            deal,
            clock: machine.processor.clock,
            time_slice: machine.os.time_slice.to_cycles(machine.processor.clock).0.max(1),
            slice_ends: vec![0; cpus],
            current: 0,
            deadline: 0,
            must_switch: false,
            spins: (0..cpus).map(|_| SpinSearch::default()).collect(),
            misses_before: 0,
            have_met: false,
            options,
            engine,
        })
    }

    /// Creates a thread: the first is main and becomes the current one, others are runnable from now on.
    pub fn spawn(&mut self) -> ThreadId {
        let is_main = self.threads.all().is_empty();
        let cpu = self.cpu_for_new_thread();
        if is_main {
            self.current = cpu;
        }
        let now = self.engine.now(self.current);
        let id = self.threads.add(cpu, now);
        if is_main {
            self.begin_turn();
        } else if cpu != self.current {
            self.make_ready(cpu, now);
        } else if self.threads.runnable_on(cpu) == 2 {
            self.slice_ends[cpu] = now + self.time_slice;
        }
        id
    }

    /// Threads are dealt in turn; when all processors have one, to the one with the fewest.
    fn cpu_for_new_thread(&self) -> usize {
        let born = self.threads.all().len();
        if let ThreadPolicy::List(_) = self.options.threads
            && born < self.deal.len()
        {
            return self.deal[born];
        }
        self.deal.iter().copied().min_by_key(|&cpu| self.threads.living_on(cpu)).unwrap_or(0)
    }

    /// The current thread.
    pub fn current(&self) -> ThreadId {
        self.threads.front(self.current).unwrap_or(ThreadId(0))
    }

    /// The current thread's processor, as an index in ascending order of cpu ids.
    pub fn current_cpu(&self) -> usize {
        self.current
    }

    /// The block that the current thread's hooks must use; it changes with `choose`.
    pub fn fast_path(&self) -> &[Record] {
        let probe = &self.spins[self.current].probe;
        if probe.is_active() { probe.decoy() } else { self.engine.fast_path(self.current) }
    }

    /// An access of the current thread that its hook could not serve. While `is_probing`, `state` is a hash of the
    /// thread's registers and near stack; else it is not looked at.
    pub fn access(&mut self, address: u64, increment: Increment, code: u64, state: u64) {
        let cpu = self.current;
        if self.spins[cpu].probe.is_active() {
            self.access_under_probe(address, increment, code, state);
            return;
        }
        self.engine.access(cpu, address, increment, code);
        if !self.engine.woken.is_empty() {
            self.wake_watchers();
        }
        self.must_switch |= self.engine.is_due(cpu);
    }

    /// Whether accesses are looked at one by one, to prove a spin-wait.
    pub fn is_probing(&self) -> bool {
        self.spins[self.current].probe.is_active()
    }

    /// Accesses of the current thread to all of a range, as a copy loop would make them.
    pub fn range(&mut self, address: u64, bytes: u64, is_write: bool, code: u64) {
        self.stop_probe();
        self.engine.range(self.current, address, bytes, is_write, code);
        self.wake_watchers();
        self.must_switch |= self.engine.is_due(self.current);
    }

    /// Instructions of the current thread that access nothing.
    pub fn charge(&mut self, instructions: u64) {
        self.engine.charge(self.current, instructions);
        self.must_switch |= self.engine.is_due(self.current);
    }

    /// Whether the current thread should give way: call `choose`.
    pub fn must_switch(&self) -> bool {
        self.must_switch
    }

    /// Chooses who runs next.
    pub fn choose(&mut self) -> Next {
        let cpu = self.current;
        self.end_turn();
        if self.threads.runnable_on(cpu) > 0 {
            let now = self.engine.now(cpu);
            if self.threads.runnable_on(cpu) > 1 && now >= self.slice_ends[cpu] {
                if !self.options.allow_oversubscription && self.options.threads != ThreadPolicy::Float {
                    let threads =
                        (0..self.engine.cpus()).map(|cpu| self.threads.runnable_on(cpu)).sum::<usize>()
                            + self
                                .threads
                                .all()
                                .iter()
                                .filter(|thread| thread.status == Status::Spinning)
                                .count();
                    return Next::Oversubscribed { threads, cpus: self.engine.cpus() };
                }
                self.threads.rotate(cpu);
                self.slice_ends[cpu] = now + self.time_slice;
            }
            self.threads.enqueue(cpu, now);
        }
        loop {
            let runner = self.threads.first_time();
            match self.threads.first_sleeper() {
                Some((time, id)) if runner.is_none_or(|runner| time <= runner) => {
                    self.wake_at(id, time, true)
                }
                _ => break,
            }
        }
        let Some(cpu) = self.threads.take_first() else { return Next::AllBlocked };
        self.current = cpu;
        self.begin_turn();
        Next::Run(self.current())
    }

    fn begin_turn(&mut self) {
        let cpu = self.current;
        let now = self.engine.now(cpu);
        let others =
            self.threads.first_time().into_iter().chain(self.threads.first_sleeper().map(|(time, _)| time));
        self.deadline =
            others.min().map_or(u64::MAX / 1024, |first| first.max(now) + self.options.quantum_cycles);
        if self.threads.runnable_on(cpu) > 1 {
            self.deadline = self.deadline.min(self.slice_ends[cpu].max(now + 1));
        }
        self.engine.run_until(cpu, self.deadline);
        self.misses_before = self.engine.cpus[cpu].counters.level1_misses;
        self.must_switch = false;
        let thread = self.current();
        // A machine has fewer than 65,536 processors.
        #[allow(clippy::cast_possible_truncation)]
        self.engine.observer_mut().thread_runs(cpu as u16, thread.0);
    }

    /// Closes the accounts of the current turn, and starts a probe if it looked like a spin-wait.
    fn end_turn(&mut self) {
        let cpu = self.current;
        if self.spins[cpu].probe.is_active() {
            return;
        }
        let (reads, writes) = self.engine.fold_counts(cpu);
        let is_quiet = self.engine.cpus[cpu].counters.level1_misses == self.misses_before;
        if is_quiet
            && writes == 0
            && reads > 8
            && self.threads.runnable_on(cpu) == 1
            && self.engine.is_due(cpu)
        {
            self.spins[cpu].probe.suspect();
        }
    }

    /// Whether, since the last call, a write ended the spin-waits of at least half of the other threads at once: what a
    /// barrier's last thread does. Some waiters are between two polls when it does, so not all need be seen to wait.
    pub fn have_met(&mut self) -> bool {
        std::mem::take(&mut self.have_met)
    }

    /// The current thread waits until `wake`.
    pub fn block(&mut self) {
        self.suspend(Status::Blocked, None);
    }

    /// The current thread waits until `wake` or until `cycle`.
    pub fn sleep_until(&mut self, cycle: u64) {
        self.suspend(Status::Blocked, Some(cycle));
    }

    /// The current thread ends.
    pub fn exit(&mut self) {
        self.suspend(Status::Exited, None);
    }

    fn suspend(&mut self, status: Status, wakes_at: Option<u64>) {
        self.stop_probe();
        self.engine.drain(self.current);
        let now = self.engine.now(self.current);
        self.threads.suspend(self.current, status, wakes_at, now);
        if self.options.threads == ThreadPolicy::Float && self.threads.runnable_on(self.current) == 0 {
            self.threads.take_over(self.current);
        }
        self.must_switch = true;
    }

    /// Ends a thread's wait, at the current thread's time. One that does not wait is left alone.
    pub fn wake(&mut self, id: ThreadId) {
        let now = self.engine.now(self.current);
        self.wake_at(id, now, false);
    }

    fn wake_at(&mut self, id: ThreadId, time: u64, timed_out: bool) {
        let home = self.threads.get(id).cpu;
        let cpu = if self.options.threads == ThreadPolicy::Float { self.idle_cpu_near(home) } else { home };
        if !self.threads.resume(id, cpu, timed_out) {
            return;
        }
        self.end_spin(home, time, timed_out);
        if self.threads.runnable_on(cpu) == 1 {
            self.engine.idle_until(cpu, time);
        } else if self.threads.runnable_on(cpu) == 2 {
            self.slice_ends[cpu] = self.engine.now(cpu) + self.time_slice;
        }
        if cpu != self.current || self.threads.runnable_on(cpu) == 1 {
            self.make_ready(cpu, time);
        }
    }

    /// A floating thread goes back to its processor, or to the first idle one if that is taken.
    fn idle_cpu_near(&self, home: usize) -> usize {
        let is_idle = |cpu: usize| self.threads.runnable_on(cpu) == 0 && self.spins[cpu].parked.is_none();
        if self.threads.runnable_on(home) == 0 {
            return home;
        }
        self.deal.iter().copied().find(|&cpu| is_idle(cpu)).unwrap_or(home)
    }

    /// A processor has something to run from `time` on: the current turn ends no later than a quantum after it.
    fn make_ready(&mut self, cpu: usize, time: u64) {
        let time = self.engine.now(cpu).max(time);
        self.engine.idle_until(cpu, time);
        self.threads.enqueue(cpu, time);
        let deadline = time + self.options.quantum_cycles;
        if deadline < self.deadline && self.threads.runnable_on(self.current) > 0 {
            self.deadline = deadline;
            self.engine.run_until(self.current, deadline);
        }
    }

    /// Whether a thread's last wait ended by time.
    pub fn timed_out(&self, id: ThreadId) -> bool {
        self.threads.get(id).timed_out
    }

    /// All threads, in the order of creation.
    pub fn threads(&self) -> &[Thread] {
        self.threads.all()
    }

    /// The current thread's clock, in cycles.
    pub fn now_cycles(&mut self) -> u64 {
        self.engine.now(self.current)
    }

    /// The current thread's clock, in seconds.
    pub fn seconds(&mut self) -> f64 {
        self.now_cycles() as f64 / self.clock.0
    }

    /// The processors' clock frequency.
    pub fn clock(&self) -> Hertz {
        self.clock
    }

    /// Says how the pages of a range are placed when they are touched.
    pub fn map(&mut self, start: u64, bytes: u64, placement: Placement) {
        let node = self.engine.node_of(self.current);
        self.engine.map(start, bytes, node, placement);
    }

    /// Takes frames for all pages of a range at once, as the papers' NumaVirtualAllocLocked did: the process's working set
    /// grows by them. Pages of a first-touch range wait for their touch. Its time is not counted, as in the papers.
    pub fn lock(&mut self, start: u64, bytes: u64) {
        self.engine.lock(start, bytes, self.current);
    }

    /// Forgets a range.
    pub fn unmap(&mut self, start: u64, bytes: u64) {
        self.engine.unmap(start, bytes);
    }

    /// The machine.
    pub fn engine(&self) -> &Engine<O> {
        &self.engine
    }

    /// The machine, to read its counters.
    pub fn engine_mut(&mut self) -> &mut Engine<O> {
        &mut self.engine
    }
}
