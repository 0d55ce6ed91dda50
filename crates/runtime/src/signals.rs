//! Signals.
//!
//! The kernel sees one thread with an empty mask; masks and pending sets of the program's threads are kept here. A signal from
//! outside is noted by [`on_signal`], which makes the hooks call soon, and delivered at the next safe point on the context of
//! a thread that does not block it (main first). A fault belongs to the instruction that made it, so its handler is
//! entered at once, on the context's own stack. A signal that ends the process leaves the profile first.

use crate::schedule::block;
use crate::state::{Runtime, is_free, with};
use crate::{ending, errno, sys};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Highest signal number.
pub const LAST: usize = 64;
/// Bytes of the stack that fault handlers of ours run on; a dump needs it.
const HANDLER_STACK: usize = 1 << 20;
const SA_RESTORER: u64 = 0x0400_0000;

/// What a thread blocks and has pending.
#[derive(Debug, Clone, Default)]
pub struct PendingSignals {
    /// Blocked signals; bit n - 1 for signal n.
    pub mask: u64,
    /// What it waits for in `sigwait` and its like.
    pub awaited: u64,
    /// Pending for this thread alone.
    pub pending: u64,
    /// A handler without SA_RESTART ran since the last look.
    pub was_interrupted: bool,
    /// Handlers that have run on this thread.
    pub handlers_run: u64,
    /// The program's alternate stack for this thread: start, bytes; no bytes for none.
    pub stack: (usize, usize),
}

/// An action in the kernel's layout.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Action {
    pub handler: usize,
    pub flags: u64,
    pub restorer: usize,
    pub mask: u64,
}

struct Actions(UnsafeCell<[Action; LAST + 1]>);

// SAFETY: used by the operating-system thread that runs the contexts, and by its signal handlers, which only read; an
// action is written with the signal's kernel action still or already matching.
unsafe impl Sync for Actions {}

static ACTIONS: Actions =
    Actions(UnsafeCell::new([Action { handler: 0, flags: 0, restorer: 0, mask: 0 }; LAST + 1]));

/// What came with the latest signal of each number, as the kernel lays it out.
struct Infos(UnsafeCell<[Info; LAST + 1]>);

/// The part of the kernel's record that handlers look at.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Info {
    signal: i32,
    error: i32,
    code: i32,
    padding: i32,
    process: i32,
    user: u32,
    value: u64,
}

// SAFETY: as for `Actions`; a record is overwritten whole by a newer signal of the same number.
unsafe impl Sync for Infos {}

static INFOS: Infos = Infos(UnsafeCell::new(
    [Info { signal: 0, error: 0, code: 0, padding: 0, process: 0, user: 0, value: 0 }; LAST + 1],
));

/// Notes that the process itself sends a signal.
fn note_own(signal: i32, code: i32) {
    // SAFETY: takes no arguments.
    let user = unsafe { sys::call(libc::SYS_getuid, [0; 6]) } as u32;
    let info = Info { signal, code, process: sys::process_id(), user, ..Info::default() };
    // SAFETY: see `Infos`.
    unsafe { (*INFOS.0.get())[signal as usize] = info };
}

/// Signals pending for the process.
static PENDING: AtomicU64 = AtomicU64::new(0);
/// A fatal signal that came while the runtime was busy.
static FATAL: AtomicU32 = AtomicU32::new(0);

/// The bit of a signal.
pub fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// The program's action for a signal.
pub fn action(signal: i32) -> Action {
    // SAFETY: see `Actions`.
    unsafe { (*ACTIONS.0.get())[signal as usize] }
}

fn set_action(signal: i32, action: Action) {
    // SAFETY: see `Actions`.
    unsafe { (*ACTIONS.0.get())[signal as usize] = action };
}

fn is_fault(signal: i32) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP)
}

/// Whether the default action leaves the process alone or only stops it, so that the kernel may have it.
fn is_harmless_by_default(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGCHLD
            | libc::SIGURG
            | libc::SIGWINCH
            | libc::SIGCONT
            | libc::SIGSTOP
            | libc::SIGTSTP
            | libc::SIGTTIN
            | libc::SIGTTOU
            | libc::SIGKILL
            | libc::SIGSYS
    )
}

