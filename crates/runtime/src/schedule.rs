//! Who runs: the simulated scheduler decides, this file switches.
//!
//! All waiting goes through [`park`]: a thread queues at an address (of a mutex, a condition, its own record) and blocks,
//! with or without a time limit; [`wake_one`] and [`wake_all`] take threads out of the queue in the order they came. A thread
//! may also be woken past the queue, by a signal or a cancellation; it then finds itself still queued and says so.

use crate::context::{self, Context};
use crate::engine::{Next, ThreadId};
use crate::state::{Runtime, with};
use crate::{dispatch, ending, monitor, registers, signals};
use core::sync::atomic::{AtomicU64, Ordering};

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Somebody woke the waiter.
    Woken,
    /// The time limit passed.
    TimedOut,
    /// A signal or a cancellation is pending for the waiter.
    Interrupted,
}

/// What a thread waits for, for the report of a deadlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// For example `mutex`.
    pub what: &'static str,
    /// Where the object lies, or a thread's number.
    pub object: usize,
}

/// Address of the fast-path block that GS points at.
static BLOCK: AtomicU64 = AtomicU64::new(0);
static SWITCHES: AtomicU64 = AtomicU64::new(0);

/// The fast-path block of the processor that the current thread runs on.
#[inline]
pub fn block() -> u64 {
    BLOCK.load(Ordering::Relaxed)
}

/// Points GS at the block of the running processor.
pub fn follow_cpu(runtime: &Runtime) {
    let base = runtime.system.fast_path().as_ptr() as u64;
    if BLOCK.swap(base, Ordering::Relaxed) != base {
        // SAFETY: the system keeps its blocks at fixed addresses as long as it lives, which is as long as the process.
        unsafe { registers::set_gs(base) };
    }
}

/// Lets the simulator choose again if it wants to; called after each of its operations.
#[inline]
pub fn give_way_if_due() {
    if with(|runtime| runtime.system.must_switch()) {
        run_next();
    }
}

/// Lets the simulator choose who runs, and switches to it. Returns when this thread runs again.
pub fn run_next() {
    with(|runtime| {
        if runtime.system.have_met() {
            runtime.barrier_passed();
        }
    });
    loop {
        match with(|runtime| runtime.system.choose()) {
            Next::Run(ThreadId(number)) => {
                let is_ghost = with(|runtime| runtime.threads[usize::from(number)].is_ghost);
                if is_ghost {
                    with(|runtime| runtime.system.exit());
                    continue;
                }
                resume(usize::from(number));
                break;
            }
            Next::AllBlocked => ending::all_blocked(),
            Next::Oversubscribed { threads, cpus } => ending::oversubscribed(threads, cpus),
        }
    }
    dispatch::rearm();
    ending::checkpoint_if_due();
    signals::deliver_pending();
    monitor::deliver();
}

/// Number of context switches so far.
pub fn switches() -> u64 {
    SWITCHES.load(Ordering::Relaxed)
}

fn resume(number: usize) {
    let step = with(|runtime| {
        follow_cpu(runtime);
        if number == runtime.current {
            return None;
        }
        let old: *mut Context = &raw mut runtime.threads[runtime.current].context;
        runtime.current = number;
        let new = &runtime.threads[number];
        Some((old, new.context, new.storage))
    });
    if let Some((old, new, storage)) = step {
        SWITCHES.store(switches() + 1, Ordering::Relaxed);
        // SAFETY: the storage is the control block of the new thread's donor, which is parked. The new context is not running,
        // since it is not the current one. `old` is written before anything else can move the thread records.
        unsafe {
            registers::set_fs(storage);
            context::switch(old, new);
        }
    }
}

/// Waits at `address` until woken, interrupted or, where there is a deadline (in simulated cycles), until then.
pub fn park(address: usize, what: &'static str, deadline: Option<u64>) -> Wake {
    queue_up(address);
    wait_queued(address, what, deadline)
}

/// Puts the running thread into the queue at `address`; it may do other things before it waits.
pub fn queue_up(address: usize) {
    with(|runtime| runtime.waiting.entry(address).or_default().push_back(runtime.current));
}

/// Waits as `park` does, in a queue entered before; returns at once if somebody has woken it since.
pub fn wait_queued(address: usize, what: &'static str, deadline: Option<u64>) -> Wake {
    let (me, is_woken) = with(|runtime| {
        let me = runtime.current;
        let is_woken = !runtime.waiting.get(&address).is_some_and(|queue| queue.contains(&me));
        if !is_woken {
            runtime.threads[me].wait = Some(Wait { what, object: address });
            match runtime.nearest_deadline(me, deadline) {
                Some(cycles) => runtime.system.sleep_until(cycles),
                None => runtime.system.block(),
            }
        }
        (me, is_woken)
    });
    if is_woken {
        return Wake::Woken;
    }
    run_next();
    with(|runtime| {
        runtime.threads[me].wait = None;
        if !leave_queue(runtime, address, me) {
            return Wake::Woken;
        }
        if deadline.is_some_and(|cycles| runtime.system.now_cycles() >= cycles) {
            Wake::TimedOut
        } else {
            Wake::Interrupted
        }
    })
}

/// Takes a thread out of a queue; false if it was not in it.
fn leave_queue(runtime: &mut Runtime, address: usize, thread: usize) -> bool {
    let Some(queue) = runtime.waiting.get_mut(&address) else { return false };
    let before = queue.len();
    queue.retain(|&waiter| waiter != thread);
    let was_there = queue.len() < before;
    if queue.is_empty() {
        runtime.waiting.remove(&address);
    }
    was_there
}

/// Wakes the first waiter at `address`; false if there is none.
pub fn wake_one(address: usize) -> bool {
    wake_some(address, 1) == 1
}

/// Wakes all waiters at `address`; returns how many.
pub fn wake_all(address: usize) -> usize {
    wake_some(address, usize::MAX)
}

/// Wakes up to `most` waiters at `address`, first come first; returns how many.
pub fn wake_some(address: usize, most: usize) -> usize {
    with(|runtime| {
        let mut woken = 0;
        while woken < most {
            let Some(queue) = runtime.waiting.get_mut(&address) else { break };
            let Some(first) = queue.pop_front() else { break };
            if queue.is_empty() {
                runtime.waiting.remove(&address);
            }
            runtime.rouse(first);
            woken += 1;
        }
        woken
    })
}

/// Whether anybody waits at `address`.
pub fn is_waited_for(address: usize) -> bool {
    with(|runtime| runtime.waiting.contains_key(&address))
}

impl Runtime {
    /// Makes a waiting thread runnable; one that is not waiting stays as it is.
    pub fn rouse(&mut self, number: usize) {
        if self.threads[number].wait.take().is_some() {
            self.system.wake(thread_id(number));
        }
    }

    /// The earlier of a wait's own deadline and the time when an alarm is due for the thread.
    fn nearest_deadline(&self, number: usize, deadline: Option<u64>) -> Option<u64> {
        let alarm = self.alarms.next_for(number);
        match (deadline, alarm) {
            (Some(own), Some(alarm)) => Some(own.min(alarm)),
            (own, alarm) => own.or(alarm),
        }
    }
}

/// Charges instructions to the running thread.
pub fn charge(instructions: u64) {
    with(|runtime| runtime.system.charge(instructions));
    give_way_if_due();
}

/// The simulator's name of a thread.
pub fn thread_id(number: usize) -> ThreadId {
    ThreadId(number as u16)
}
