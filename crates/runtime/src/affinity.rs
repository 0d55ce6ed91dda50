//! What the program sees of processors: the simulated machine's.
//!
//! A thread that asks to be bound is told that it is and stays where the run's thread policy put it: placement is what
//! Olifant compares, and the program must not decide it unseen. Documented as a departure.

use crate::errno;
use crate::state::{is_free, with};
use crate::thread::number_of;

fn cpus() -> usize {
    if !is_free() {
        return 1;
    }
    with(|runtime| runtime.spec.machine.nodes.iter().map(|node| node.cpus.len()).sum())
}

/// Index of the node that the running thread's processor belongs to.
fn current_node() -> usize {
    with(|runtime| {
        let cpu = runtime.system.current_cpu();
        let mut first = 0;
        runtime.spec.machine.nodes.iter().position(|node| {
            let is_here = (first..first + node.cpus.len()).contains(&cpu);
            first += node.cpus.len();
            is_here
        })
    })
    .unwrap_or(0)
}

/// Fills a mask of `bytes` bytes with all cpus of the machine; the number of bytes that hold them, or an errno.
unsafe fn fill(bytes: usize, mask: *mut u8) -> Result<usize, i32> {
    let cpus = cpus();
    if bytes * 8 < cpus {
        return Err(libc::EINVAL);
    }
    // SAFETY: the caller passes a mask of this size, which holds the last cpu's bit.
    unsafe {
        mask.write_bytes(0, bytes);
        for cpu in 0..cpus {
            *mask.add(cpu / 8) |= 1 << (cpu % 8);
        }
    }
    Ok(cpus.div_ceil(64) * 8)
}

/// `sched_getaffinity`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(_process: i32, bytes: usize, mask: *mut u8) -> i32 {
    // SAFETY: the same contract.
    match unsafe { fill(bytes, mask) } {
        Ok(_) => 0,
        Err(error) => errno::fail(error),
    }
}

/// `pthread_getaffinity_np`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getaffinity_np(handle: u64, bytes: usize, mask: *mut u8) -> i32 {
    if number_of(handle).is_none() {
        return libc::ESRCH;
    }
    // SAFETY: the same contract.
    unsafe { fill(bytes, mask) }.err().unwrap_or(0)
}

/// Whether a mask names a cpu of the machine.
unsafe fn check(bytes: usize, mask: *const u8) -> i32 {
    // SAFETY: the caller passes a mask of this size.
    let names_one =
        (0..cpus().min(bytes * 8)).any(|cpu| unsafe { *mask.add(cpu / 8) } & (1 << (cpu % 8)) != 0);
    if names_one { 0 } else { libc::EINVAL }
}

/// `sched_setaffinity`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_setaffinity(_process: i32, bytes: usize, mask: *const u8) -> i32 {
    // SAFETY: the same contract.
    match unsafe { check(bytes, mask) } {
        0 => 0,
        error => errno::fail(error),
    }
}

/// `pthread_setaffinity_np`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setaffinity_np(handle: u64, bytes: usize, mask: *const u8) -> i32 {
    if number_of(handle).is_none() {
        return libc::ESRCH;
    }
    // SAFETY: the same contract.
    unsafe { check(bytes, mask) }
}

/// `sched_getcpu`.
#[unsafe(no_mangle)]
extern "C" fn sched_getcpu() -> i32 {
    with(|runtime| runtime.system.current_cpu() as i32)
}

/// `getcpu`.
#[unsafe(no_mangle)]
unsafe extern "C" fn getcpu(cpu: *mut u32, node: *mut u32) -> i32 {
    // SAFETY: the caller passes null or room for each.
    unsafe {
        if !cpu.is_null() {
            *cpu = sched_getcpu() as u32;
        }
        if !node.is_null() {
            *node = current_node() as u32;
        }
    }
    0
}

/// `sysconf`: processors of the simulated machine; the rest is the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: i32) -> i64 {
    match name {
        libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF => cpus() as i64,
        // SAFETY: the C library's function.
        _ => unsafe { crate::real::real!(c"sysconf" as fn(i32) -> i64)(name) },
    }
}

/// `get_nprocs`.
#[unsafe(no_mangle)]
extern "C" fn get_nprocs() -> i32 {
    cpus() as i32
}

/// `get_nprocs_conf`.
#[unsafe(no_mangle)]
extern "C" fn get_nprocs_conf() -> i32 {
    cpus() as i32
}
