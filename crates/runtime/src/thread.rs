//! The program's threads: `pthread_create`, `pthread_join` and their like.

use crate::access::{WRITE, touch};
use crate::cancel::{self, CANCELLED, cancellation_point};
use crate::context::{Context, Routine};
use crate::donor::{Donor, on_own_storage};
use crate::real::real;
use crate::schedule::{Wait, Wake, charge, park};
use crate::signals::PendingSignals;
use crate::stack::{DEFAULT_BYTES, Stack};
use crate::state::{Runtime, with};
use crate::thread_end;
use core::ffi::c_void;

/// What making a thread costs, in instructions.
const CREATE_INSTRUCTIONS: u64 = 4000;
/// What joining costs.
const JOIN_INSTRUCTIONS: u64 = 200;

/// A thread of the program.
pub struct Thread {
    /// Where it continues while it is not running.
    pub context: Context,
    /// Its FS base, which is its `pthread_t` too.
    pub storage: u64,
    /// Its stack; `None` once it is taken back.
    pub stack: Option<Stack>,
    /// Its donor and the donor's slot; `None` once taken back.
    pub donor: Option<(Donor, usize)>,
    /// Code address of its start routine; 0 for main.
    pub routine: u64,
    /// What it returned or passed to `pthread_exit`.
    pub result: usize,
    /// Whether it has ended.
    pub has_ended: bool,
    /// Whether it stayed behind in the parent of this process.
    pub is_ghost: bool,
    /// Whether nobody may join it.
    pub is_detached: bool,
    /// Who waits for its end.
    pub joiner: Option<usize>,
    /// Its name, if the program set one.
    pub name: String,
    /// What it waits for.
    pub wait: Option<Wait>,
    /// Values of thread-specific data, by key.
    pub specific: Vec<(u32, usize)>,
    /// Destructors of its `thread_local` objects, last first.
    pub destructors: Vec<(Routine, usize)>,
    /// Cancellation: asked for, and switched off.
    pub is_cancelled: bool,
    /// Whether it ignores cancellation for now.
    pub defers_cancel: bool,
    /// Signals waiting for it, and its mask.
    pub signals: PendingSignals,
    /// The last atomic load, for finding spins.
    pub polls: crate::spin::Polls,
    /// The lock that it waits for.
    pub waiting_for: crate::locks::Waiting,
}

impl Thread {
    /// A thread that has not run yet.
    pub fn new(storage: u64, routine: u64) -> Self {
        Self {
            context: Context::default(),
            storage,
            stack: None,
            donor: None,
            routine,
            result: 0,
            has_ended: false,
            is_ghost: false,
            is_detached: false,
            joiner: None,
            name: String::new(),
            wait: None,
            specific: Vec::new(),
            destructors: Vec::new(),
            is_cancelled: false,
            defers_cancel: false,
            signals: PendingSignals::default(),
            polls: crate::spin::Polls::default(),
            waiting_for: Default::default(),
        }
    }
}

/// Takes back stacks and donors of threads that ended, all but the running one's and those that can still be joined: their
/// `pthread_t` must not name another thread yet.
fn take_back_remains() {
    let (remains, own) = with(|runtime| {
        let running = runtime.current;
        let handles = &runtime.handles;
        let (keep, take): (Vec<_>, Vec<_>) = core::mem::take(&mut runtime.remains)
            .into_iter()
            .partition(|left| left.thread == running || handles.contains_key(&left.donor.handle()));
        runtime.remains = keep;
        (take, runtime.own_storage)
    });
    for left in remains {
        on_own_storage(own, || left.donor.retire());
        with(|runtime| {
            runtime.stacks.give_back(left.stack);
            runtime.donor_slots[left.donor_slot] = false;
        });
    }
}

/// Takes the lowest free donor slot.
fn take_donor_slot(runtime: &mut Runtime) -> usize {
    let slot = runtime.donor_slots.iter().position(|taken| !taken).unwrap_or(runtime.donor_slots.len());
    if slot == runtime.donor_slots.len() {
        runtime.donor_slots.push(false);
    }
    runtime.donor_slots[slot] = true;
    slot
}