/// Whether sending the signal is the kernel's business: no handler, and a default that stops or does nothing.
pub fn is_left_to_kernel(signal: i32) -> bool {
    (1..=LAST as i32).contains(&signal)
        && action(signal).handler == libc::SIG_DFL
        && is_harmless_by_default(signal)
        && signal != libc::SIGCHLD
}

/// Sets the kernel's action for a signal.
fn set_kernel_action(signal: i32, handler: usize, flags: u64) {
    let action = Action { handler, flags: flags | SA_RESTORER, restorer: sys::sigreturn_address(), mask: 0 };
    // SAFETY: the action is valid and its handler is SIG_DFL, SIG_IGN or a function of the three-argument form.
    unsafe {
        sys::call(libc::SYS_rt_sigaction, [signal as usize, (&raw const action) as usize, 0, 8, 0, 0]);
    }
}

/// Makes the kernel's action fit the program's.
fn update_kernel(signal: i32) {
    let action = action(signal);
    match action.handler {
        libc::SIG_IGN => set_kernel_action(signal, libc::SIG_IGN, 0),
        libc::SIG_DFL if is_harmless_by_default(signal) => set_kernel_action(signal, libc::SIG_DFL, 0),
        _ => {
            let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let flags = flags as u64 | (action.flags & libc::SA_RESTART as u64);
            set_kernel_action(signal, on_signal as *const () as usize, flags);
        }
    }
}

/// Takes over all signals, with the actions that the process inherited.
pub fn initialise() {
    let stack = sys::map_memory(0, HANDLER_STACK, libc::PROT_READ | libc::PROT_WRITE);
    let stack = libc::stack_t { ss_sp: stack as *mut _, ss_flags: 0, ss_size: HANDLER_STACK };
    // SAFETY: the stack is a fresh mapping that stays.
    unsafe { sys::call(libc::SYS_sigaltstack, [(&raw const stack) as usize, 0, 0, 0, 0, 0]) };
    for signal in 1..=LAST as i32 {
        let mut inherited = Action::default();
        // SAFETY: the kernel writes one action.
        unsafe {
            sys::call(libc::SYS_rt_sigaction, [signal as usize, 0, (&raw mut inherited) as usize, 8, 0, 0]);
        }
        if inherited.handler == libc::SIG_IGN {
            set_action(signal, Action { handler: libc::SIG_IGN, ..Action::default() });
        }
        if signal < 32 && signal != libc::SIGSYS {
            update_kernel(signal);
        }
    }
}

/// Installs the handler of dispatched system calls, which runs on the context's own stack because it may switch.
pub fn set_system_call_handler(
    handler: unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::ucontext_t),
) {
    let flags = libc::SA_SIGINFO | libc::SA_NODEFER;
    set_kernel_action(libc::SIGSYS, handler as *const () as usize, flags as u64);
}

/// The system call rt_sigaction. Returns what the kernel would.
///
/// # Safety
/// The pointers are null or point at the kernel's records.
pub unsafe fn kernel_call(signal: i32, new: *const Action, old: *mut Action) -> isize {
    if !(1..=LAST as i32).contains(&signal) {
        return -(libc::EINVAL as isize);
    }
    // SAFETY: as promised by the caller.
    unsafe {
        let before = exchange_action(signal, (!new.is_null()).then(|| *new));
        if !old.is_null() {
            *old = before;
        }
    }
    0
}

/// Ends the process by a signal's default action.
pub fn die_by(signal: i32) -> ! {
    ending::leave_profile(false, 128 + signal);
    set_kernel_action(signal, libc::SIG_DFL, 0);
    // SAFETY: no memory is involved.
    unsafe {
        let thread = sys::call(libc::SYS_gettid, [0; 6]);
        sys::call(libc::SYS_tgkill, [sys::process_id() as usize, thread as usize, signal as usize, 0, 0, 0]);
    }
    sys::exit_group(128 + signal)
}

