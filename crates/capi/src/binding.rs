//! Binding threads and processes.

use crate::answer::{done, object, system};
use crate::sets::give_set;
use core::ffi::c_int;
use olifant_placement::ResourceSet;
use rset::{Pid, Tid};

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_bind_here(set: *const ResourceSet) -> c_int {
    // SAFETY: the header's contract.
    let set = unsafe { object(set, "set") };
    done(set.and_then(|set| Ok(system()?.bind_here(set).map(drop)?)))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_bind_thread(thread: libc::pid_t, set: *const ResourceSet) -> c_int {
    // SAFETY: the header's contract.
    let set = unsafe { object(set, "set") };
    done(set.and_then(|set| Ok(system()?.bind_thread(Tid(thread), set).map(drop)?)))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_bind_process(process: libc::pid_t, set: *const ResourceSet) -> c_int {
    // SAFETY: the header's contract.
    let set = unsafe { object(set, "set") };
    done(set.and_then(|set| Ok(system()?.bind_process(Pid(process), set).map(drop)?)))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_binding(thread: libc::pid_t, set: *mut *mut ResourceSet) -> c_int {
    let found = || {
        let system = system()?;
        let binding = match Tid(thread) {
            Tid::CALLING => system.binding_here()?,
            thread => system.binding(thread)?,
        };
        Ok(ResourceSet::new(binding.cpus, binding.nodes.unwrap_or_default()))
    };
    // SAFETY: the header's contract.
    unsafe { give_set(found(), set) }
}
