//! Named sets.

use crate::answer::{Answer, Failure, done, object, system, text};
use crate::sets::give_set;
use core::ffi::{c_char, c_int};
use olifant_placement::ResourceSet;
use olifant_sys::Errno;
use rset::Error;
use rset::registry::Scope;

fn scope(number: c_int) -> Answer<Scope> {
    match number {
        0 => Ok(Scope::User),
        1 => Ok(Scope::System),
        _ => Err(Failure::new(Errno::EINVAL, format!("there is no scope {number}"))),
    }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_lookup(name: *const c_char, set: *mut *mut ResourceSet) -> c_int {
    // SAFETY: the header's contract.
    let name = unsafe { text(name, "name") };
    let found = name.and_then(|name| Ok(system()?.registry().get(name).map_err(Error::from)?.set));
    // SAFETY: the header's contract.
    unsafe { give_set(found, set) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_register(
    name: *const c_char,
    set: *const ResourceSet,
    whose: c_int,
    mode: libc::mode_t,
    replaces: c_int,
) -> c_int {
    // SAFETY: the header's contract.
    let (name, set) = unsafe { (text(name, "name"), object(set, "set")) };
    let put = || {
        let registry = system()?.registry();
        registry.put(name?, set?, scope(whose)?, mode, replaces != 0).map_err(Error::from)?;
        Ok(())
    };
    done(put())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_unregister(name: *const c_char, whose: c_int) -> c_int {
    // SAFETY: the header's contract.
    let name = unsafe { text(name, "name") };
    let remove = || Ok(system()?.registry().remove(name?, scope(whose)?).map_err(Error::from)?);
    done(remove())
}
