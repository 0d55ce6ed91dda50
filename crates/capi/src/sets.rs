//! Sets: making, combining, asking, printing, members.

use crate::answer::{Answer, Failure, count, done, end, give, object, system, text};
use core::ffi::{c_char, c_int, c_uint};
use olifant_machine::{CpuId, IdSet, NodeId, SetMember};
use olifant_placement::ResourceSet;
use olifant_sys::Errno;

type Set = ResourceSet;

/// Gives a set to C.
///
/// # Safety
/// As [`give`].
pub unsafe fn give_set(set: Answer<Set>, place: *mut *mut Set) -> c_int {
    // SAFETY: the caller vouches.
    done(set.and_then(|set| unsafe { give(set, place, "set") }))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_new(set: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { give_set(Ok(Set::empty()), set) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_copy(from: *const Set, set: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { give_set(object(from, "from").cloned(), set) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_free(set: *mut Set) {
    // SAFETY: the header's contract.
    unsafe { end(set) };
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_parse(words: *const c_char, set: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    let parsed = unsafe { text(words, "text") }.and_then(|words| Ok(system()?.parse(words)?));
    // SAFETY: the header's contract.
    unsafe { give_set(parsed, set) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_print(set: *const Set, words: *mut c_char, size: usize) -> c_int {
    // SAFETY: the header's contract.
    let printed = unsafe { object(set, "set") }.and_then(|set| {
        let printed = set.to_string();
        if size == 0 {
            return Ok(printed.len());
        }
        if words.is_null() {
            return Err(Failure::null("text"));
        }
        let written = printed.len().min(size - 1);
        // SAFETY: the header says that `size` bytes can be written there, and `written` is less.
        unsafe {
            core::ptr::copy_nonoverlapping(printed.as_ptr(), words.cast(), written);
            words.add(written).write(0);
        }
        Ok(printed.len())
    });
    count(printed)
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_system(set: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { give_set(system().map(|system| system.hierarchy().system().clone()), set) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_allowed(set: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { give_set(system().and_then(|system| Ok(system.allowed()?)), set) }
}

/// A new set of two.
///
/// # Safety
/// As the header says.
unsafe fn combined(a: *const Set, b: *const Set, result: *mut *mut Set, by: fn(&Set, &Set) -> Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { give_set(object(a, "a").and_then(|a| Ok(by(a, object(b, "b")?))), result) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_union(a: *const Set, b: *const Set, result: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { combined(a, b, result, Set::union) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_intersection(a: *const Set, b: *const Set, result: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { combined(a, b, result, Set::intersection) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_difference(a: *const Set, b: *const Set, result: *mut *mut Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { combined(a, b, result, Set::difference) }
}

/// A question about two sets.
///
/// # Safety
/// As the header says.
unsafe fn asked(a: *const Set, b: *const Set, by: fn(&Set, &Set) -> bool) -> c_int {
    // SAFETY: the header's contract.
    count(unsafe { object(a, "set").and_then(|a| Ok(usize::from(by(a, object(b, "set")?)))) })
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_is_empty(set: *const Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { asked(set, set, |set, _| set.is_empty()) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_is_equal(a: *const Set, b: *const Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { asked(a, b, Set::eq) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_is_subset(part: *const Set, whole: *const Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { asked(part, whole, Set::is_subset) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_is_disjoint(a: *const Set, b: *const Set) -> c_int {
    // SAFETY: the header's contract.
    unsafe { asked(a, b, Set::is_disjoint) }
}

/// A member of one kind, from C's number.
fn member<M: SetMember>(number: c_uint) -> Answer<M> {
    let number = u16::try_from(number);
    number
        .map(M::from_number)
        .map_err(|_| Failure::new(Errno::EINVAL, format!("a {} is a number below 65536", M::NOUN)))
}

fn next<M: SetMember>(set: &IdSet<M>, after: c_int) -> Answer<usize> {
    let above = set.iter().find(|member| c_int::from(member.number()) > after);
    let none = || Failure::new(Errno::ENOENT, format!("the set has no {} above {after}", M::NOUN));
    above.map(|member| member.number().into()).ok_or_else(none)
}

macro_rules! members {
    ($kind:ty, $field:ident, $count:ident, $has:ident, $add:ident, $remove:ident, $next:ident) => {
        /// See `rset.h`.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $count(set: *const Set) -> c_int {
            // SAFETY: the header's contract.
            count(unsafe { object(set, "set") }.map(|set| set.$field.len()))
        }

        /// See `rset.h`.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $has(set: *const Set, number: c_uint) -> c_int {
            // SAFETY: the header's contract.
            let set = unsafe { object(set, "set") };
            count(set.and_then(|set| Ok(usize::from(set.$field.contains(member::<$kind>(number)?)))))
        }

        /// See `rset.h`.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $add(set: *mut Set, number: c_uint) -> c_int {
            // SAFETY: the header's contract: nobody else uses the set meanwhile.
            let set = unsafe { set.as_mut() }.ok_or_else(|| Failure::null("set"));
            count(set.and_then(|set| Ok(usize::from(set.$field.insert(member::<$kind>(number)?)))))
        }

        /// See `rset.h`.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $remove(set: *mut Set, number: c_uint) -> c_int {
            // SAFETY: the header's contract: nobody else uses the set meanwhile.
            let set = unsafe { set.as_mut() }.ok_or_else(|| Failure::null("set"));
            count(set.and_then(|set| Ok(usize::from(set.$field.remove(member::<$kind>(number)?)))))
        }

        /// See `rset.h`.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $next(set: *const Set, after: c_int) -> c_int {
            // SAFETY: the header's contract.
            count(unsafe { object(set, "set") }.and_then(|set| next(&set.$field, after)))
        }
    };
}

members!(CpuId, cpus, rset_cpu_count, rset_has_cpu, rset_add_cpu, rset_remove_cpu, rset_next_cpu);
members!(NodeId, nodes, rset_node_count, rset_has_node, rset_add_node, rset_remove_node, rset_next_node);
