//! System calls behind safe signatures: thread affinity, memory policy, page moves and queries, mappings, heaps on
//! memory of one's own, events of the kernel, and the files of /proc that tell where threads and pages are.
//!
//! Floor 2, the fence: all unsafe code of placement is here. A function does one call and says what came back; what a
//! refusal means (a cpuset, a seccomp filter) is judged one floor up. Each names its manual page and the first kernel
//! that has the call.
#![allow(unsafe_code)]

mod advice;
mod affinity;
mod bits;
mod clock;
pub mod elf;
mod error;
mod file_mapping;
pub mod heap;
mod interrupts;
mod mapping;
mod memory_policy;
mod page_move;
pub mod perf;
mod privilege;
mod process;
mod process_memory;
pub mod procfs;
mod root;
mod segment;
mod unnamed_file;

pub use advice::{Advice, advise, lock};
pub use affinity::{affinity, current_cpu_and_node, set_affinity};
pub use clock::monotonic_ns;
pub use error::{Errno, SysError};
pub use file_mapping::FileMapping;
pub use interrupts::Interrupts;
pub use mapping::{HugePages, Mapping, MappingOptions, page_size};
pub use memory_policy::{
    MoveOnBind, NodePolicy, PolicyFlags, PolicyMode, allowed_nodes, bind_range, next_interleaved_node,
    policy_at, set_home_node, set_thread_policy, thread_policy,
};
pub use page_move::{PAGES_PER_CALL, PageState, Reach, migrate_process, move_pages, page_states};
pub use privilege::gains_rights;
pub use process::{Pid, Tid};
pub use process_memory::read_process_memory;
pub use root::{ReadError, Root};
pub use segment::{SegmentKey, SharedSegment};
pub use unnamed_file::unnamed_file;
