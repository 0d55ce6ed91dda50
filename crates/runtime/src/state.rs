//! The runtime's state, and the rule by which it is reached.
//!
//! There is one [`Runtime`], used by the one operating-system thread that runs all contexts. [`with`] lends it out for the
//! time of a closure; a closure must not switch contexts and must not call the C library's allocating functions, because both
//! come back here. Whoever wants to switch notes what to do, leaves the closure and calls `schedule`.

use crate::alarm::Alarms;
use crate::areas::Areas;
use crate::donor::Donor;
use crate::engine::System;
use crate::foreign::Foreign;
use crate::heap::Heap;
use crate::keys::Keys;
use crate::locks::Locks;
use crate::monitor::Callbacks;
use crate::stack::{Stack, Stacks};
use crate::thread::Thread;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use olifant_frontend::spec::RunSpec;
use std::collections::{BTreeMap, VecDeque};

/// Everything the runtime knows.
pub struct Runtime {
    /// What the run was told.
    pub spec: RunSpec,
    /// The simulated machine and its scheduler.
    pub system: System,
    /// Threads by number, those that ended included.
    pub threads: Vec<Thread>,
    /// Number of the running thread.
    pub current: usize,
    /// Thread numbers by `pthread_t`; those joined, and detached ones that ended, are gone.
    pub handles: BTreeMap<u64, usize>,
    /// Who waits at which address, first come first.
    pub waiting: BTreeMap<usize, VecDeque<usize>>,
    /// Program stacks.
    pub stacks: Stacks,
    /// Which donor slots are taken.
    pub donor_slots: Vec<bool>,
    /// Stacks and donors of threads that ended, to be taken back by a thread that runs elsewhere.
    pub remains: Vec<Remains>,
    /// Thread-specific data keys.
    pub keys: Keys,
    /// The program's allocations.
    pub heap: Heap,
    /// Copies of replicated data, by source, size and node.
    pub replicas: BTreeMap<(usize, usize, u16), usize>,
    /// What the program wants to be told by the monitor.
    pub callbacks: Callbacks,
    /// What is known of its locks.
    pub locks: Locks,
    /// Areas and sites for the profile.
    pub areas: Areas,
    /// This operating-system thread's own control block.
    pub own_storage: u64,
    /// False in a child after fork: only the parent leaves a profile.
    pub may_dump: bool,
    /// Accesses that the runtime made itself while the simulator looked at each.
    pub touches: u64,
    /// Stand-ins for memory at addresses that are not ours.
    pub foreign: Foreign,
    /// The latest time that the program has read from a clock, in nanoseconds.
    pub latest_nanos: u64,
    /// Alarms of the program.
    pub alarms: Alarms,
    /// Host time of the start, nanoseconds.
    pub host_start: u64,
}

/// What is left of a thread that ended.
pub struct Remains {
    /// Its stack.
    pub stack: Stack,
    /// Its donor.
    pub donor: Donor,
    /// The donor's slot.
    pub donor_slot: usize,
    /// Whose they were.
    pub thread: usize,
}

impl Runtime {
    /// The running thread.
    pub fn running(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }
}

struct Slot(UnsafeCell<Option<Box<Runtime>>>);

// SAFETY: only the operating-system thread that runs the contexts uses the slot; donors do not.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(None));
static IS_LENT: AtomicBool = AtomicBool::new(false);
static IS_READY: AtomicBool = AtomicBool::new(false);

/// Installs the state. Called once, at the start.
pub fn install(runtime: Runtime) {
    // SAFETY: nothing was lent before the first installation.
    unsafe { *SLOT.0.get() = Some(Box::new(runtime)) };
    IS_READY.store(true, Ordering::Relaxed);
}

/// Whether the state exists and is free to be lent.
pub fn is_free() -> bool {
    IS_READY.load(Ordering::Relaxed) && !IS_LENT.load(Ordering::Relaxed)
}

/// Lends the state to `work`. See the head of the file for what `work` must not do.
#[inline]
pub fn with<R>(work: impl FnOnce(&mut Runtime) -> R) -> R {
    if !is_free() {
        crate::say::give_up("the runtime was entered twice: please report this program");
    }
    IS_LENT.store(true, Ordering::Relaxed);
    // SAFETY: the flag shows that no other reference exists, and one operating-system thread runs all contexts.
    let result = match unsafe { &mut *SLOT.0.get() } {
        Some(runtime) => work(runtime),
        None => crate::say::give_up("the runtime was entered before its start"),
    };
    IS_LENT.store(false, Ordering::Relaxed);
    result
}
