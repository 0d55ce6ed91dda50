//! The launcher's logic: a program started on chosen cpus with a chosen memory policy, a running one shown and moved.
//!
//! [`exec`] reads a command line in numactl's grammar with options of olifant's own, or in the grammar of dplace or
//! execrset, sets what it says for this process, and becomes the program. [`Snapshot`] tells where a process's threads
//! and pages are, [`Mover`] moves them. What these do to the system goes through [`World`], so that the grammar is tested
//! without a machine.
//!
//! What must be done inside the program, thread by thread and block by block, is the preload library's part: `inside.rs`
//! tells it what to do, and `threads.rs` says what works without it.

mod command_line;
mod dialect;
mod error;
mod host;
mod inside;
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
mod thread_rules;
mod threads;
mod undo;
mod world;

pub use error::ExecError;
pub use host::Host;
pub use inside::{Inside, environment, why_not};
pub use launch::{Dialect, Failed, Launch, Prepared, enter, exec, locate, prepare, ready};
pub use movement::{Goal, Moved, Mover, Progress};
pub use own::Own;
pub use report::ShownAs;
pub use snapshot::{MappingPages, Snapshot, ThreadPlace};
pub use undo::{Undo, UndoError};
pub use world::World;
