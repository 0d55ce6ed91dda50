//! Resource sets on a running Linux machine: find what there is, bind threads and processes, place memory, and read
//! back what came of it.
//!
//! The papers' RSet interface (Brock et al., Windows NT in a ccNUMA System, 1999, section 4) for today's kernels. A
//! [`ResourceSet`] is plain data from the placement vocabulary; here it meets a [`System`]. Three rules hold throughout:
//!
//! - Nothing is half applied in silence: a call that cannot do all of what it was asked says so, with the [`Cause`], and
//!   leaves threads as they were. Pages are different, as some may stay: a [`ReadBack`] counts where every page is.
//! - What is reported was read back from the kernel, not assumed from a call that returned 0.
//! - Nothing needs root: what a container, a cpuset or a limit forbids is named.
//!
//! The order of reading: `system`, `error`, `bind`, `place`, `moving`, then what is built on them: `region`, `heap`, `replica`,
//! `team`. Named sets are in `registry`.

mod bind;
mod diagnose;
mod error;
mod heap;
mod moving;
mod place;
mod process_memory;
mod read_back;
mod region;
pub mod registry;
mod replica;
mod system;
mod team;

pub use bind::{Binding, ProcessBinding};
pub use error::{Cause, Error, Result};
pub use heap::{Growing, Heap};
pub use moving::{Pace, Progress};
pub use olifant_placement::{
    Hierarchy, Level, MemoryPolicy, Resource, ResourceSet, SetPolicy, SetReader, SetTextError, Spread,
    ThreadPolicy,
};
pub use olifant_sys::heap::Block;
pub use olifant_sys::{Advice, HugePages, Pid, Reach, Root, Tid};
pub use place::{Existing, PlaceOptions};
pub use process_memory::MovedProcess;
pub use read_back::ReadBack;
pub use region::{Region, RegionOptions};
pub use replica::{Reading, Replicated};
pub use system::System;
pub use team::{Member, Team};
