//! The monitor's C interface inside a simulated program: `rset_monitor_*` of `rset.h`, on the card that watches the run.
//!
//! A threshold's callback runs as an interrupt handler would: between two steps of the thread that runs when the scheduler
//! next looks, at most a quantum after the event. A program of one thread, which is never interrupted, gets it in its next
//! call of the monitor.

use crate::schedule::charge;
use crate::state::{Runtime, is_free, with};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use olifant_opium::facts::CardEvent;
use olifant_opium::filter::{FilterSpec, Granularity, Target};
use olifant_opium::{Board, CardError, Kinds};
use std::collections::BTreeMap;

/// Instructions of a call: a few registers of the card, through a driver.
const CALL: u64 = 200;
/// Instructions of an interrupt and its return.
const INTERRUPT: u64 = 1000;

/// An event as a program sees it. The layout is that of `rset.h`.
#[repr(C)]
pub struct Event {
    region: c_int,
    node: c_uint,
    address: *const c_void,
    count: u64,
}

type Callback = unsafe extern "C" fn(*const Event, *mut c_void);

/// Callbacks by region.
#[derive(Default)]
pub struct Callbacks {
    by_region: BTreeMap<u32, (Callback, usize)>,
}

/// Whether any region has a callback, so that the scheduler need not look further.
static ANY_CALLBACK: AtomicBool = AtomicBool::new(false);
/// Whether a callback runs: events that it causes wait.
static IS_DELIVERING: AtomicBool = AtomicBool::new(false);

/// Calls the callbacks of events that came since the last time.
#[inline]
pub fn deliver() {
    if ANY_CALLBACK.load(Ordering::Relaxed) {
        deliver_events();
    }
}

#[inline(never)]
fn deliver_events() {
    if IS_DELIVERING.swap(true, Ordering::Relaxed) {
        return;
    }
    loop {
        let events = with(|runtime| board(runtime).take_events());
        if events.is_empty() {
            break;
        }
        for event in events {
            call_back(event);
        }
    }
    IS_DELIVERING.store(false, Ordering::Relaxed);
}

fn call_back(CardEvent { filter, address, accessor, count, .. }: CardEvent) {
    let callback = with(|runtime| runtime.callbacks.by_region.get(&filter).copied());
    let Some((callback, argument)) = callback else { return };
    charge(INTERRUPT);
    let event =
        Event { region: filter as c_int, node: accessor.into(), address: address as *const c_void, count };
    // SAFETY: the program passed the function with this contract and its argument.
    unsafe { callback(&event, argument as *mut c_void) };
}

fn board(runtime: &mut Runtime) -> &mut Board {
    runtime.system.engine_mut().observer_mut().board_mut()
}

fn number(answer: Result<usize, CardError>) -> c_int {
    match answer {
        Ok(number) => number as c_int,
        Err(CardError::TooManyFilters { .. } | CardError::TooManyCounters { .. }) => -libc::ENOSPC,
        Err(_) => -libc::EINVAL,
    }
}

/// Whether a region exists.
fn is_region(runtime: &mut Runtime, region: c_int) -> bool {
    usize::try_from(region).is_ok_and(|region| region < board(runtime).filters())
}

/// `rset_monitor_init`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_init() -> c_int {
    if !is_free() {
        return -libc::ENODEV;
    }
    charge(CALL);
    0
}

/// `rset_monitor_region`.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_monitor_region(
    name: *const c_char,
    address: *const c_void,
    bytes: usize,
    granule: usize,
    kinds: c_uint,
) -> c_int {
    if name.is_null() {
        return -libc::EINVAL;
    }
    // SAFETY: not null; the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    charge(CALL);
    with(|runtime| {
        let (start, bytes) = if address.is_null() {
            match runtime.spec.globals.iter().find(|global| global.name == name) {
                Some(global) => (global.address, global.bytes),
                None => return -libc::ENOENT,
            }
        } else {
            (address as u64, bytes as u64)
        };
        let kinds = match u16::try_from(kinds).ok().and_then(Kinds::from_bits) {
            Some(kinds) => kinds,
            None => return -libc::EINVAL,
        };
        if bytes == 0 || start.checked_add(bytes).is_none() || !granule.is_power_of_two() {
            return -libc::EINVAL;
        }
        let filter = FilterSpec {
            name,
            granularity: Granularity::Bytes(granule as u64),
            kinds: (!kinds.is_empty()).then_some(kinds),
            ..FilterSpec::new(Target::Range { start, bytes })
        };
        number(board(runtime).add(filter))
    })
}

/// `rset_monitor_start`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_start() -> c_int {
    switch(true)
}

/// `rset_monitor_stop`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_stop() -> c_int {
    switch(false)
}

fn switch(is_on: bool) -> c_int {
    charge(CALL);
    with(|runtime| board(runtime).switch(is_on));
    deliver();
    0
}

/// `rset_monitor_read`.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_monitor_read(
    region: c_int,
    address: *const c_void,
    node: c_int,
    count: *mut u64,
) -> c_int {
    if count.is_null() {
        return -libc::EINVAL;
    }
    charge(CALL);
    let read = with(|runtime| {
        if !is_region(runtime, region) {
            return None;
        }
        let node = u16::try_from(node).ok();
        let board = board(runtime);
        Some(if address.is_null() {
            let counts = board.counts(region as usize).into_iter();
            counts
                .filter(|count| node.is_none_or(|node| node == count.accessor))
                .map(|count| count.count)
                .sum()
        } else {
            board.value(region as usize, address as u64, node)
        })
    });
    deliver();
    match read {
        Some(read) => {
            // SAFETY: not null; the caller passes room for a number.
            unsafe { *count = read };
            0
        }
        None => -libc::EINVAL,
    }
}

/// `rset_monitor_clear`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_clear(region: c_int) -> c_int {
    charge(CALL);
    with(|runtime| {
        if !is_region(runtime, region) {
            return -libc::EINVAL;
        }
        board(runtime).clear(region as usize);
        0
    })
}

/// `rset_monitor_threshold`.
#[unsafe(no_mangle)]
extern "C" fn rset_monitor_threshold(
    region: c_int,
    count: u64,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    charge(CALL);
    with(|runtime| {
        if !is_region(runtime, region) {
            return -libc::EINVAL;
        }
        board(runtime).set_threshold(region as usize, (count > 0).then_some(count));
        match callback {
            Some(callback) => {
                runtime.callbacks.by_region.insert(region as u32, (callback, argument as usize));
                ANY_CALLBACK.store(true, Ordering::Relaxed);
            }
            None => _ = runtime.callbacks.by_region.remove(&(region as u32)),
        }
        0
    })
}

/// `rset_monitor_phase`.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_monitor_phase(name: *const c_char) -> c_int {
    if name.is_null() {
        return -libc::EINVAL;
    }
    // SAFETY: not null; the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    charge(CALL);
    with(|runtime| runtime.mark_phase(&name));
    0
}
