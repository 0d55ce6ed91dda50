//! The machine's levels, parts of sets, and distances.

use crate::answer::{Answer, Failure, count, done, give, object, system};
use crate::sets::give_set;
use core::ffi::{c_int, c_uint};
use olifant_machine::{CpuId, NodeId};
use olifant_placement::{Level, ResourceSet};
use olifant_sys::Errno;
use rset::Error;

/// The levels in the order of `enum rset_level`.
const LEVELS: [Level; 6] =
    [Level::System, Level::Node, Level::Package, Level::LastLevelCache, Level::Core, Level::Cpu];

fn sets(level: c_int) -> Answer<&'static [ResourceSet]> {
    let known = usize::try_from(level).ok().and_then(|level| LEVELS.get(level));
    let level = known.ok_or_else(|| Failure::new(Errno::EINVAL, format!("there is no level {level}")))?;
    match system()?.hierarchy().sets(level) {
        [] => Err(Failure::new(Errno::ENODEV, format!("this machine does not tell its {level}s"))),
        sets => Ok(sets),
    }
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_level_count(level: c_int) -> c_int {
    count(sets(level).map(<[ResourceSet]>::len))
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_level(level: c_int, index: c_uint, set: *mut *mut ResourceSet) -> c_int {
    let found = sets(level).and_then(|sets| {
        let found = usize::try_from(index).ok().and_then(|index| sets.get(index));
        let none = || Failure::new(Errno::ENODEV, format!("the level has {} sets, from 0", sets.len()));
        found.cloned().ok_or_else(none)
    });
    // SAFETY: the header's contract.
    unsafe { give_set(found, set) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_split(
    set: *const ResourceSet,
    parts: c_uint,
    results: *mut *mut ResourceSet,
) -> c_int {
    let split = || {
        // SAFETY: the header's contract.
        let set = unsafe { object(set, "set") }?;
        if results.is_null() {
            return Err(Failure::null("results"));
        }
        let made = system()?.hierarchy().split(set, parts as usize).map_err(Error::from)?;
        for (place, part) in made.into_iter().enumerate() {
            // SAFETY: the header says that there is room for `parts` pointers, which is how many were made.
            unsafe { give(part, results.add(place), "results") }?;
        }
        Ok(())
    };
    done(split())
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_one_cpu_per_core(set: *const ResourceSet, result: *mut *mut ResourceSet) -> c_int {
    // SAFETY: the header's contract.
    let set = unsafe { object(set, "set") };
    // SAFETY: the header's contract.
    unsafe { give_set(set.and_then(|set| Ok(system()?.hierarchy().one_cpu_per_core(set))), result) }
}

/// See `rset.h`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rset_near(node: c_uint, nodes: c_uint, result: *mut *mut ResourceSet) -> c_int {
    let near = node_id(node).and_then(|node| Ok(system()?.hierarchy().near(node, nodes as usize)));
    // SAFETY: the header's contract.
    unsafe { give_set(near, result) }
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_node_of_cpu(cpu: c_uint) -> c_int {
    let node = || {
        let known = u16::try_from(cpu).ok().map(CpuId);
        let node = known.and_then(|cpu| system().ok()?.hierarchy().node_of(cpu));
        node.ok_or_else(|| Failure::new(Errno::ENODEV, format!("this machine has no cpu {cpu}")))
    };
    count(node().map(NodeId::index))
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_distance(from: c_uint, to: c_uint) -> c_int {
    let distance = || {
        let distance = system()?.hierarchy().distance(node_id(from)?, node_id(to)?);
        Ok(distance.and_then(|distance| usize::try_from(distance).ok()).unwrap_or(usize::MAX))
    };
    count(distance())
}

/// A node that the machine has.
fn node_id(number: c_uint) -> Answer<NodeId> {
    let known = u16::try_from(number).ok().map(NodeId);
    let hierarchy = system()?.hierarchy();
    let known = known.filter(|&node| hierarchy.node(node).is_some());
    known.ok_or_else(|| Failure::new(Errno::ENODEV, format!("this machine has no node {number}")))
}
