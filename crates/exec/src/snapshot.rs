//! Where a running process's threads and pages are, found without holding it up.
//!
//! A mapping is looked through a piece at a time: which pages are in memory (/proc/PID/pagemap), and on which nodes
//! (move_pages(2) without targets). The kernel holds the process's memory map for 2 MB of the former and for 16 pages of
//! the latter, so the process waits for microseconds at most. /proc/PID/numa_maps, which tells all in one read, holds it
//! for a whole mapping. Measured with a process of 4 GiB in base pages that maps and unmaps all the time, on a busy
//! 2-core virtual machine (Linux 6.18): its longest wait was 4.9 ms under this, 3.5 ms under nothing, and 136 ms under
//! reading numa_maps. The price is that the picture is not of one moment.
//!
//! Left out: memory policies of mappings, which only numa_maps tells; and what mappings the kernel keeps for itself.

use crate::ExecError;
use olifant_machine::{CpuId, CpuSet, NodeId};
use olifant_placement::Hierarchy;
use olifant_sys::procfs::{self, Map};
use olifant_sys::{Pid, Root, Tid, page_size, page_states};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// Pages that are looked at in one piece.
const PIECE_PAGES: usize = 8192;

/// Where a thread is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadPlace {
    /// Its number.
    pub thread: i32,
    /// Its name.
    pub name: String,
    /// `R` running, `S` sleeping, ... as /proc writes it.
    pub state: char,
    /// The cpu that it ran on last.
    pub cpu: CpuId,
    /// That cpu's node.
    pub node: Option<NodeId>,
    /// The cpus that it may run on.
    pub allowed: CpuSet,
}

/// Where the pages of a mapping are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MappingPages {
    /// The first address.
    pub start: usize,
    /// The address after the last.
    pub end: usize,
    /// As in /proc/PID/maps, `rw-p`.
    pub permissions: String,
    /// The file, or a name such as `[heap]`; empty for anonymous memory.
    pub name: String,
    /// Bytes in memory by node.
    pub bytes: BTreeMap<NodeId, u64>,
}

/// A process's threads and pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// The process.
    pub process: i32,
    /// Its name.
    pub name: String,
    /// Its threads, ascending.
    pub threads: Vec<ThreadPlace>,
    /// Its mappings that have pages in memory, ascending.
    pub mappings: Vec<MappingPages>,
}

impl Snapshot {
    /// Looks at a process.
    /// # Errors  `Refused` if it is gone or not ours.
    pub fn take(process: Pid, hierarchy: &Hierarchy) -> Result<Snapshot, ExecError> {
        let root = Root::new("/");
        let name = procfs::status(&root, process).map_err(|error| gone(process, &error))?.name;
        let mut mappings = Vec::new();
        for map in placed_maps(&root, process)? {
            let mut bytes = BTreeMap::new();
            each_page(&root, process, map.range.clone(), &mut |_, node| {
                *bytes.entry(node).or_insert(0) += page_size() as u64;
            })?;
            if !bytes.is_empty() {
                mappings.push(MappingPages {
                    start: map.range.start,
                    end: map.range.end,
                    permissions: permissions(&map),
                    name: map.name,
                    bytes,
                });
            }
        }
        Ok(Snapshot { process: process.0, name, threads: threads(&root, process, hierarchy)?, mappings })
    }

    /// Bytes in memory by node.
    pub fn bytes(&self) -> BTreeMap<NodeId, u64> {
        let mut sum = BTreeMap::new();
        for (&node, &bytes) in self.mappings.iter().flat_map(|mapping| &mapping.bytes) {
            *sum.entry(node).or_insert(0) += bytes;
        }
        sum
    }
}

/// The threads of a process; those that end meanwhile are left out.
fn threads(root: &Root, process: Pid, hierarchy: &Hierarchy) -> Result<Vec<ThreadPlace>, ExecError> {
    let tasks = procfs::tasks(root, process).map_err(|error| gone(process, &error))?;
    let place = |task: procfs::Task| {
        let allowed = olifant_sys::affinity(task.thread).ok()?;
        let Tid(thread) = task.thread;
        let node = hierarchy.node_of(task.cpu);
        Some(ThreadPlace { thread, name: task.name, state: task.state, cpu: task.cpu, node, allowed })
    };
    Ok(tasks.into_iter().filter_map(place).collect())
}