/// The kernel's entry for every signal that we handle.
unsafe extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    let action = action(signal);
    let has_handler = action.handler > libc::SIG_IGN;
    // SAFETY: the kernel passes valid records.
    let came_from_instruction = is_fault(signal) && unsafe { (*info).si_code } > 0;
    if came_from_instruction {
        if has_handler && is_free() {
            // SAFETY: as above.
            unsafe { crate::fault::enter_handler(signal, info, context, action) };
            return;
        }
        // SAFETY: as above.
        unsafe { crate::fault::explain(signal, info) };
        ending::leave_profile(false, 128 + signal);
        // The instruction runs again and ends the process with the signal's own status.
        set_kernel_action(signal, libc::SIG_DFL, 0);
        return;
    }
    // SAFETY: the kernel's record begins like ours; see `Infos`.
    unsafe { (*INFOS.0.get())[signal as usize] = info.cast::<Info>().read() };
    if has_handler {
        PENDING.fetch_or(bit(signal), Ordering::Relaxed);
        hurry();
    } else if is_free() {
        die_by(signal);
    } else {
        FATAL.store(signal as u32, Ordering::Relaxed);
        PENDING.fetch_or(bit(signal), Ordering::Relaxed);
        hurry();
    }
}

/// Makes the hooks call at their next access.
fn hurry() {
    let base = block() as *mut u32;
    if !base.is_null() {
        // SAFETY: the third word of the block's header is the limit.
        unsafe { base.add(2).write_volatile(0) };
    }
}

/// Adds a signal to those pending for the process, and rouses the thread that will take it.
pub fn send_to_process(signal: i32) {
    note_own(signal, libc::SI_USER);
    PENDING.fetch_or(bit(signal), Ordering::Relaxed);
    with(|runtime| {
        if let Some(number) = runtime.taker_of(signal) {
            runtime.rouse(number);
        }
    });
}

/// Adds a signal to those pending for one thread.
pub fn send_to_thread(number: usize, signal: i32) {
    note_own(signal, libc::SI_TKILL);
    with(|runtime| {
        let thread = &mut runtime.threads[number];
        thread.signals.pending |= bit(signal);
        if thread.signals.mask & bit(signal) == 0 || thread.is_awaiting_signal(signal) {
            runtime.rouse(number);
        }
    });
}

impl crate::thread::Thread {
    fn is_awaiting_signal(&self, signal: i32) -> bool {
        self.signals.awaited & bit(signal) != 0
    }
}

impl Runtime {
    /// The thread that takes a signal of the process: the first that does not block it or waits for it.
    fn taker_of(&self, signal: i32) -> Option<usize> {
        self.threads.iter().position(|thread| {
            !thread.has_ended && (thread.signals.mask & bit(signal) == 0 || thread.is_awaiting_signal(signal))
        })
    }

    /// Takes the lowest signal that the running thread should handle now.
    fn take_signal(&mut self) -> Option<i32> {
        let current = self.current;
        let signals = &mut self.threads[current].signals;
        let own = signals.pending & !signals.mask;
        if own != 0 {
            let signal = own.trailing_zeros() as i32 + 1;
            signals.pending &= !bit(signal);
            return Some(signal);
        }
        let mut shared = PENDING.load(Ordering::Relaxed);
        while shared != 0 {
            let signal = shared.trailing_zeros() as i32 + 1;
            shared &= shared - 1;
            match self.taker_of(signal) {
                Some(taker) if taker == current && self.threads[current].signals.mask & bit(signal) == 0 => {
                    PENDING.fetch_and(!bit(signal), Ordering::Relaxed);
                    return Some(signal);
                }
                Some(taker) => self.rouse(taker),
                None => {}
            }
        }
        None
    }
}

/// What a thread in `sigwait` and its like waits for.
pub const SIGNAL_WAIT: &str = "signal";

/// The queue in which a thread waits for signals: an address that no object has.
pub fn wait_queue(number: usize) -> usize {
    0x2_0000 + number
}

