//! Memory accesses: what the hooks call when they cannot serve an access themselves, and the accesses that the
//! runtime's own operations make on the program's memory.
//!
//! Inlined hooks come here through entries of their own (`hooks/entries.S`), which save what is live. A miss may switch to
//! another thread and back; the code behind the hook notices nothing.

use crate::foreign::stand_in;
use crate::schedule::{block, give_way_if_due, run_next};
use crate::state::{is_free, with};
use core::arch::global_asm;
use olifant_sim::Increment;

/// One read in a hook's `imm`; the low 32 bits are instructions.
pub const READ: u64 = 1 << 32;
/// One write in a hook's `imm`.
pub const WRITE: u64 = 1 << 48;

/// What the entries in assembler leave on the stack: the registers, then the caller's return address and stack.
#[repr(C)]
pub struct EntryFrame {
    registers: [u64; 15],
    return_address: u64,
    stack: [u64; NEAR_WORDS],
}

/// Words of the caller's stack that count as its state: enough for the locals of a loop that waits.
pub const NEAR_WORDS: usize = 192;

/// The miss path of one access by the running thread. `frame` is null, or the caller's own frame in this layout, on the running
/// stack.
#[unsafe(export_name = "__olifant_miss_at")]
extern "C" fn miss_from(address: u64, imm: u64, frame: *const EntryFrame) {
    if !is_free() {
        return;
    }
    let must_switch = with(|runtime| {
        let mut code = 0;
        let mut state = 0;
        if !frame.is_null() {
            // SAFETY: the entry passes its own frame; stacks are deeper than the words above it, because a context's start
            // and the arguments lie there.
            let frame = unsafe { &*frame };
            code = frame.return_address;
            if runtime.system.is_probing() {
                let words = frame.registers.iter().chain(&frame.stack);
                state = words.fold(1, |hash: u64, &word| {
                    (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                });
            }
        } else if runtime.system.is_probing() {
            // The runtime's own accesses are never part of a proven turn.
            runtime.touches += 1;
            state = runtime.touches;
        }
        let address = stand_in(runtime, address);
        runtime.system.access(address, Increment(imm), code, state);
        runtime.system.must_switch()
    });
    if must_switch {
        run_next();
    }
}

/// The running thread reached its limit.
#[unsafe(no_mangle)]
pub extern "C" fn __olifant_yield() {
    if is_free() {
        with(|runtime| runtime.system.charge(0));
        crate::ending::checkpoint_if_due();
        give_way_if_due();
    }
}

/// An access of any size and alignment; instructions and kind from `imm`.
#[unsafe(no_mangle)]
pub extern "C" fn __olifant_range(address: u64, bytes: u64, imm: u64) {
    range(address, bytes, imm);
}

/// Counts an access to each line of a range.
pub fn range(address: u64, bytes: u64, imm: u64) {
    if bytes != 0 && is_free() {
        with(|runtime| {
            runtime.system.charge(imm & 0xffff_ffff);
            let address = stand_in(runtime, address);
            runtime.system.range(address, bytes, imm >= WRITE, 0);
        });
        give_way_if_due();
    }
}

/// One access to program memory on behalf of the running thread: the hook's work, in Rust.
#[inline]
pub fn touch(address: usize, imm: u64) {
    touch_from(address, imm, core::ptr::null());
}

/// The same for an operation of the program itself, whose entry left `frame`.
#[inline]
pub fn touch_from(address: usize, imm: u64, frame: *const EntryFrame) {
    let address = address as u64;
    let base = block() as *mut u32;
    if base.is_null() {
        return;
    }
    // SAFETY: the block is a header and one record per set; the mask in the header keeps the record inside. The
    // accesses are volatile because the simulator owns the same memory between calls.
    let is_due = unsafe {
        let set_mask = u64::from(base.add(3).read_volatile());
        let set = base.byte_add(64 + ((address & set_mask) * 2) as usize);
        let tag = (address >> 10) as u32;
        let tags = if imm >= WRITE { set.add(4) } else { set };
        let way = (0..4).find(|&way| tags.add(way).read_volatile() == tag);
        match way {
            Some(way) => {
                let counters = base.cast::<u64>();
                let counted = counters.read_volatile().wrapping_add(imm);
                counters.write_volatile(counted);
                set.add(8 + way).write_volatile(counted as u32);
                counted as u32 >= base.add(2).read_volatile()
            }
            None => {
                miss_from(address, imm, frame);
                false
            }
        }
    };
    if is_due {
        __olifant_yield();
    }
}

/// A read and a write of one word: what an atomic read-modify-write does.
#[inline]
pub fn touch_update(address: usize) {
    touch(address, READ + 1);
    touch(address, WRITE + 1);
}

// The entries. All leave an `EntryFrame`: registers, return address and, above it, the caller's stack, which a proof of a
// spin-wait needs.
//
// In C's convention the caller-saved registers hold what earlier calls left there; zeros take their places. Atomic operations
// get the frame as the argument named.
global_asm!(
    ".macro OLIFANT_OPEN",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbp, 0",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    ".endm",
    ".macro OLIFANT_CALLEE_SAVED",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    ".endm",
    ".macro OLIFANT_BEGIN name",
    ".pushsection .text.\\name,\"ax\",@progbits",
    ".globl \\name",
    ".type \\name,@function",
    "\\name:",
    "OLIFANT_OPEN",
    ".endm",
    ".macro OLIFANT_END name",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size \\name, . - \\name",
    ".popsection",
    ".endm",
    ".macro OLIFANT_C name, target, frame",
    "OLIFANT_BEGIN \\name",
    "push 0",
    "push 0",
    "push 0",
    "push rsi",
    "push rdi",
    "push 0",
    "push 0",
    "push 0",
    "push 0",
    "OLIFANT_CALLEE_SAVED",
    "mov \\frame, rsp",
    "and rsp, -16",
    "call \\target",
    "mov rsp, rbp",
    "pop rbp",
    "OLIFANT_END \\name",
    ".endm",
    "OLIFANT_C __olifant_miss, {miss}, rdx",
    miss = sym miss_from,
);

/// Defines the entry of an operation in C's convention: its body gets the frame in the register named.
macro_rules! framed {
    ($name:expr, $body:path, $register:expr) => {
        core::arch::global_asm!(
            concat!("OLIFANT_C ", $name, ", {body}, ", $register),
            body = sym $body,
        );
    };
}
pub(crate) use framed;