/// A stack and a donor for a new thread, or the errno.
pub fn provide(stack_bytes: usize) -> Result<(Stack, Donor, usize), i32> {
    take_back_remains();
    let (stack, slot, own) = with(|runtime| {
        let stack = runtime.stacks.take(stack_bytes).ok_or(libc::EAGAIN)?;
        Ok::<_, i32>((stack, take_donor_slot(runtime), runtime.own_storage))
    })?;
    match on_own_storage(own, || Donor::new(slot)) {
        Ok(donor) => Ok((stack, donor, slot)),
        Err(error) => {
            with(|runtime| {
                runtime.stacks.give_back(stack);
                runtime.donor_slots[slot] = false;
            });
            Err(error)
        }
    }
}

/// Makes a thread and makes it runnable. Returns its number, or the errno.
pub fn start(routine: Routine, argument: usize, stack_bytes: usize, is_detached: bool) -> Result<usize, i32> {
    let (stack, donor, donor_slot) = provide(stack_bytes)?;
    let number = with(|runtime| {
        if runtime.runs_alone() {
            runtime.barrier_passed();
        }
        let number = usize::from(runtime.system.spawn().0);
        let mut thread = Thread::new(donor.handle(), routine as usize as u64);
        // SAFETY: the stack is fresh and belongs to this thread alone.
        thread.context = unsafe { Context::new(stack.end(), routine, argument) };
        thread.is_detached = is_detached;
        thread.signals.mask = runtime.running().signals.mask;
        runtime.areas.add_stack(number, stack, &mut runtime.system);
        runtime.areas.add_storage(number, donor_slot);
        runtime.handles.insert(donor.handle(), number);
        thread.stack = Some(stack);
        thread.donor = Some((donor, donor_slot));
        debug_assert_eq!(number, runtime.threads.len());
        runtime.threads.push(thread);
        number
    });
    Ok(number)
}

/// `pthread_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    handle: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: usize,
) -> i32 {
    let mut stack_bytes = DEFAULT_BYTES;
    let mut detach_state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: the program passes an initialised attribute object.
        unsafe {
            libc::pthread_attr_getstacksize(attributes, &mut stack_bytes);
            let get =
                real!(c"pthread_attr_getdetachstate" as fn(*const libc::pthread_attr_t, *mut i32) -> i32);
            get(attributes, &mut detach_state);
        }
    }
    match start(routine, argument, stack_bytes, detach_state == libc::PTHREAD_CREATE_DETACHED) {
        Ok(number) => {
            // SAFETY: POSIX obliges the caller to pass room for a handle. The new thread has not run: it is only
            // runnable, and the first switch can come with the next line.
            unsafe { *handle = with(|runtime| runtime.threads[number].storage) };
            touch(handle as usize, WRITE + 1);
            charge(CREATE_INSTRUCTIONS);
            0
        }
        Err(error) => error,
    }
}

/// The number of a thread that can still be named.
pub fn number_of(handle: u64) -> Option<usize> {
    with(|runtime| runtime.handles.get(&handle).copied())
}

pub fn join(handle: u64, result: *mut usize, deadline: Option<u64>, may_wait: bool) -> i32 {
    let Some(number) = number_of(handle) else { return libc::ESRCH };
    if cancel::is_due() {
        return CANCELLED;
    }
    let error = with(|runtime| {
        let me = runtime.current;
        let waits_for_me = runtime.threads[me].joiner == Some(number);
        let thread = &mut runtime.threads[number];
        if number == me || waits_for_me {
            return libc::EDEADLK;
        }
        if thread.is_detached || thread.joiner.is_some() {
            return libc::EINVAL;
        }
        if !thread.has_ended && !may_wait {
            return libc::EBUSY;
        }
        thread.joiner = Some(me);
        0
    });
    if error != 0 {
        return error;
    }
    while with(|runtime| !runtime.threads[number].has_ended) {
        let wake = park(thread_end::end_queue(number), "end of thread", deadline);
        let is_cancelled = cancel::is_due();
        if is_cancelled || wake == Wake::TimedOut {
            with(|runtime| runtime.threads[number].joiner = None);
            if is_cancelled {
                return CANCELLED;
            }
            if with(|runtime| !runtime.threads[number].has_ended) {
                return libc::ETIMEDOUT;
            }
        }
    }
    let value = with(|runtime| {
        runtime.handles.remove(&handle);
        if runtime.runs_alone() {
            runtime.barrier_passed();
        }
        runtime.threads[number].result
    });
    if !result.is_null() {
        // SAFETY: the caller passes null or room for a pointer.
        unsafe { *result = value };
        touch(result as usize, WRITE + 1);
    }
    charge(JOIN_INSTRUCTIONS);
    0
}

