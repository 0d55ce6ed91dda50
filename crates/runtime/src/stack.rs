//! Stacks of the program's threads: slots at fixed addresses, a guard page below each.
//!
//! A slot is 64 MiB of addresses; a stack that needs more takes several. The memory appears when it is touched. What
//! the program asks for as its own stack (`pthread_attr_setstack`) is not used.

use crate::layout::{HOST_PAGE, STACKS, round_up};
use crate::sys;

/// Addresses per slot.
pub const SLOT: usize = 64 << 20;
/// Usable bytes where the program does not say.
pub const DEFAULT_BYTES: usize = 8 << 20;
/// Least usable bytes: the runtime and the simulator run on the program's stacks too.
const LEAST_BYTES: usize = 256 << 10;

/// A thread's stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    first_slot: usize,
    slots: usize,
    bytes: usize,
}

/// Which slots are free.
#[derive(Debug, Default)]
pub struct Stacks {
    used: Vec<bool>,
}

impl Stack {
    /// First usable address.
    pub fn start(self) -> usize {
        self.end() - self.bytes
    }

    /// End address.
    pub fn end(self) -> usize {
        STACKS.start + (self.first_slot + self.slots) * SLOT
    }

    /// Usable bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether a fault at `address` means that this stack overflowed: it lies in the guard below it.
    pub fn overflowed_at(self, address: usize) -> bool {
        (STACKS.start + self.first_slot * SLOT..self.start()).contains(&address)
    }
}

impl Stacks {
    /// Takes the lowest slots that hold `bytes`; `None` if addresses or memory ran out.
    pub fn take(&mut self, bytes: usize) -> Option<Stack> {
        let bytes = round_up(bytes.max(LEAST_BYTES), HOST_PAGE);
        let slots = (bytes + HOST_PAGE).div_ceil(SLOT);
        let limit = STACKS.bytes() / SLOT;
        let mut first_slot = 0;
        let mut run = 0;
        while run < slots {
            if first_slot + slots > limit {
                return None;
            }
            match self.used.get(first_slot + run) {
                Some(true) => {
                    first_slot += run + 1;
                    run = 0;
                }
                _ => run += 1,
            }
        }
        let stack = Stack { first_slot, slots, bytes };
        let mapped = sys::map_memory(stack.start(), bytes, libc::PROT_READ | libc::PROT_WRITE);
        if mapped < 0 {
            return None;
        }
        self.used.resize(self.used.len().max(first_slot + slots), false);
        self.used[first_slot..first_slot + slots].fill(true);
        Some(stack)
    }

    /// Gives a stack back. Nothing may run on it.
    pub fn give_back(&mut self, stack: Stack) {
        // SAFETY: the thread of this stack has ended, as the caller says, and joined contexts are never continued.
        unsafe { sys::unmap(stack.start(), stack.bytes) };
        self.used[stack.first_slot..stack.first_slot + stack.slots].fill(false);
    }
}
