//! Replicated data: the one-call form for data that never changes again, and versions.

use crate::answer::{Answer, Failure, done, end, give, object, system};
use core::ffi::{c_int, c_void};
use olifant_machine::{CpuSet, NodeId};
use olifant_placement::{ResourceSet, SetPolicy};
use olifant_sys::Errno;
use rset::{Error, Reading, Region, RegionOptions, Replicated};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Copies by source, size and node.
type Copies = HashMap<(usize, usize, NodeId), Region>;

/// All copies; they live as long as the process, as their readers may.
static COPIES: Mutex<Option<Copies>> = Mutex::new(None);

/// The bytes that C shows.
///
/// # Safety
/// `source` is null or has `bytes` readable bytes that nobody writes for `'a`.
unsafe fn data<'a>(source: *const c_void, bytes: usize) -> Answer<&'a [u8]> {
    if source.is_null() || bytes == 0 {
        return Err(Failure::new(Errno::EINVAL, "there is no data: source is NULL or bytes is 0"));
    }
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { core::slice::from_raw_parts(source.cast(), bytes) })
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_replicate(source: *const c_void, bytes: usize, copy: *mut *const c_void) -> c_int {
    let replicate = || {
        // SAFETY: the header's contract.
        let data = unsafe { data(source, bytes) }?;
        if copy.is_null() {
            return Err(Failure::null("copy_of_calling_node"));
        }
        let system = system()?;
        let memory = &system.hierarchy().system().nodes;
        let nearest = system.local_memory(memory)?.first();
        let address = match nearest {
            Some(node) if memory.len() > 1 => copy_on(data, node)?,
            _ => source,
        };
        // SAFETY: not null, and writable by the header's contract.
        unsafe { copy.write(address) };
        Ok(())
    };
    done(replicate())
}

/// The address of a node's copy, made if it is the first of this data.
fn copy_on(data: &[u8], node: NodeId) -> Answer<*const c_void> {
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    let copies = copies.get_or_insert_default();
    let key = (data.as_ptr().addr(), data.len(), node);
    if let Some(region) = copies.get(&key) {
        return Ok(region.as_ptr().cast_const().cast());
    }
    let set = ResourceSet::new(CpuSet::new(), [node].into_iter().collect());
    let options = RegionOptions { populate: true, ..Default::default() };
    let (mut region, found) = system()?.allocate(data.len(), &set, &SetPolicy::Node(node), &options)?;
    if let Some((cause, _)) = found.causes.into_iter().next() {
        return Err(Error::Refused { action: format!("copy data to node {node}"), cause }.into());
    }
    region.as_mut_slice()[..data.len()].copy_from_slice(data);
    let address = region.as_ptr().cast_const().cast();
    copies.insert(key, region);
    Ok(address)
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_replica_new(
    set: *const ResourceSet,
    source: *const c_void,
    bytes: usize,
    replica: *mut *mut Replicated,
) -> c_int {
    // SAFETY: the header's contract.
    let (set, data) = unsafe { (object(set, "set"), data(source, bytes)) };
    let made = set.and_then(|set| Ok(Replicated::new(system()?, set, data?)?));
    // SAFETY: the header's contract.
    done(made.and_then(|made| unsafe { give(made, replica, "replica") }))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_replica_read(
    replica: *const Replicated,
    reading: *mut *mut Reading,
    data: *mut *const c_void,
    bytes: *mut usize,
    version: *mut u64,
) -> c_int {
    let read = || {
        // SAFETY: the header's contract.
        let found = unsafe { object(replica, "replica") }?.read()?;
        let (start, length, number) = (found.as_ptr(), found.len(), found.version());
        // SAFETY: the header's contract: each place is null or writable.
        unsafe {
            give(found, reading, "reading")?;
            if !data.is_null() {
                data.write(start.cast());
            }
            if !bytes.is_null() {
                bytes.write(length);
            }
            if !version.is_null() {
                version.write(number);
            }
        }
        Ok(())
    };
    done(read())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_reading_end(reading: *mut Reading) {
    // SAFETY: the header's contract.
    unsafe { end(reading) };
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_replica_publish(
    replica: *const Replicated,
    source: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's contract.
    let (replica, data) = unsafe { (object(replica, "replica"), data(source, bytes)) };
    done(replica.and_then(|replica| Ok(replica.publish(data?).map(drop)?)))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_replica_free(replica: *mut Replicated) {
    // SAFETY: the header's contract.
    unsafe { end(replica) };
}
