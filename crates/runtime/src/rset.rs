//! `rset_replicate` on the simulated machine: a copy of read-only data for each node that asks.
//!
//! The copy is made by the first thread of a node that asks, and its reads and writes are simulated like those of any
//! copy loop. Copies live as long as the program.

use crate::access::{READ, WRITE, range};
use crate::heap;
use crate::state::with;
use core::ffi::{c_int, c_void};

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
