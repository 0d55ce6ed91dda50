//! One event that the kernel watches.

use super::EventAttributes;
use crate::error::checked;
use crate::{SysError, Tid};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Numbers of ioctl(2) for events: `_IO('$', n)`.
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;
const SET_OUTPUT: libc::c_ulong = 0x2405;
/// `PERF_FLAG_FD_CLOEXEC`, Linux 3.14.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// An event that is watched until it is dropped.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// Begins to watch a thread, on one cpu or on all. The threads that come of it are watched too if the attributes say
    /// so; their records can only be read if a cpu was named.
    /// # Errors  `EACCES` or `EPERM`: /proc/sys/kernel/perf_event_paranoid, another user's process, or a seccomp filter;
    /// `ENOENT`: the processor or kernel has no such event; `ENOSPC`: no breakpoint is free; `ESRCH`: no such thread;
    /// `EMFILE`: too many files are open.
    pub fn open(attributes: &EventAttributes, thread: Tid, cpu: Option<u32>) -> Result<Event, SysError> {
        let on = cpu.map_or(-1, i64::from);
        // SAFETY: the kernel reads as many bytes of the attributes as they say that they have, and keeps nothing.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                core::ptr::from_ref(attributes),
                thread.0,
                on,
                -1,
                CLOSE_ON_EXEC,
            )
        };
        let object = || match cpu {
            Some(cpu) => format!("thread {thread} on cpu {cpu}"),
            None => format!("thread {thread}"),
        };
        let fd = checked(answer, "perf_event_open", object)?;
        let fd = RawFd::try_from(fd).unwrap_or(-1);
        // SAFETY: the kernel just gave this descriptor to nobody else.
        Ok(Event(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Begins to count.
    /// # Errors  [`SysError`], not in practice.
    pub fn enable(&self) -> Result<(), SysError> {
        self.control(ENABLE, 0)
    }

    /// Stops counting.
    /// # Errors  [`SysError`], not in practice.
    pub fn disable(&self) -> Result<(), SysError> {
        self.control(DISABLE, 0)
    }

    /// Writes this event's records into the ring of `other`, which watches the same cpu.
    /// # Errors  `EINVAL` if `other` watches another cpu.
    pub fn write_into(&self, other: &Event) -> Result<(), SysError> {
        self.control(SET_OUTPUT, libc::c_ulong::from(other.0.as_raw_fd().cast_unsigned()))
    }

    fn control(&self, request: libc::c_ulong, argument: libc::c_ulong) -> Result<(), SysError> {
        // SAFETY: these requests take a number, not memory, and the descriptor is open as long as `self` lives.
        let answer = unsafe { libc::ioctl(self.0.as_raw_fd(), request, argument) };
        checked(answer.into(), "ioctl", || "an event".to_owned()).map(drop)
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
