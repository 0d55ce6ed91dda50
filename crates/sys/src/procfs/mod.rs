//! The files of /proc that tell where threads and pages are, read below a [`Root`](crate::Root) so that captured trees
//! work like the real one. Reading never stops a process.

mod cpuset;
mod maps;
mod numa_maps;
mod pagemap;
mod status;
mod tasks;

pub use cpuset::{Cpuset, cpuset};
pub use maps::{Map, maps, maps_of_text};
pub use numa_maps::{NumaMap, numa_maps, numa_maps_of_text};
pub use pagemap::{PageEntry, page_entries};
pub use status::{SeccompMode, Status, status, thread_status};
pub use tasks::{Task, tasks};

use crate::Pid;

/// The directory of a process; the calling one is `self`.
fn directory(process: Pid) -> String {
    if process == Pid::CALLING { "proc/self".to_owned() } else { format!("proc/{process}") }
}
