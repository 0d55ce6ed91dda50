//! What a refused or partial placement says: what was to be done, and the cause by its name.

use crate::registry::RegistryError;
use core::fmt;
use olifant_host::HostError;
use olifant_machine::{CpuSet, NodeSet};
use olifant_placement::{PolicyMisfit, ResourceSet, SetTextError, TooManyParts};
use olifant_sys::{Errno, ReadError, SysError};
use std::path::PathBuf;

/// The result of this crate's calls.
pub type Result<T> = core::result::Result<T, Error>;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine could not be found.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A file of /proc could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A text is not a set.
    #[error(transparent)]
    Text(#[from] SetTextError),
    /// A named set could not be read or written.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The policy does not fit the set.
    #[error(transparent)]
    Policy(#[from] PolicyMisfit),
    /// The set cannot be cut so.
    #[error(transparent)]
    Parts(#[from] TooManyParts),
    /// The system refused; nothing was changed unless the action says otherwise.
    #[error("{action}: {cause}")]
    Refused {
        /// What was to be done: `bind memory to nodes 0-1`.
        action: String,
        /// Why it could not be.
        cause: Cause,
    },
}

/// Why the kernel refuses, or why a page is not where it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Cpus outside the cpuset.
    CpusOutsideCpuset {
        /// Those that are not allowed.
        outside: CpuSet,
        /// Those that are.
        allowed: CpuSet,
        /// The file that says so, where it is to be seen.
        file: Option<PathBuf>,
    },
    /// Nodes outside the cpuset.
    NodesOutsideCpuset {
        /// Those that are not allowed.
        outside: NodeSet,
        /// Those that are.
        allowed: NodeSet,
        /// The file that says so, where it is to be seen.
        file: Option<PathBuf>,
    },
    /// Cpus or nodes that the machine does not have, or that are offline.
    NotOnline {
        /// What is not there.
        absent: ResourceSet,
        /// What is.
        online: ResourceSet,
    },
    /// Nodes without memory.
    Memoryless {
        /// Those nodes.
        nodes: NodeSet,
        /// The nearest with memory.
        nearest: NodeSet,
    },
    /// A seccomp filter, as containers have it.
    Seccomp,
    /// The nodes have no free pages.
    NoFreePages {
        /// Which nodes.
        nodes: NodeSet,
        /// What could be had there when it was looked at, in bytes.
        free_bytes: u64,
    },
    /// The page is part of a larger one, which is on one node as a whole.
    HugePages {
        /// Size of the larger pages in bytes.
        page_bytes: u64,
    },
    /// The pool of reserved huge pages is empty.
    NoReservedHugePages {
        /// Their size in bytes.
        page_bytes: u64,
    },
    /// A limit of the process.
    Limit {
        /// Which, with how it is raised: `address space (ulimit -v)`.
        what: &'static str,
    },
    /// The process or thread belongs to somebody else.
    NotOurs,
    /// The process or thread is gone.
    Gone,
    /// The page is in use this moment; trying again may work.
    Busy,
    /// Other processes map the page too, and only own pages were to move.
    Shared,
    /// The set is empty where something is needed.
    Empty {
        /// What is needed: `cpus`, `memory`.
        needs: &'static str,
    },
    /// The kernel lacks it.
    Unsupported {
        /// What is missing.
        what: &'static str,
        /// What would have it.
        needs: &'static str,
    },
    /// An argument is impossible.
    Invalid {
        /// What is wrong with it.
        problem: String,
    },
    /// The kernel moved pages since they were placed, or another cause that it does not tell.
    Unknown,
    /// Another reason of the kernel.
    Kernel(SysError),
}

impl Cause {
    /// The error number that stands for the cause where only a number fits.
    pub fn errno(&self) -> Errno {
        match self {
            Cause::CpusOutsideCpuset { .. } | Cause::NodesOutsideCpuset { .. } | Cause::Shared => {
                Errno::EACCES
            }
            Cause::NotOnline { .. } => Errno::ENODEV,
            Cause::Memoryless { .. }
            | Cause::NoFreePages { .. }
            | Cause::NoReservedHugePages { .. }
            | Cause::Limit { .. } => Errno::ENOMEM,
            Cause::Seccomp | Cause::NotOurs => Errno::EPERM,
            Cause::Gone => Errno::ESRCH,
            Cause::Busy | Cause::HugePages { .. } => Errno::EBUSY,
            Cause::Empty { .. } | Cause::Invalid { .. } => Errno::EINVAL,
            Cause::Unsupported { .. } => Errno::ENOSYS,
            Cause::Unknown => Errno::EIO,
            Cause::Kernel(error) => error.errno,
        }
    }
}

impl Error {
    /// The error that `action` was refused for `cause`.
    pub(crate) fn refused(action: impl Into<String>, cause: Cause) -> Error {
        Error::Refused { action: action.into(), cause }
    }

    /// The error that an argument of `action` is impossible.
    pub(crate) fn invalid(action: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::refused(action, Cause::Invalid { problem: problem.into() })
    }

    /// The cause, where the system refused.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Error::Refused { cause, .. } => Some(cause),
            _ => None,
        }
    }

    /// The error number that stands for the error where only a number fits.
    pub fn errno(&self) -> Errno {
        match self {
            Error::Host(_) => Errno::EIO,
            Error::Read(error) if error.is_gone() => Errno::ESRCH,
            Error::Read(_) => Errno::EIO,
            Error::Text(_) | Error::Policy(_) | Error::Parts(_) => Errno::EINVAL,
            Error::Registry(error) => error.errno(),
            Error::Refused { cause, .. } => cause.errno(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = |f: &mut fmt::Formatter<'_>, file: &Option<PathBuf>| match file {
            Some(file) => write!(f, ", by {})", file.display()),
            None => f.write_str(")"),
        };
        match self {
            Cause::CpusOutsideCpuset { outside, allowed, file } => {
                write!(f, "{} not in cpuset.cpus (allowed: {allowed}", are("cpu", outside.len(), outside))?;
                from(f, file)
            }
            Cause::NodesOutsideCpuset { outside, allowed, file } => {
                write!(f, "{} not in cpuset.mems (allowed: {allowed}", are("node", outside.len(), outside))?;
                from(f, file)
            }
            Cause::NotOnline { absent, online } => {
                write!(f, "{absent} is not online on this machine, which has {online}")
            }
            Cause::Memoryless { nodes, nearest } => {
                let has = if nodes.len() == 1 { "node {} has" } else { "nodes {} have" };
                write!(
                    f,
                    "{} no memory; nearest with memory: {nearest}",
                    has.replace("{}", &nodes.to_string())
                )
            }
            Cause::Seccomp => f.write_str(
                "a seccomp filter refuses memory-policy calls, as the default of containers does; \
                 start the container with the capability SYS_NICE or without the filter",
            ),
            Cause::NoFreePages { nodes, free_bytes } => {
                write!(f, "not enough free pages on node {nodes} ({} MiB can be had)", free_bytes >> 20)
            }
            Cause::HugePages { page_bytes } => write!(
                f,
                "they are parts of huge pages of {} KiB, which are on one node as a whole; \
                 use base pages, or stripes of whole huge pages",
                page_bytes >> 10
            ),
            Cause::NoReservedHugePages { page_bytes } => write!(
                f,
                "no reserved huge pages of {0} KiB are free; see /sys/kernel/mm/hugepages/hugepages-{0}kB",
                page_bytes >> 10
            ),
            Cause::Limit { what } => write!(f, "the limit of {what} is reached; raise it"),
            Cause::NotOurs => {
                f.write_str("it belongs to another user; do it as that user or with the capability SYS_NICE")
            }
            Cause::Gone => f.write_str("it is gone"),
            Cause::Busy => f.write_str("the kernel or a device uses them this moment; try again"),
            Cause::Shared => f.write_str("other processes map them too; ask for shared pages to be moved"),
            Cause::Empty { needs } => write!(f, "the set has no {needs}"),
            Cause::Unsupported { what, needs } => write!(f, "{what} is missing here; needs {needs}"),
            Cause::Invalid { problem } => f.write_str(problem),
            Cause::Unknown => f.write_str("the kernel does not say why"),
            Cause::Kernel(error) => error.fmt(f),
        }
    }
}

fn are(noun: &str, count: usize, set: &impl fmt::Display) -> String {
    if count == 1 { format!("{noun} {set} is") } else { format!("{noun}s {set} are") }
}