/// Delivers what is pending to the running thread: a safe point.
pub fn deliver_pending() {
    let due = with(|runtime| {
        let now = runtime.system.now_cycles();
        let mut due = 0;
        while let Some(signal) = runtime.alarms.take_due(now) {
            due |= bit(signal);
        }
        runtime.limit_turn_to_alarm();
        due
    });
    PENDING.fetch_or(due, Ordering::Relaxed);
    loop {
        if PENDING.load(Ordering::Relaxed) == 0 && with(|runtime| runtime.running().signals.pending) == 0 {
            return;
        }
        let fatal = FATAL.swap(0, Ordering::Relaxed);
        if fatal != 0 {
            die_by(fatal as i32);
        }
        match with(Runtime::take_signal) {
            Some(signal) => deliver(signal),
            None => return,
        }
    }
}

/// Does what the program wants done about a signal, on the running context.
pub fn deliver(signal: i32) {
    let action = action(signal);
    match action.handler {
        libc::SIG_IGN => return,
        libc::SIG_DFL => {
            if !is_harmless_by_default(signal) {
                die_by(signal);
            }
            return;
        }
        _ => {}
    }
    if action.flags & libc::SA_RESETHAND as u64 != 0 {
        set_action(signal, Action::default());
        update_kernel(signal);
    }
    let before = with(|runtime| {
        let signals = &mut runtime.running().signals;
        let before = signals.mask;
        signals.mask |= action.mask;
        if action.flags & libc::SA_NODEFER as u64 == 0 {
            signals.mask |= bit(signal);
        }
        signals.handlers_run += 1;
        signals.was_interrupted |= action.flags & libc::SA_RESTART as u64 == 0;
        before
    });
    let wait = with(|runtime| runtime.running().wait.take());
    // SAFETY: errno's location belongs to the running thread; both records may be all zeros; the program gave the handler
    // for this signal, in the form that its flags say.
    unsafe {
        let saved_errno = *libc::__errno_location();
        let mut info: libc::siginfo_t = core::mem::zeroed();
        (&raw mut info).cast::<Info>().write((*INFOS.0.get())[signal as usize]);
        info.si_signo = signal;
        let mut context: libc::ucontext_t = core::mem::zeroed();
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::ucontext_t) =
            core::mem::transmute(action.handler);
        handler(signal, &mut info, &mut context);
        errno::set(saved_errno);
    }
    with(|runtime| {
        let thread = runtime.running();
        thread.signals.mask = before;
        thread.wait = wait;
    });
}

/// Whether a handler ran that interrupts system calls; forgets it.
pub fn interrupts() -> bool {
    with(|runtime| core::mem::take(&mut runtime.running().signals.was_interrupted))
}

/// Sets the program's action for a signal; the old one comes back.
pub fn exchange_action(signal: i32, new: Option<Action>) -> Action {
    let old = action(signal);
    if let Some(mut new) = new {
        new.mask &= !(bit(libc::SIGKILL) | bit(libc::SIGSTOP));
        set_action(signal, new);
        if signal != libc::SIGSYS {
            update_kernel(signal);
        }
    }
    old
}

/// Pending signals of the running thread and of the process that are in `set`: takes the lowest.
pub fn take_pending(set: u64) -> Option<i32> {
    with(|runtime| {
        let signals = &mut runtime.running().signals;
        let own = signals.pending & set;
        let shared = PENDING.load(Ordering::Relaxed) & set;
        let found = own | shared;
        if found == 0 {
            return None;
        }
        let signal = found.trailing_zeros() as i32 + 1;
        if own & bit(signal) != 0 {
            signals.pending &= !bit(signal);
        } else {
            PENDING.fetch_and(!bit(signal), Ordering::Relaxed);
        }
        Some(signal)
    })
}

/// All that is pending for the running thread.
pub fn pending_set() -> u64 {
    with(|runtime| runtime.running().signals.pending) | PENDING.load(Ordering::Relaxed)
}
