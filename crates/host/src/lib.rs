//! The running machine: what sysfs and procfs tell of it, read under a root handle.
//!
//! [`find_structure`] reads nodes, cpus, memory, caches and distances; [`find_machine`] adds the timings of a
//! present-day computer, assumed. Everything is read below a [`Root`], so a captured tree of another machine gives that
//! machine. Left out: what part of it this process may use, and changes while a program runs.

mod caches;
mod find;
mod processor;
mod root;

pub use find::{find_machine, find_structure};
pub use root::{HostError, Root};
