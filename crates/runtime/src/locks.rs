//! Locks: how often each was taken, by which nodes, and what waiting for it cost.
//!
//! Mutexes and the C library's spin locks say so themselves. An atomic word is taken to be a spin lock when a thread that
//! polled it (`spin`) then changes it by an exchange or a compare-exchange: a barrier's flag is polled too, but another
//! thread changes it. Such a word is known from its first wait on, so its earlier acquisitions are not counted.

use crate::heap::FixedMap;
use crate::state::{Runtime, with};
use core::sync::atomic::{AtomicBool, Ordering};
use olifant_opium::facts::{Lock, LockKind};
use std::cmp::Reverse;

/// Whether any atomic word is known to be polled; atomic operations look further only then.
static ANY_POLLED: AtomicBool = AtomicBool::new(false);

/// Nobody has held the lock yet.
const NO_NODE: u16 = u16::MAX;

struct Facts {
    kind: LockKind,
    acquisitions: u64,
    contended: u64,
    wait_cycles: u64,
    transfers: u64,
    last_node: u16,
    by_node: Vec<u64>,
}

/// A thread's wait for a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waiting {
    address: usize,
    since: u64,
}

/// The locks of the run, by address.
#[derive(Default)]
pub struct Locks {
    known: FixedMap<usize, Facts>,
    /// Words that some thread has polled, each with what a waiter stored when it went on.
    polled: FixedMap<usize, Option<u64>>,
}

/// The running thread begins to wait for what lies at `address`, or goes on to.
pub fn waits(runtime: &mut Runtime, address: usize) {
    if runtime.running().waiting_for.address != address {
        let since = runtime.system.now_cycles();
        runtime.running().waiting_for = Waiting { address, since };
    }
}

/// The same for an atomic word.
pub fn polls(runtime: &mut Runtime, address: usize) {
    waits(runtime, address);
    runtime.locks.polled.entry(address).or_insert(None);
    ANY_POLLED.store(true, Ordering::Relaxed);
}

/// The running thread has the lock at `address`.
pub fn acquired(runtime: &mut Runtime, kind: LockKind, address: usize) {
    let now = runtime.system.now_cycles();
    let node = runtime.system.engine().node_of(runtime.system.current_cpu());
    let waiting = core::mem::take(&mut runtime.running().waiting_for);
    let nodes = runtime.system.engine().nodes();
    let facts = runtime.locks.known.entry(address).or_insert_with(|| Facts {
        kind,
        acquisitions: 0,
        contended: 0,
        wait_cycles: 0,
        transfers: 0,
        last_node: NO_NODE,
        by_node: vec![0; nodes],
    });
    facts.acquisitions += 1;
    if waiting.address == address {
        facts.contended += 1;
        facts.wait_cycles += now - waiting.since.min(now);
    }
    facts.transfers += u64::from(facts.last_node != node && facts.last_node != NO_NODE);
    facts.last_node = node;
    facts.by_node[usize::from(node)] += 1;
}

/// An exchange or a compare-exchange of the running thread changed the word at `address` to `value`. What a waiter stores
/// is what the word holds when the lock is taken: another value is a release.
#[inline]
pub fn changed_word(address: usize, value: u64) {
    if ANY_POLLED.load(Ordering::Relaxed) {
        with(|runtime| {
            let was_waiting = runtime.running().waiting_for.address == address;
            let is_taken = match runtime.locks.polled.get(&address) {
                Some(&taken) => was_waiting || taken == Some(value),
                None => false,
            };
            if is_taken {
                runtime.locks.polled.insert(address, Some(value));
                acquired(runtime, LockKind::AtomicSpin, address);
            }
        });
    }
}

/// The locks for the profile, without their areas: those waited for longest first.
pub fn for_profile(runtime: &Runtime) -> Vec<Lock> {
    let machine = &runtime.spec.machine;
    let mut all: Vec<Lock> = runtime
        .locks
        .known
        .iter()
        .map(|(&address, facts)| Lock {
            kind: facts.kind,
            address: address as u64,
            area: None,
            offset: 0,
            home: 0,
            acquisitions: facts.acquisitions,
            contended: facts.contended,
            wait_cycles: facts.wait_cycles,
            transfers: facts.transfers,
            by_node: machine.nodes.iter().map(|node| node.id.0).zip(facts.by_node.iter().copied()).collect(),
        })
        .collect();
    all.sort_unstable_by_key(|lock| (Reverse(lock.wait_cycles), Reverse(lock.acquisitions), lock.address));
    all
}
