//! `alarm`, `setitimer` and `ualarm` in simulated time. All three interval timers count simulated time; they signal the
//! process, which means main as long as it lives and does not block the signal.

use crate::clock;
use crate::errno;
use crate::schedule::block;
use crate::state::{Runtime, with};

const KINDS: usize = 3;
const SIGNALS: [i32; KINDS] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// The three interval timers: due cycle and interval in cycles.
#[derive(Debug, Default)]
pub struct Alarms {
    timers: [Option<(u64, u64)>; KINDS],
}

impl Alarms {
    /// When the next alarm is due, if `thread` is the one to be signalled.
    pub fn next_for(&self, thread: usize) -> Option<u64> {
        (thread == 0).then(|| self.next()).flatten()
    }

    fn next(&self) -> Option<u64> {
        self.timers.iter().flatten().map(|timer| timer.0).min()
    }

    /// Takes the signal of an alarm that is due.
    pub fn take_due(&mut self, now: u64) -> Option<i32> {
        let kind = self.timers.iter().position(|timer| timer.is_some_and(|timer| timer.0 <= now))?;
        self.timers[kind] = match self.timers[kind] {
            Some((due, interval)) if interval > 0 => {
                Some((due.max(now.saturating_sub(interval)) + interval, interval))
            }
            _ => None,
        };
        Some(SIGNALS[kind])
    }
}

impl Runtime {
    /// Makes the running thread's hooks call when the next alarm is due, even if nobody else needs the processor.
    pub fn limit_turn_to_alarm(&mut self) {
        let Some(due) = self.alarms.next() else { return };
        let left = due.saturating_sub(self.system.now_cycles());
        let instructions = (left as f64 / self.spec.machine.processor.cpi).min(1e9) as u32;
        let base = block() as *mut u32;
        // SAFETY: the block's header: the stamp, and the limit in the third word. Lowering the limit only makes the hooks call
        // earlier.
        unsafe {
            let stamp = base.read_volatile();
            let limit = base.add(2).read_volatile();
            base.add(2).write_volatile(limit.min(stamp.saturating_add(instructions.max(1))));
        }
    }
}

fn get(kind: usize) -> libc::itimerval {
    let (timer, now, hertz) =
        with(|runtime| (runtime.alarms.timers[kind], runtime.system.now_cycles(), runtime.system.clock().0));
    let to_time = |cycles: u64| {
        let micros = (cycles as f64 * 1e6 / hertz).ceil() as i64;
        libc::timeval { tv_sec: micros / 1_000_000, tv_usec: micros % 1_000_000 }
    };
    let (left, interval) = timer.map_or((0, 0), |(due, interval)| (due.saturating_sub(now), interval));
    libc::itimerval { it_interval: to_time(interval), it_value: to_time(left) }
}

fn set(kind: usize, value_micros: u64, interval_micros: u64) {
    let timer = (value_micros != 0)
        .then(|| (clock::after(value_micros * 1000), clock::cycles(interval_micros * 1000)));
    with(|runtime| {
        runtime.alarms.timers[kind] = timer;
        runtime.limit_turn_to_alarm();
        // Main may wait without a time limit: it looks again.
        runtime.rouse(0);
    });
}

/// `setitimer`.
#[unsafe(no_mangle)]
unsafe extern "C" fn setitimer(kind: i32, new: *const libc::itimerval, old: *mut libc::itimerval) -> i32 {
    let Ok(kind @ 0..KINDS) = usize::try_from(kind) else { return errno::fail(libc::EINVAL) };
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    // SAFETY: the caller passes null or valid records.
    unsafe {
        if !old.is_null() {
            *old = get(kind);
        }
        if !new.is_null() {
            set(kind, micros((*new).it_value), micros((*new).it_interval));
        }
    }
    0
}

/// `getitimer`.
#[unsafe(no_mangle)]
unsafe extern "C" fn getitimer(kind: i32, value: *mut libc::itimerval) -> i32 {
    let Ok(kind @ 0..KINDS) = usize::try_from(kind) else { return errno::fail(libc::EINVAL) };
    // SAFETY: the caller passes room for the record.
    unsafe { *value = get(kind) };
    0
}

/// `alarm`.
#[unsafe(no_mangle)]
extern "C" fn alarm(seconds: u32) -> u32 {
    let left = get(0).it_value;
    set(0, u64::from(seconds) * 1_000_000, 0);
    left.tv_sec as u32 + u32::from(left.tv_usec > 0)
}

/// `ualarm`.
#[unsafe(no_mangle)]
extern "C" fn ualarm(micros: u32, interval: u32) -> u32 {
    let left = get(0).it_value;
    set(0, u64::from(micros), u64::from(interval));
    left.tv_sec as u32 * 1_000_000 + left.tv_usec as u32
}
