//! Spin-waits that write: a test-and-set lock keeps exchanging the same value, a try-lock keeps failing.
//!
//! Loops that only read, atomics included, are found and proven by the simulator. One that writes in each turn proves
//! nothing there, but the runtime sees these operations one by one: after several equal results with no other access of
//! the program between them, the thread is parked until another processor takes the line.

use crate::schedule::{block, give_way_if_due};
use crate::state::with;

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
        runtime.system.spin(address, turn_instructions.max(1).into());
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

/// The running thread got what it wanted: what it polls next is another wait.
pub fn forget() {
    with(|runtime| runtime.running().polls = Polls::default());
}

/// The cost of offering the processor to others.
pub fn yield_now() {
    with(|runtime| runtime.system.charge(YIELD_INSTRUCTIONS));
    give_way_if_due();
}
