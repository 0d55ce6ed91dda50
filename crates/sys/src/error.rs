//! What a refused system call says: which call, on what, and the kernel's reason.

use core::fmt;

/// An error number of the kernel. Its text is `EINVAL (Invalid argument)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

/// A system call that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} on {object}: {errno}")]
pub struct SysError {
    /// The call, by the name of its manual page.
    pub call: &'static str,
    /// What it was to act on, for a person: `thread 12`, `16 pages at 0x7f..`.
    pub object: String,
    /// The kernel's reason.
    pub errno: Errno,
}

macro_rules! errnos {
    ($($(#[doc = $meaning:literal])* $name:ident),* $(,)?) => {
        impl Errno {
            $($(#[doc = $meaning])* pub const $name: Errno = Errno(libc::$name);)*

            /// The symbolic name, for the reasons that placement meets.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Errno::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

errnos! {
    /// Not permitted.
    EPERM,
    /// No such file, or a page that is not present.
    ENOENT,
    /// No such process or thread.
    ESRCH,
    /// Interrupted.
    EINTR,
    /// Input or output error; for pages, not all could be moved.
    EIO,
    /// Too big a list.
    E2BIG,
    /// Bad file descriptor.
    EBADF,
    /// No child, or the time is up.
    EAGAIN,
    /// No memory.
    ENOMEM,
    /// Access denied; for pages, shared with another process.
    EACCES,
    /// A bad address, or nothing mapped there.
    EFAULT,
    /// Busy.
    EBUSY,
    /// There already.
    EEXIST,
    /// No such device; for nodes, not online.
    ENODEV,
    /// A bad argument.
    EINVAL,
    /// Too many open files.
    EMFILE,
    /// No space; also what a cpuset without members answers.
    ENOSPC,
    /// The call does not exist in this kernel.
    ENOSYS,
    /// Not supported.
    EOPNOTSUPP,
}

impl Errno {
    /// The reason of the last failed call of this thread.
    pub(crate) fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = std::io::Error::from_raw_os_error(self.0).to_string();
        // The standard library adds "(os error 22)", which the name says better.
        let text = text.split(" (os error").next().unwrap_or(&text);
        match self.name() {
            Some(name) => write!(f, "{name} ({text})"),
            None => write!(f, "errno {} ({text})", self.0),
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl SysError {
    /// The error of the call that just failed in this thread.
    pub(crate) fn last(call: &'static str, object: impl Into<String>) -> SysError {
        SysError { call, object: object.into(), errno: Errno::last() }
    }
}

/// Turns a system call's answer into a result: -1 is the failure that `errno` tells.
pub(crate) fn checked(
    answer: libc::c_long,
    call: &'static str,
    object: impl FnOnce() -> String,
) -> Result<usize, SysError> {
    usize::try_from(answer).map_err(|_| SysError::last(call, object()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_call_object_and_reason() {
        let error = SysError { call: "mbind", object: "16 pages at 0x1000".into(), errno: Errno::EINVAL };
        assert_eq!(error.to_string(), "mbind on 16 pages at 0x1000: EINVAL (Invalid argument)");
    }
}