/// `pthread_join`.
unsafe extern "C" fn join_thread(handle: u64, result: *mut usize) -> i32 {
    join(handle, result, None, true)
}

/// `pthread_tryjoin_np`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_tryjoin_np(handle: u64, result: *mut usize) -> i32 {
    join(handle, result, None, false)
}

/// `pthread_timedjoin_np`.
unsafe extern "C" fn timed_join(handle: u64, result: *mut usize, until: *const libc::timespec) -> i32 {
    // SAFETY: the caller passes null or a time.
    let deadline = unsafe { crate::clock::deadline_at(libc::CLOCK_REALTIME, until) };
    join(handle, result, deadline, true)
}

/// `pthread_clockjoin_np`.
unsafe extern "C" fn clock_join(
    handle: u64,
    result: *mut usize,
    clock: libc::clockid_t,
    until: *const libc::timespec,
) -> i32 {
    // SAFETY: the caller passes null or a time.
    let deadline = unsafe { crate::clock::deadline_at(clock, until) };
    join(handle, result, deadline, true)
}

cancellation_point!(
    pthread_join => join_thread,
    pthread_timedjoin_np => timed_join,
    pthread_clockjoin_np => clock_join,
);

/// `pthread_detach`.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_detach(handle: u64) -> i32 {
    let Some(number) = number_of(handle) else { return libc::ESRCH };
    with(|runtime| {
        let thread = &mut runtime.threads[number];
        if thread.is_detached {
            return libc::EINVAL;
        }
        thread.is_detached = true;
        if thread.has_ended {
            runtime.handles.remove(&handle);
        }
        0
    })
}

/// `pthread_self`: the control block that FS points at.
#[unsafe(no_mangle)]
extern "C" fn pthread_self() -> u64 {
    crate::registers::fs()
}

/// `pthread_setname_np`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setname_np(handle: u64, name: *const libc::c_char) -> i32 {
    // SAFETY: the caller passes a C string.
    let name = unsafe { core::ffi::CStr::from_ptr(name) };
    if name.count_bytes() > 15 {
        return libc::ERANGE;
    }
    let Some(number) = number_of(handle) else { return libc::ESRCH };
    with(|runtime| runtime.threads[number].name = name.to_string_lossy().into_owned());
    0
}

/// `pthread_getname_np`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getname_np(handle: u64, buffer: *mut u8, bytes: usize) -> i32 {
    let Some(number) = number_of(handle) else { return libc::ESRCH };
    let name = with(|runtime| runtime.threads[number].name.clone());
    if bytes <= name.len() || bytes < 16 {
        return libc::ERANGE;
    }
    // SAFETY: the buffer has `bytes` bytes, more than the name and its end.
    unsafe {
        buffer.copy_from_nonoverlapping(name.as_ptr(), name.len());
        *buffer.add(name.len()) = 0;
    }
    0
}

/// `pthread_getattr_np`: stack and detach state of a thread.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getattr_np(handle: u64, attributes: *mut libc::pthread_attr_t) -> i32 {
    let Some(number) = number_of(handle) else { return libc::ESRCH };
    let (stack, is_detached) =
        with(|runtime| (runtime.threads[number].stack, runtime.threads[number].is_detached));
    let Some(stack) = stack else { return libc::ESRCH };
    let state = if is_detached { libc::PTHREAD_CREATE_DETACHED } else { libc::PTHREAD_CREATE_JOINABLE };
    // SAFETY: the caller passes room for an attribute object, which is initialised first.
    unsafe {
        libc::pthread_attr_init(attributes);
        libc::pthread_attr_setstack(attributes, stack.start() as *mut c_void, stack.bytes());
        libc::pthread_attr_setdetachstate(attributes, state)
    }
}

/// `sched_yield`.
#[unsafe(no_mangle)]
extern "C" fn sched_yield() -> i32 {
    crate::spin::yield_now();
    0
}

/// `pthread_yield`.
#[unsafe(no_mangle)]
extern "C" fn pthread_yield() -> i32 {
    sched_yield()
}
