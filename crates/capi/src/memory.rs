//! Memory: allocating, mapping, placing, moving, querying.

use crate::answer::{Answer, Failure, count, done, keep_text, object, system, text};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ops::{ControlFlow, Range};
use olifant_placement::{ResourceSet, SetPolicy};
use olifant_sys::{Errno, FileMapping, HugePages, Mapping, page_size};
use rset::{Cause, Error, Existing, Pace, Pid, PlaceOptions, Reach, ReadBack, RegionOptions};
use std::os::fd::FromRawFd as _;

const POPULATE: c_uint = 1;
const LOCK: c_uint = 2;
const HUGE_PAGES: c_uint = 4;
const BASE_PAGES: c_uint = 8;
const STAY: c_uint = 16;
const SHARED: c_uint = 32;

/// `struct rset_report`.
#[repr(C)]
struct Report {
    pages: u64,
    at_home: u64,
    elsewhere: u64,
    absent: u64,
    moved: u64,
    cause: i32,
    reserved: [i32; 7],
}

/// The number of `enum rset_cause`.
fn cause_number(cause: &Cause) -> i32 {
    match cause {
        Cause::CpusOutsideCpuset { .. } | Cause::NodesOutsideCpuset { .. } => 1,
        Cause::NotOnline { .. } => 2,
        Cause::Memoryless { .. } => 3,
        Cause::Seccomp => 4,
        Cause::NoFreePages { .. } | Cause::NoReservedHugePages { .. } => 5,
        Cause::HugePages { .. } => 6,
        Cause::Limit { .. } => 7,
        Cause::Busy => 8,
        Cause::Shared => 9,
        _ => 10,
    }
}

/// Tells C what was read back; with pages elsewhere the text says why.
///
/// # Safety
/// `place` is null or writable.
unsafe fn tell(found: &ReadBack, place: *mut Report) {
    if found.elsewhere > 0 {
        keep_text(&found.to_string());
    }
    if place.is_null() {
        return;
    }
    let main_cause = found.causes.iter().max_by_key(|(_, pages)| *pages);
    let report = Report {
        pages: found.pages,
        at_home: found.at_home,
        elsewhere: found.elsewhere,
        absent: found.absent,
        moved: found.moved,
        cause: main_cause.map_or(0, |(cause, _)| cause_number(cause)),
        reserved: [0; 7],
    };
    // SAFETY: not null, and the caller vouches that it is writable.
    unsafe { place.write(report) };
}

/// A policy's text.
///
/// # Safety
/// As [`text`].
pub unsafe fn policy(words: *const c_char) -> Answer<SetPolicy> {
    // SAFETY: the caller vouches.
    let words = unsafe { text(words, "policy") }?;
    words.parse().map_err(|error| Failure::new(Errno::EINVAL, format!("{error}")))
}

fn place_options(flags: c_uint) -> PlaceOptions {
    let reach = if flags & SHARED != 0 { Reach::Shared } else { Reach::Own };
    PlaceOptions {
        existing: if flags & STAY != 0 { Existing::Stay } else { Existing::Move(reach) },
        populate: flags & POPULATE != 0,
        lock: flags & LOCK != 0,
        pace: Pace::default(),
    }
}

