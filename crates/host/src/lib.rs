//! The running machine: what sysfs and procfs tell of it, read under a root handle.
//!
//! [`find_structure`] reads nodes, cpus, memory, caches and distances; [`find_machine`] adds the timings of a
//! present-day computer, assumed; [`find_hierarchy`] reads packages, shared caches and cores; [`device_nodes`] the nodes
//! of devices. Everything is read below a [`Root`], so a captured tree of another machine gives that machine. Left out:
//! what part of it this process may use, and changes while a program runs.

mod caches;
mod device;
mod find;
mod hierarchy;
mod processor;
mod root;

pub use device::{DeviceError, device_nodes};
pub use find::{find_machine, find_structure};
pub use hierarchy::find_hierarchy;
pub use olifant_sys::Root;
pub use root::HostError;
