//! Which cpus a thread may run on.
//!
//! Source: sched_setaffinity(2), Linux 2.5.8; getcpu(2), Linux 2.6.19. The kernel cuts what it is asked to what the
//! thread's cpuset allows, without a word, so callers read back.

use crate::bits::{ALL_WORDS, row};
use crate::error::checked;
use crate::{SysError, Tid};
use olifant_machine::{CpuId, CpuSet, NodeId};

unsafe extern "C" {
    /// The C library's, since glibc 2.29; the `libc` crate does not declare it.
    fn getcpu(cpu: *mut u32, node: *mut u32) -> i32;
}

/// The cpus that `thread` may run on.
/// # Errors  `ESRCH` if there is no such thread.
pub fn affinity(thread: Tid) -> Result<CpuSet, SysError> {
    let mut words = vec![0_u64; ALL_WORDS];
    // SAFETY: the kernel writes at most the given number of bytes, which is the size of `words`.
    let answer = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, thread.0, ALL_WORDS * size_of::<u64>(), words.as_mut_ptr())
    };
    let written = checked(answer, "sched_getaffinity", || object(thread))?;
    words.truncate(written / size_of::<u64>());
    Ok(CpuSet::from_words(words))
}

/// Lets `thread` run on `cpus` only; what of them its cpuset forbids is left out silently.
/// # Errors  `EINVAL` if none of `cpus` is both online and allowed; `ESRCH`, `EPERM` for threads of others.
pub fn set_affinity(thread: Tid, cpus: &CpuSet) -> Result<(), SysError> {
    let words = row(cpus);
    // SAFETY: the kernel reads the given number of bytes, which is the size of `words`.
    let answer = unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, thread.0, size_of_val(words.as_slice()), words.as_ptr())
    };
    checked(answer, "sched_setaffinity", || format!("{} with cpus {cpus}", object(thread)))?;
    Ok(())
}

/// The cpu that the calling thread runs on, and its node; both may be past as soon as they are told.
/// # Errors  Only where the kernel has no such call.
pub fn current_cpu_and_node() -> Result<(CpuId, NodeId), SysError> {
    let (mut cpu, mut node) = (0_u32, 0_u32);
    // SAFETY: getcpu writes the two numbers that it is given; the C library answers without entering the kernel.
    let answer = unsafe { getcpu(&raw mut cpu, &raw mut node) };
    checked(answer.into(), "getcpu", || "the calling thread".to_owned())?;
    let id = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    Ok((CpuId(id(cpu)), NodeId(id(node))))
}

fn object(thread: Tid) -> String {
    match thread {
        Tid::CALLING => "the calling thread".to_owned(),
        Tid(number) => format!("thread {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Errno;

    #[test]
    fn what_was_set_is_read_back() {
        std::thread::spawn(|| {
            let all = affinity(Tid::CALLING).unwrap();
            let first = all.first().unwrap();
            let one: CpuSet = [first].into_iter().collect();
            set_affinity(Tid::CALLING, &one).unwrap();
            assert_eq!(affinity(Tid::CALLING).unwrap(), one);
            assert_eq!(affinity(Tid::own()).unwrap(), one);
            assert_eq!(current_cpu_and_node().unwrap().0, first);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn cpus_that_do_not_exist_are_refused() {
        let none: CpuSet = [CpuId(65_535)].into_iter().collect();
        let error = set_affinity(Tid::CALLING, &none).unwrap_err();
        assert_eq!(error.errno, Errno::EINVAL);
        assert_eq!(
            error.to_string(),
            "sched_setaffinity on the calling thread with cpus 65535: EINVAL (Invalid argument)"
        );
        assert_eq!(affinity(Tid(i32::MAX)).unwrap_err().errno, Errno::ESRCH);
    }
}