fn range(address: *const c_void, bytes: usize) -> Answer<Range<usize>> {
    let start = address.addr();
    match start.checked_add(bytes) {
        Some(end) if !address.is_null() => Ok(start..end),
        _ => {
            Err(Failure::new(Errno::EINVAL, format!("{bytes} bytes at {start:#x} are no range of addresses")))
        }
    }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_allocate(
    set: *const ResourceSet,
    words: *const c_char,
    bytes: usize,
    flags: c_uint,
    address: *mut *mut c_void,
    report: *mut Report,
) -> c_int {
    let allocate = || {
        // SAFETY: the header's contract.
        let (set, policy) = unsafe { (object(set, "set")?, policy(words)?) };
        if address.is_null() {
            return Err(Failure::null("address"));
        }
        let options = RegionOptions {
            huge_pages: match flags & (HUGE_PAGES | BASE_PAGES) {
                HUGE_PAGES => HugePages::Transparent,
                BASE_PAGES => HugePages::Never,
                _ => HugePages::System,
            },
            populate: flags & POPULATE != 0,
            lock: flags & LOCK != 0,
            ..Default::default()
        };
        let (region, found) = system()?.allocate(bytes, set, &policy, &options)?;
        let (start, _) = region.into_mapping().into_parts();
        // SAFETY: not null, and writable by the header's contract; the report likewise or null.
        unsafe {
            address.write(start.as_ptr().cast());
            tell(&found, report);
        }
        Ok(())
    };
    done(allocate())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_map_file(
    file: c_int,
    offset: libc::off_t,
    bytes: usize,
    set: *const ResourceSet,
    words: *const c_char,
    flags: c_uint,
    address: *mut *mut c_void,
    report: *mut Report,
) -> c_int {
    let map = || {
        // SAFETY: the header's contract.
        let (set, policy) = unsafe { (object(set, "set")?, policy(words)?) };
        if address.is_null() {
            return Err(Failure::null("address"));
        }
        let offset = u64::try_from(offset).map_err(|_| Failure::new(Errno::EINVAL, "offset is negative"))?;
        if file < 0 {
            return Err(Failure::new(Errno::EBADF, format!("{file} is no open file")));
        }
        // SAFETY: the file is the caller's and stays open: it is only borrowed, never closed here.
        let borrowed = core::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(file) });
        let mapping = FileMapping::shared(&borrowed, offset, bytes)
            .map_err(|error| Failure::new(error.errno, error.to_string()))?;
        let found = system()?.place(mapping.range(), set, &policy, &place_options(flags))?;
        let (start, _) = mapping.into_parts();
        // SAFETY: not null, and writable by the header's contract; the report likewise or null.
        unsafe {
            address.write(start.as_ptr().cast());
            tell(&found, report);
        }
        Ok(())
    };
    done(map())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_release(address: *mut c_void, bytes: usize) -> c_int {
    let start = core::ptr::NonNull::new(address.cast::<u8>());
    let release = || {
        let start = start.ok_or_else(|| Failure::null("address"))?;
        if bytes == 0 || !start.as_ptr().addr().is_multiple_of(page_size()) {
            let problem = format!("{bytes} bytes at {start:?} are not a mapping of this library");
            return Err(Failure::new(Errno::EINVAL, problem));
        }
        // SAFETY: the header says that the range was mapped by this library, and is not used any more.
        drop(unsafe { Mapping::from_parts(start, bytes.next_multiple_of(page_size())) });
        Ok(())
    };
    done(release())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_place(
    address: *mut c_void,
    bytes: usize,
    set: *const ResourceSet,
    words: *const c_char,
    flags: c_uint,
    report: *mut Report,
) -> c_int {
    let place = || {
        // SAFETY: the header's contract.
        let (set, policy) = unsafe { (object(set, "set")?, policy(words)?) };
        let found = system()?.place(range(address, bytes)?, set, &policy, &place_options(flags))?;
        // SAFETY: the header's contract.
        unsafe { tell(&found, report) };
        Ok(())
    };
    done(place())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_move(
    process: libc::pid_t,
    address: *const c_void,
    bytes: usize,
    set: *const ResourceSet,
    words: *const c_char,
    batch: usize,
    flags: c_uint,
    report: *mut Report,
) -> c_int {
    let go = || {
        // SAFETY: the header's contract.
        let (set, policy) = unsafe { (object(set, "set")?, policy(words)?) };
        let system = system()?;
        let local = system.local_memory(&set.nodes)?;
        let spread = policy.spread(&set.nodes, &local).map_err(Error::from)?;
        let pages = if batch == 0 { Pace::default().pages } else { batch };
        let reach = if flags & SHARED != 0 { Reach::Shared } else { Reach::Own };
        let pace = Pace { pages, ..Pace::default() };
        let go_on = |_| ControlFlow::Continue(());
        let found = system.move_home(Pid(process), range(address, bytes)?, &spread, reach, pace, go_on)?;
        // SAFETY: the header's contract.
        unsafe { tell(&found, report) };
        Ok(())
    };
    done(go())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_query(
    process: libc::pid_t,
    address: *const c_void,
    bytes: usize,
    nodes: *mut c_int,
    room: usize,
) -> isize {
    let query = || {
        if nodes.is_null() && room > 0 {
            return Err(Failure::null("nodes"));
        }
        let found = system()?.nodes_of_pages(Pid(process), range(address, bytes)?)?;
        for (place, node) in found.iter().take(room).enumerate() {
            let number = node.map_or(-1, |node| c_int::from(node.0));
            // SAFETY: the header says that there is room for `room` numbers, and `place` is below.
            unsafe { nodes.add(place).write(number) };
        }
        Ok(found.len())
    };
    match query() {
        Ok(pages) => isize::try_from(pages).unwrap_or(isize::MAX),
        Err(failure) => count(Err(failure)) as isize,
    }
}
