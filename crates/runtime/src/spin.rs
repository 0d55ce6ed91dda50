//! Spin-waits on atomics: a test-and-set lock keeps exchanging the same value, a try-lock keeps failing, a barrier's
//! waiter keeps loading.
//!
//! Loops that only read are found and proven by the simulator. One that writes in each turn, or counts its turns, proves
//! nothing there, but the runtime sees atomic operations one by one: after several equal results with no other access of
//! the program between them, the thread is parked until another processor takes the line. A loop of loads may count its
//! turns and do something else after some, so it is parked for no longer than a quantum.

use crate::schedule::{block, give_way_if_due};
use crate::state::with;
use core::sync::atomic::{AtomicU64, Ordering};
use olifant_sim::SpinEvidence;

/// Equal results in a row that make a spin-wait.
const TURNS: u32 = 8;
/// Most instructions between two polls of one wait.
const CLOSE_INSTRUCTIONS: u32 = 100;
/// Instructions of a `sched_yield`.
const YIELD_INSTRUCTIONS: u64 = 300;

/// One read and one write, in the form of the hooks' counter.
pub const UPDATE: u32 = 1 + (1 << 16);

/// What the last polls of a thread found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Polls {
    address: usize,
    value: u64,
    stamp: u32,
    accesses: u32,
    turns: u32,
}

/// Instructions and accesses that the running thread's hooks have counted in this turn.
fn counts() -> (u32, u32) {
    let block = block() as *const u32;
    // SAFETY: the first two words of the block; it is mapped as long as the process lives.
    unsafe { (block.read_volatile(), block.add(1).read_volatile()) }
}

/// The running thread made `own_accesses` (in the form of the hooks' counter) to `address`, found `value` and did not get
/// what it wanted.
pub fn poll(address: usize, value: u64, own_accesses: u32) {
    let (stamp, accesses) = counts();
    let is_spin = with(|runtime| {
        let polls = &mut runtime.running().polls;
        let turn_instructions = stamp.wrapping_sub(polls.stamp);
        let is_again = polls.address == address
            && polls.value == value
            && turn_instructions < CLOSE_INSTRUCTIONS
            && accesses.wrapping_sub(polls.accesses) == own_accesses;
        let turns = if is_again { polls.turns + 1 } else { 1 };
        *polls = Polls { address, value, stamp, accesses, turns };
        if turns < TURNS {
            return false;
        }
        let address = crate::foreign::stand_in(runtime, address as u64);
        runtime.system.spin(address, turn_instructions.max(1).into(), 1, SpinEvidence::Proven);
        true
    });
    if is_spin {
        give_way_if_due();
        let (stamp, accesses) = counts();
        with(|runtime| {
            let polls = &mut runtime.running().polls;
            (polls.stamp, polls.accesses) = (stamp, accesses);
        });
    }
}

/// Most reads of a turn that polls; none writes.
const TURN_READS: u64 = 4;

/// The last atomic load of the program: address, value, block, counters of the block, and equal ones before it.
static LOADED: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];

/// The running thread loaded `value` from `address`: true if it was taken to spin, and parked, so that it must load again.
/// Cheap, since most such loads are no poll; what another thread did meanwhile only lets the count begin again.
#[inline]
pub fn was_parked_after(address: usize, value: u64) -> bool {
    let (stamp, accesses) = counts();
    let [last_address, last_value, last_block, last_counts, turns] = &LOADED;
    let before = last_counts.load(Ordering::Relaxed);
    // The counters as one word, as the hooks keep them.
    let now = u64::from(stamp) | u64::from(accesses) << 32;
    let turn = now.wrapping_sub(before);
    let is_again = last_address.load(Ordering::Relaxed) == address as u64
        && last_value.load(Ordering::Relaxed) == value
        && last_block.load(Ordering::Relaxed) == block()
        && (1..=TURN_READS).contains(&(turn >> 32))
        && turn & 0xffff_ffff < u64::from(CLOSE_INSTRUCTIONS);
    last_counts.store(now, Ordering::Relaxed);
    if is_again {
        let equal = turns.load(Ordering::Relaxed) + 1;
        turns.store(equal, Ordering::Relaxed);
        if equal >= u64::from(TURNS) {
            turns.store(0, Ordering::Relaxed);
            return park_load(address, turn & 0xffff_ffff, turn >> 32);
        }
        return false;
    }
    last_address.store(address as u64, Ordering::Relaxed);
    last_value.store(value, Ordering::Relaxed);
    last_block.store(block(), Ordering::Relaxed);
    turns.store(0, Ordering::Relaxed);
    false
}

#[inline(never)]
fn park_load(address: usize, turn_instructions: u64, reads: u64) -> bool {
    let is_parked = with(|runtime| {
        let is_free = !runtime.system.is_probing();
        if is_free {
            crate::locks::polls(runtime, address);
            let address = crate::foreign::stand_in(runtime, address as u64);
            runtime.system.spin(address, turn_instructions.max(1), reads, SpinEvidence::Likely);
        }
        is_free
    });
    if is_parked {
        give_way_if_due();
    }
    is_parked
}

/// The running thread got what it wanted: what it polls next is another wait.
pub fn forget() {
    with(|runtime| runtime.running().polls = Polls::default());
}

/// The cost of offering the processor to others.
pub fn yield_now() {
    with(|runtime| runtime.system.charge(YIELD_INSTRUCTIONS));
    give_way_if_due();
}
