//! The lab: a real Linux kernel booted in an emulated computer of any machine's topology, for trying and testing
//! placement where the host has one node.
//!
//! The guest sees the host's files: its root is the host's, read only, and the shared folder is writable. So every
//! program of the host runs in it as it is, found under the same path. [`run`] boots the guest (or continues a saved one,
//! see `states.rs`), runs one command with its input, output and signals passed through, and returns its exit code.
//! Inside the guest the same executable serves as the agent ([`agent`]). What the guest cannot be is stated by
//! [`Computer::of`].
//!
//! Left out: hot-plug of memory and processors, networks, and other processors than x86-64.

pub mod agent;
mod archive;
mod boot;
mod cache;
mod computer;
mod error;
mod files;
mod guest_root;
mod initramfs;
mod kernel;
mod monitor;
mod port;
mod protocol;
mod qemu;
mod run;
mod session;
mod signals;
mod states;
mod terminal;

pub use computer::Computer;
pub use error::LabError;
pub use qemu::Accelerator;
pub use run::{Ending, LabRun, run};
