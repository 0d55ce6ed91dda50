//! The launcher's logic: a program started on chosen cpus with a chosen memory policy, a running one shown and moved.
//!
//! [`exec`] reads a command line in numactl's grammar with options of olifant's own, or in the grammar of dplace or
//! execrset, sets what it says for this process, and becomes the program. [`Snapshot`] tells where a process's threads
//! and pages are, [`Mover`] moves them. What these do to the system goes through [`World`], so that the grammar is tested
//! without a machine.
//!
//! Left out: what must be done inside the program, thread by thread, which is the preload library's part; `threads.rs`
//! says what works without it.

mod command_line;
mod dialect;
mod error;
mod host;
mod launch;
mod memory;
mod movement;
mod numactl;
mod own;
mod rank;
mod report;
mod segment;
mod show;
mod size;
mod snapshot;
mod threads;
mod undo;
mod world;

pub use error::ExecError;
pub use host::Host;
pub use launch::{Dialect, Failed, Launch, Prepared, enter, exec, prepare};
pub use movement::{Goal, Moved, Mover, Progress};
pub use report::ShownAs;
pub use snapshot::{MappingPages, Snapshot, ThreadPlace};
pub use undo::{Undo, UndoError};
pub use world::World;
