//! Threads: one bound thread, teams, parallel loops.

use crate::answer::{Answer, Failure, done, object, system, text};
use core::ffi::{c_char, c_int, c_uint, c_void};
use olifant_placement::{ResourceSet, ThreadPolicy};
use olifant_sys::Errno;
use rset::Team;
use std::sync::mpsc::{SyncSender, sync_channel};

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Work = extern "C" fn(c_uint, c_uint, *mut c_void);
type Body = extern "C" fn(usize, usize, c_uint, *mut c_void);

/// C's argument, handed to other threads: the header leaves to the caller what may be done with it there.
#[derive(Clone, Copy)]
struct Argument(*mut c_void);

// SAFETY: only the caller's own functions look at it, and the header says that they run on other threads.
unsafe impl Send for Argument {}
// SAFETY: as for Send.
unsafe impl Sync for Argument {}

impl Argument {
    /// Through a method, so that closures take the whole wrapper and not its field.
    fn get(self) -> *mut c_void {
        self.0
    }
}

/// What a new thread finds.
struct Seed {
    set: ResourceSet,
    start: Start,
    argument: Argument,
    bound: SyncSender<Answer<()>>,
}

/// Where a new thread begins: it binds itself, says how that went, and goes on only if it is bound.
extern "C" fn begin(seed: *mut c_void) -> *mut c_void {
    // SAFETY: `rset_thread_create` made the box for this thread alone.
    let seed = *unsafe { Box::from_raw(seed.cast::<Seed>()) };
    let bound = system().and_then(|system| Ok(system.bind_here(&seed.set).map(drop)?));
    let is_bound = bound.is_ok();
    // The creator waits for this; if it were gone, nobody would be there to be told.
    let _ = seed.bound.send(bound);
    if is_bound { (seed.start)(seed.argument.get()) } else { core::ptr::null_mut() }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_thread_create(
    thread: *mut libc::pthread_t,
    set: *const ResourceSet,
    start: Option<Start>,
    argument: *mut c_void,
) -> c_int {
    let create = || {
        // SAFETY: the header's contract.
        let set = unsafe { object(set, "set") }?.clone();
        let start = start.ok_or_else(|| Failure::null("start"))?;
        if thread.is_null() {
            return Err(Failure::null("thread"));
        }
        let (bound, answer) = sync_channel(1);
        let seed = Box::into_raw(Box::new(Seed { set, start, argument: Argument(argument), bound }));
        let mut made: libc::pthread_t = 0;
        // SAFETY: `begin` takes the seed over, which stays until then.
        let status = unsafe { libc::pthread_create(&raw mut made, core::ptr::null(), begin, seed.cast()) };
        if status != 0 {
            // SAFETY: no thread was made, so the seed is still ours.
            drop(unsafe { Box::from_raw(seed) });
            return Err(Failure::new(Errno(status), "the system makes no more threads"));
        }
        let gone = || Failure::new(Errno::EAGAIN, "the thread ended before it was bound");
        if let Err(failure) = answer.recv().unwrap_or_else(|_| Err(gone())) {
            // SAFETY: the thread was just made and nobody else can join it.
            unsafe { libc::pthread_join(made, core::ptr::null_mut()) };
            return Err(failure);
        }
        // SAFETY: not null, and writable by the header's contract.
        unsafe { thread.write(made) };
        Ok(())
    };
    done(create())
}

/// A team from C's arguments.
///
/// # Safety
/// As the header says.
unsafe fn team(set: *const ResourceSet, words: *const c_char, count: c_uint) -> Answer<Team> {
    // SAFETY: the header's contract.
    let (set, words) = unsafe { (object(set, "set")?, text(words, "thread_policy")?) };
    let policy: ThreadPolicy =
        words.parse().map_err(|error| Failure::new(Errno::EINVAL, format!("{error}")))?;
    Ok(Team::new(system()?, set, &policy, count as usize)?)
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_team_run(
    set: *const ResourceSet,
    words: *const c_char,
    count: c_uint,
    work: Option<Work>,
    argument: *mut c_void,
) -> c_int {
    let argument = Argument(argument);
    let run = || {
        let work = work.ok_or_else(|| Failure::null("work"))?;
        // SAFETY: the header's contract.
        let team = unsafe { team(set, words, count) }?;
        team.run(|member| work(number(member.number), number(member.count), argument.get()))?;
        Ok(())
    };
    done(run())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_parallel_for(
    set: *const ResourceSet,
    words: *const c_char,
    count: c_uint,
    first: usize,
    end: usize,
    body: Option<Body>,
    argument: *mut c_void,
) -> c_int {
    let argument = Argument(argument);
    let run = || {
        let body = body.ok_or_else(|| Failure::null("body"))?;
        // SAFETY: the header's contract.
        let team = unsafe { team(set, words, count) }?;
        team.parallel_for(first..end, |part, member| {
            body(part.start, part.end, number(member.number), argument.get());
        })?;
        Ok(())
    };
    done(run())
}

/// A thread's number as C's; a team has no more threads than C could ask for.
fn number(number: usize) -> c_uint {
    c_uint::try_from(number).unwrap_or(c_uint::MAX)
}