/// The mappings whose pages the process places: all but what the kernel maps into every process.
pub fn placed_maps(root: &Root, process: Pid) -> Result<Vec<Map>, ExecError> {
    let maps = procfs::maps(root, process).map_err(|error| gone(process, &error))?;
    let is_kernels =
        |map: &Map| ["[vvar", "[vdso]", "[vsyscall]"].iter().any(|name| map.name.starts_with(name));
    Ok(maps.into_iter().filter(|map| !is_kernels(map)).collect())
}

/// Calls `see` with each page of a range that is in memory, and its node. What is unmapped meanwhile is passed over.
/// # Errors  `Refused` if the process is gone or not ours.
pub fn each_page(
    root: &Root,
    process: Pid,
    range: Range<usize>,
    see: &mut dyn FnMut(usize, NodeId),
) -> Result<(), ExecError> {
    let page = page_size();
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min(start.saturating_add(PIECE_PAGES * page));
        let entries =
            procfs::page_entries(root, process, start..end).map_err(|error| gone(process, &error))?;
        let present = entries.iter().enumerate().filter(|(_, entry)| entry.is_present());
        let addresses: Vec<usize> = present.map(|(index, _)| start + index * page).collect();
        let states = page_states(process, &addresses).map_err(|error| {
            ExecError::Refused(format!("find the pages of process {process}: {}", error.errno))
        })?;
        for (address, state) in addresses.into_iter().zip(states) {
            if let Some(node) = state.node() {
                see(address, node);
            }
        }
        start = end;
    }
    Ok(())
}

/// Why a process's files cannot be read.
pub fn gone(process: Pid, error: &olifant_sys::ReadError) -> ExecError {
    if error.is_gone() {
        return ExecError::Refused(format!("process {process}: there is no such process"));
    }
    ExecError::Refused(format!("process {process}: {error}; is it yours? root sees all"))
}

fn permissions(map: &Map) -> String {
    [
        if map.is_readable { 'r' } else { '-' },
        if map.is_writable { 'w' } else { '-' },
        if map.is_executable { 'x' } else { '-' },
        if map.is_shared { 's' } else { 'p' },
    ]
    .iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_sys::{Mapping, MappingOptions};

    fn hierarchy() -> Hierarchy {
        Hierarchy::of_machine(&olifant_machine::catalogue::find("olifant").unwrap()).unwrap()
    }

    #[test]
    fn touched_pages_are_counted_and_untouched_ones_are_not() {
        let mut options = MappingOptions::new(64 * page_size());
        options.huge_pages = olifant_sys::HugePages::Never;
        let mut mapping = Mapping::anonymous(&options).unwrap();
        let page = page_size();
        for place in [3, 4, 60] {
            mapping.as_mut_slice()[place * page] = 1;
        }
        let mut seen = Vec::new();
        let start = mapping.range().start;
        each_page(&Root::new("/"), Pid::own(), mapping.range(), &mut |address, _| {
            seen.push((address - start) / page)
        })
        .unwrap();
        assert_eq!(seen, [3, 4, 60]);
        let snapshot = Snapshot::take(Pid::own(), &hierarchy()).unwrap();
        // A neighbouring mapping may have been merged with it.
        let here = snapshot.mappings.iter().find(|map| (map.start..map.end).contains(&start)).unwrap();
        assert!(here.bytes.values().sum::<u64>() >= 3 * page as u64, "{here:?}");
        assert!(snapshot.threads.iter().any(|thread| thread.thread == Tid::own().0));
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        let error = Snapshot::take(Pid(i32::MAX), &hierarchy()).unwrap_err().to_string();
        assert_eq!(error, format!("process {}: there is no such process", i32::MAX));
    }
}
