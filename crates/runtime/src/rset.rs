//! `rset_replicate` and `rset_move` on the simulated machine: a copy of read-only data for each node that asks, and pages that
//! move to another node.
//!
//! The copy is made by the first thread of a node that asks, and its reads and writes are simulated like those of any
//! copy loop. Copies live as long as the program. A move copies likewise, and costs a call and the loss of every cached line.

use crate::access::{READ, WRITE, range};
use crate::heap;
use crate::state::with;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use olifant_machine::NodeId;
use olifant_placement::MemoryPolicy;
use olifant_sim::Placement;

/// Instructions that a copy loop takes per 8 bytes are counted by `range`; this is the call itself.
const CALL: u64 = 50;

/// Gives the calling thread the address of its own node's copy of `bytes` bytes at `source`. See `rset.h`.
///
/// # Safety
/// `source` has `bytes` readable bytes that nobody writes any more; `copy` is null or writable.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_replicate(source: *const c_void, bytes: usize, copy: *mut *const c_void) -> c_int {
    if source.is_null() || bytes == 0 || copy.is_null() {
        return -libc::EINVAL;
    }
    let (address, is_new) = with(|runtime| {
        runtime.system.charge(CALL);
        let node = runtime.system.engine().node_of(runtime.system.current_cpu());
        let key = (source as usize, bytes, node);
        if let Some(&known) = runtime.replicas.get(&key) {
            return (known, false);
        }
        let address = heap::allocate_on_node(runtime, bytes, node);
        if address != 0 {
            runtime.replicas.insert(key, address);
        }
        (address, true)
    });
    if address == 0 {
        return -libc::ENOMEM;
    }
    if is_new {
        // SAFETY: the caller vouches for the source; the copy was just allocated with that size.
        unsafe { core::ptr::copy_nonoverlapping(source.cast::<u8>(), address as *mut u8, bytes) };
        range(source as u64, bytes as u64, READ);
        range(address as u64, bytes as u64, WRITE);
    }
    // SAFETY: checked for null above; the caller vouches for the rest.
    unsafe { *copy = address as *const c_void };
    0
}

/// Instructions of a system call that moves pages, beside the copying.
const MOVE: u64 = 2000;

/// Where pages are, in the layout of `rset.h`.
#[repr(C)]
pub struct Report {
    pages: u64,
    at_home: u64,
    elsewhere: u64,
    absent: u64,
    moved: u64,
    cause: i32,
    reserved: [i32; 7],
}

/// Moves the pages of this process that lie in a range to one node: policy `local` (the calling thread's) or `node:N`; there are no
/// sets here, so `set` is null. See `rset.h`.
///
/// # Safety
/// `policy` is a C string; the range is readable and writable memory of the program; `report` is null or writable.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_move(
    process: libc::pid_t,
    address: *const c_void,
    bytes: usize,
    set: *const c_void,
    policy: *const c_char,
    _batch: usize,
    _flags: c_uint,
    report: *mut Report,
) -> c_int {
    if address.is_null() || bytes == 0 || policy.is_null() || !set.is_null() {
        return -libc::EINVAL;
    }
    if process != 0 && process != crate::sys::process_id() {
        return -libc::ESRCH;
    }
    // SAFETY: not null; the caller passes a C string.
    let policy = unsafe { CStr::from_ptr(policy) }.to_str().ok().and_then(|text| text.parse().ok());
    let (pages, page_bytes, node) = with(|runtime| {
        runtime.system.charge(MOVE);
        let engine = runtime.system.engine();
        let page_bytes = runtime.spec.machine.os.page.0;
        let node = match policy {
            Some(MemoryPolicy::Local) => Some(engine.node_of(runtime.system.current_cpu())),
            Some(MemoryPolicy::Node(NodeId(node))) if usize::from(node) < engine.nodes() => Some(node),
            _ => None,
        };
        let first = address as u64 / page_bytes;
        (first..(address as u64 + bytes as u64).div_ceil(page_bytes), page_bytes, node)
    });
    let Some(node) = node else { return -libc::EINVAL };
    let mut moved =
        Report { pages: 0, at_home: 0, elsewhere: 0, absent: 0, moved: 0, cause: 0, reserved: [0; 7] };
    for page in pages {
        let start = page * page_bytes;
        moved.pages += 1;
        let home = with(|runtime| runtime.system.engine().pages().lookup(start).map(|found| found.home()));
        if home.is_some_and(|home| home != node) {
            range(start, page_bytes, READ);
            with(|runtime| {
                runtime.system.unmap(start, page_bytes);
                runtime.system.map(start, page_bytes, Placement::Policy(MemoryPolicy::Node(NodeId(node))));
            });
            range(start, page_bytes, WRITE);
            moved.moved += 1;
        }
        match home {
            Some(_) => moved.at_home += 1,
            None => moved.absent += 1,
        }
    }
    if !report.is_null() {
        // SAFETY: not null, and writable as the caller promises.
        unsafe { *report = moved };
    }
    0
}
