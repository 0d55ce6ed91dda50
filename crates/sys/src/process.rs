//! Names of processes and threads as the kernel counts them.

/// A process. Zero stands for the calling one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub i32);

/// A thread. Zero stands for the calling one; a process id names the process's first thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid(pub i32);

impl Pid {
    /// The calling process, in calls that take a process.
    pub const CALLING: Pid = Pid(0);

    /// The calling process by its number. Source: getpid(2).
    pub fn own() -> Pid {
        Pid(std::process::id().cast_signed())
    }

    /// Whether this is the calling process, by number or as zero.
    pub fn is_calling(self) -> bool {
        self == Pid::CALLING || self == Pid::own()
    }
}

impl Tid {
    /// The calling thread, in calls that take a thread.
    pub const CALLING: Tid = Tid(0);

    /// The calling thread by its number. Source: gettid(2), Linux 2.4.11.
    pub fn own() -> Tid {
        // SAFETY: gettid takes nothing and cannot fail.
        let number = unsafe { libc::syscall(libc::SYS_gettid) };
        Tid(i32::try_from(number).unwrap_or(0))
    }
}

impl core::fmt::Display for Pid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl core::fmt::Display for Tid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.0)
    }
}
