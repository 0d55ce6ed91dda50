//! A user-level context: a stack pointer with the callee-saved registers pushed below it.
//!
//! A switch saves what the C ABI obliges a callee to keep (rbx, rbp, r12 to r15, the control words of SSE and x87) on the
//! old stack and takes the same from the new one: about 10 ns. The segment bases are the caller's business
//! (`registers`).
//!
//! A new context starts in `olifant_context_start`, whose unwind information ends the stack there. It registers an
//! outermost cleanup buffer with the C library, so that `pthread_exit`, which unwinds the stack and runs C++
//! destructors and cleanup handlers on its way, lands back in it.

use core::arch::{asm, global_asm, naked_asm};

/// A context that is not running.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context {
    stack_pointer: usize,
}

/// What a context runs: a C function of one argument.
pub type Routine = unsafe extern "C" fn(usize) -> usize;

#[repr(C)]
struct Frame {
    control_words: [u32; 2],
    alignment: u64,
    r15: usize,
    r14: usize,
    r13: usize,
    r12: usize,
    rbx: usize,
    rbp: usize,
    return_address: usize,
}

global_asm!(
    ".pushsection .text.olifant_context,\"ax\",@progbits",
    ".globl olifant_context_start",
    ".hidden olifant_context_start",
    ".type olifant_context_start,@function",
    "olifant_context_start:",
    ".cfi_startproc",
    // An unwinder stops where the return address is undefined.
    ".cfi_undefined rip",
    "sub rsp, 128",
    ".cfi_adjust_cfa_offset 128",
    "mov rdi, rsp",
    "xor esi, esi",
    "call __sigsetjmp@PLT",
    "test eax, eax",
    "jnz 2f",
    "mov rdi, rsp",
    "call __pthread_register_cancel@PLT",
    "mov rdi, r13",
    "call r12",
    "mov rbx, rax",
    "mov rdi, rsp",
    "call __pthread_unregister_cancel@PLT",
    "mov rdi, rbx",
    "call {returned}",
    "ud2",
    // Reached by unwinding: the buffer is still registered. `returned` finds the result in the thread's record.
    "2:",
    "mov rdi, rsp",
    "call __pthread_unregister_cancel@PLT",
    "call {unwound}",
    "ud2",
    ".cfi_endproc",
    ".size olifant_context_start, . - olifant_context_start",
    ".popsection",
    returned = sym crate::thread_end::returned,
    unwound = sym crate::thread_end::unwound,
);

unsafe extern "C" {
    fn olifant_context_start();
}

impl Context {
    /// A context that will call `routine(argument)` on the stack that ends at `stack_end`, with the floating-point
    /// modes of the caller.
    ///
    /// # Safety
    /// The stack must be writable below `stack_end`, aligned to 16 bytes and used by nothing else.
    pub unsafe fn new(stack_end: usize, routine: Routine, argument: usize) -> Self {
        let mut control_words = [0u32; 2];
        // SAFETY: both instructions store one control word into the array.
        unsafe {
            asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) &raw mut control_words, options(nostack));
        }
        let frame = Frame {
            control_words,
            alignment: 0,
            r15: 0,
            r14: 0,
            r13: argument,
            r12: routine as usize,
            rbx: 0,
            rbp: 0,
            return_address: olifant_context_start as *const () as usize,
        };
        // Room above for whoever looks at the words over a call's frame (`access::EntryFrame`).
        let stack_end = stack_end - 8 * crate::access::NEAR_WORDS;
        let stack_pointer = (stack_end - size_of::<Frame>() - 16) & !15;
        // After the frame is popped the stack pointer must be a multiple of 16 for the entry code.
        let stack_pointer = stack_pointer - (stack_pointer + size_of::<Frame>()) % 16;
        // SAFETY: the frame lies inside the stack, as the caller promises.
        unsafe { (stack_pointer as *mut Frame).write(frame) };
        Self { stack_pointer }
    }
}

/// Saves the running context in `old` and continues `new`. Returns when something switches back to `old`.
///
/// # Safety
/// `new` must be a context that is not running and whose stack is intact; `old` must stay valid until it is continued.
pub unsafe fn switch(old: *mut Context, new: Context) {
    // SAFETY: passed on to the caller; Context is one word, the stack pointer.
    unsafe { switch_stacks(old.cast(), new.stack_pointer) }
}

#[unsafe(naked)]
unsafe extern "C" fn switch_stacks(old: *mut usize, new: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 16",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 16",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

// As `olifant_context_start`, for main, which the C library calls from its own frame: registers a buffer of its own, so that
// `pthread_exit` in main ends here and not in the C library, which would end the operating-system thread.
global_asm!(
    ".pushsection .text.olifant_call_main,\"ax\",@progbits",
    ".globl olifant_call_main",
    ".hidden olifant_call_main",
    ".type olifant_call_main,@function",
    "olifant_call_main:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "push rbx",
    ".cfi_adjust_cfa_offset 8",
    "push r12",
    ".cfi_adjust_cfa_offset 8",
    "push r13",
    ".cfi_adjust_cfa_offset 8",
    "push r14",
    ".cfi_adjust_cfa_offset 8",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 128",
    ".cfi_adjust_cfa_offset 128",
    "mov rbx, rdi",
    "mov r12, rsi",
    "mov r13, rdx",
    "mov r14, rcx",
    "mov rdi, rsp",
    "xor esi, esi",
    "call __sigsetjmp@PLT",
    "test eax, eax",
    "jnz 2f",
    "mov rdi, rsp",
    "call __pthread_register_cancel@PLT",
    "mov rdi, r12",
    "mov rsi, r13",
    "mov rdx, r14",
    // A frame pointer of zero marks the outermost frame.
    "xor ebp, ebp",
    "call rbx",
    "mov rbx, rax",
    "mov rdi, rsp",
    "call __pthread_unregister_cancel@PLT",
    "mov rax, rbx",
    "add rsp, 128",
    "pop rbp",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "ret",
    "2:",
    "mov rdi, rsp",
    "call __pthread_unregister_cancel@PLT",
    "call {unwound}",
    "ud2",
    ".cfi_endproc",
    ".size olifant_call_main, . - olifant_call_main",
    ".popsection",
    unwound = sym crate::thread_end::unwound,
);

unsafe extern "C" {
    /// Calls `main(count, arguments, environment)` with an outermost cleanup buffer; returns its result.
    #[link_name = "olifant_call_main"]
    pub fn call_main(main: usize, count: usize, arguments: usize, environment: usize) -> usize;
}
