//! Faults of the program's own instructions.
//!
//! The kernel enters our handler on the runtime's alternate stack, which is shared by all contexts, so a handler of the
//! program may not run there: it may switch contexts or leave by `siglongjmp`. Instead the kernel's frame is moved to the
//! context's stack, as the kernel itself would have put it, and the handler entered from there.

use crate::say::say;
use crate::signals::Action;
use crate::state::with;
use crate::{signals, sys};

/// Bytes below the stack pointer that the interrupted function may use.
const RED_ZONE: u64 = 128;
/// Where the extended state's size stands in the frame's floating-point area, and its mark.
const EXTENDED_OFFSET: usize = 464;
const EXTENDED_MAGIC: u32 = 0x4650_5853;
/// Size of a floating-point area without extended state.
const LEGACY_BYTES: usize = 512;

#[repr(C)]
struct Frame {
    return_address: usize,
    context: libc::ucontext_t,
    info: libc::siginfo_t,
}

/// The kernel's context record is shorter than libc's, which has room for the floating-point state at its end.
const CONTEXT_BYTES: usize = core::mem::offset_of!(libc::ucontext_t, uc_sigmask) + 8;

/// Arranges that the kernel's return from this signal enters the program's handler on the context's stack.
///
/// # Safety
/// The records are those that the kernel passed to a handler of a fault, and the runtime's state is not lent.
pub unsafe fn enter_handler(
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut libc::ucontext_t,
    action: Action,
) {
    // SAFETY: the records are valid. The new frame lies below the red zone of the interrupted function, or at the end of the
    // alternate stack that the program gave, in either case in memory that nobody uses; if it is not there, the write
    // faults on the runtime's stack and the process ends as it should.
    unsafe {
        let registers = &mut (*context).uc_mcontext.gregs;
        let mut top = registers[libc::REG_RSP as usize] as u64 - RED_ZONE;
        let alternate = with(|runtime| runtime.running().signals.stack);
        if action.flags & libc::SA_ONSTACK as u64 != 0 && alternate.1 > 0 {
            top = (alternate.0 + alternate.1) as u64;
        }
        let old_state = (*context).uc_mcontext.fpregs.cast::<u8>();
        let state_bytes = {
            let magic = old_state.add(EXTENDED_OFFSET).cast::<u32>().read();
            let extended = old_state.add(EXTENDED_OFFSET + 4).cast::<u32>().read();
            if magic == EXTENDED_MAGIC { extended as usize } else { LEGACY_BYTES }
        };
        let state = (top - state_bytes as u64) & !63;
        let frame = ((state - size_of::<Frame>() as u64) & !15) - 8;
        let frame = frame as *mut Frame;
        (state as *mut u8).copy_from_nonoverlapping(old_state, state_bytes);
        (*frame).return_address = sys::sigreturn_address();
        (&raw mut (*frame).context).cast::<u8>().copy_from_nonoverlapping(context.cast(), CONTEXT_BYTES);
        (*frame).context.uc_mcontext.fpregs = state as *mut _;
        (*frame).info = *info;
        registers[libc::REG_RSP as usize] = frame as i64;
        registers[libc::REG_RIP as usize] = action.handler as i64;
        registers[libc::REG_RDI as usize] = i64::from(signal);
        registers[libc::REG_RSI as usize] = &raw const (*frame).info as i64;
        registers[libc::REG_RDX as usize] = &raw const (*frame).context as i64;
        registers[libc::REG_RAX as usize] = 0;
        // The ABI wants the direction flag clear at a function's entry.
        registers[libc::REG_EFL as usize] &= !0x400;
    }
    if action.flags & libc::SA_RESETHAND as u64 != 0 {
        signals::exchange_action(signal, Some(Action::default()));
    }
}

/// Says what a person would want to know of a fatal fault: a stack overflow, or a fault of the runtime itself.
///
/// # Safety
/// `info` is the kernel's record.
pub unsafe fn explain(signal: i32, info: *const libc::siginfo_t) {
    if !crate::state::is_free() {
        say("internal error: the runtime itself faulted; the profile is as of the last checkpoint");
        return;
    }
    // SAFETY: the record is valid and the signal is a fault, so the address field is the one in use.
    let address = unsafe { (*info).si_addr() } as usize;
    if signal != libc::SIGSEGV {
        return;
    }
    let overflow = with(|runtime| {
        let number = runtime.current;
        let stack = runtime.threads[number].stack?;
        stack.overflowed_at(address).then_some((number, stack.bytes()))
    });
    if let Some((number, bytes)) = overflow {
        say(&format!("thread {number} of the program overflowed its stack of {} KiB", bytes >> 10));
    }
}
