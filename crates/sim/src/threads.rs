//! Threads, and the processors that they wait for: run queues, sleepers, the order in which processors run.
//!
//! Plain bookkeeping without time of its own; `system` gives the clocks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// A thread of the program, numbered in the order of creation; 0 is main.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It runs or waits for its processor.
    Runnable,
    /// It waits for another thread or for a time.
    Blocked,
    /// It polls a line that has not changed.
    Spinning,
    /// It has ended.
    Exited,
}

/// One thread.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Processor whose queue it is in.
    pub cpu: usize,
    /// What it does.
    pub status: Status,
    /// When it wakes by itself, in cycles.
    pub wakes_at: Option<u64>,
    /// Whether its last wait ended by time.
    pub timed_out: bool,
    /// Cycle of its start.
    pub started: u64,
    /// Cycle of its end.
    pub ended: u64,
}

/// All threads and queues.
#[derive(Default)]
pub struct Threads {
    threads: Vec<Thread>,
    /// Runnable threads per processor; the front one runs.
    queues: Vec<VecDeque<ThreadId>>,
    sleepers: BTreeSet<(u64, ThreadId)>,
    /// Processors with something to run that is not the current one, by the time they are at.
    order: BinaryHeap<Reverse<(u64, usize)>>,
    is_ordered: Vec<bool>,
}

impl Threads {
    /// No threads on so many processors.
    pub fn new(cpus: usize) -> Self {
        Self { queues: vec![VecDeque::new(); cpus], is_ordered: vec![false; cpus], ..Self::default() }
    }

    /// Adds a runnable thread at the end of its processor's queue.
    pub fn add(&mut self, cpu: usize, started: u64) -> ThreadId {
        let id = ThreadId(u16::try_from(self.threads.len()).unwrap_or(u16::MAX));
        self.threads.push(Thread {
            cpu,
            status: Status::Runnable,
            wakes_at: None,
            timed_out: false,
            started,
            ended: 0,
        });
        self.queues[cpu].push_back(id);
        id
    }

    /// All threads in the order of creation.
    pub fn all(&self) -> &[Thread] {
        &self.threads
    }

    /// One thread.
    pub fn get(&self, id: ThreadId) -> &Thread {
        &self.threads[id.index()]
    }

    /// The thread that runs, or will run next, on a processor.
    pub fn front(&self, cpu: usize) -> Option<ThreadId> {
        self.queues[cpu].front().copied()
    }

    /// Runnable threads of a processor.
    pub fn runnable_on(&self, cpu: usize) -> usize {
        self.queues[cpu].len()
    }

    /// Threads that have not ended and belong to a processor.
    pub fn living_on(&self, cpu: usize) -> usize {
        self.threads.iter().filter(|thread| thread.cpu == cpu && thread.status != Status::Exited).count()
    }

    /// The front thread of a processor goes behind the others.
    pub fn rotate(&mut self, cpu: usize) {
        self.queues[cpu].rotate_left(1);
    }

    /// A processor without work takes a thread that waits for its turn elsewhere: the last of the longest queue.
    pub fn take_over(&mut self, cpu: usize) {
        let longest = (0..self.queues.len()).rev().max_by_key(|&other| self.queues[other].len());
        let Some(other) = longest.filter(|&other| self.queues[other].len() > 1 && other != cpu) else {
            return;
        };
        if let Some(id) = self.queues[other].pop_back() {
            self.threads[id.index()].cpu = cpu;
            self.queues[cpu].push_back(id);
        }
    }

    /// The front thread of a processor stops being runnable, for good or until `wakes_at`.
    pub fn suspend(&mut self, cpu: usize, status: Status, wakes_at: Option<u64>, now: u64) {
        let Some(id) = self.queues[cpu].pop_front() else { return };
        let thread = &mut self.threads[id.index()];
        thread.status = status;
        thread.wakes_at = wakes_at;
        thread.timed_out = false;
        if status == Status::Exited {
            thread.ended = now;
        }
        if let Some(time) = wakes_at {
            self.sleepers.insert((time, id));
        }
    }

    /// A suspended thread becomes runnable on `cpu`; false if it was not suspended.
    pub fn resume(&mut self, id: ThreadId, cpu: usize, timed_out: bool) -> bool {
        let thread = &mut self.threads[id.index()];
        if !matches!(thread.status, Status::Blocked | Status::Spinning) {
            return false;
        }
        if let Some(time) = thread.wakes_at.take() {
            self.sleepers.remove(&(time, id));
        }
        thread.status = Status::Runnable;
        thread.timed_out = timed_out;
        thread.cpu = cpu;
        self.queues[cpu].push_back(id);
        true
    }

    /// The sleeper that wakes first.
    pub fn first_sleeper(&self) -> Option<(u64, ThreadId)> {
        self.sleepers.first().copied()
    }

    /// Puts a processor into the order at `time`, if it has something to run and is not in it.
    pub fn enqueue(&mut self, cpu: usize, time: u64) {
        if !self.queues[cpu].is_empty() && !self.is_ordered[cpu] {
            self.is_ordered[cpu] = true;
            self.order.push(Reverse((time, cpu)));
        }
    }

    /// Time of the processor that runs next.
    pub fn first_time(&self) -> Option<u64> {
        self.order.peek().map(|&Reverse((time, _))| time)
    }

    /// Takes the processor with the smallest (time, number) out of the order.
    pub fn take_first(&mut self) -> Option<usize> {
        let Reverse((_, cpu)) = self.order.pop()?;
        self.is_ordered[cpu] = false;
        Some(cpu)
    }
}
