//! Moving the memory of a running process, and undoing it.
//!
//! Mappings are taken from /proc/PID/maps at the start; what the process maps later stays where its own policy puts it.
//! Pages of files that other processes map too (libraries) stay unless shared pages are to move. The process runs on;
//! it waits only for a page that is being copied while it wants it, so the pace bounds its stalls.

use crate::System;
use crate::error::Result;
use crate::moving::{Pace, Progress};
use crate::read_back::ReadBack;
use core::ops::{ControlFlow, Range};
use olifant_machine::NodeId;
use olifant_placement::{ResourceSet, SetPolicy, Spread};
use olifant_sys::procfs::{self, Map};
use olifant_sys::{Pid, Reach, page_size};

/// What came of moving a process's memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MovedProcess {
    /// Where its pages are now.
    pub now: ReadBack,
    /// Where they were: runs of pages on one node, ascending. For [`System::restore_process`].
    pub before: Vec<(Range<usize>, NodeId)>,
}

impl System {
    /// Moves the memory of a running process to a set's nodes by a policy. "Local" is the node of the calling thread,
    /// not of the process. `report` is called after each batch and may stop the move.
    /// # Errors  [`crate::Error::Refused`] with the cause; batches before it have moved.
    pub fn move_process(
        &self,
        process: Pid,
        set: &ResourceSet,
        policy: &SetPolicy,
        reach: Reach,
        pace: Pace,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<MovedProcess> {
        let local = self.local_memory(&set.nodes)?;
        let spread = policy.spread(&set.nodes, &local)?;
        let ranges = self.movable_ranges(process, reach)?;
        let pages: u64 = ranges.iter().map(|range| (range.len() / page_size()) as u64).sum();
        let mut moved = MovedProcess::default();
        let mut is_stopped = false;
        for range in ranges {
            if is_stopped {
                break;
            }
            let (seen, moved_before) = (moved.now.pages, moved.now.moved);
            self.remember(process, range.clone(), &mut moved.before)?;
            let found = self.move_home(process, range, &spread, reach, pace, |progress| {
                let whole =
                    Progress { seen: seen + progress.seen, pages, moved: moved_before + progress.moved };
                let answer = report(whole);
                is_stopped = answer.is_break();
                answer
            });
            match found {
                Ok(found) => moved.now.add(found),
                // A mapping that the process gave up meanwhile has no pages left to move.
                Err(error) if matches!(error.cause(), Some(crate::Cause::Kernel(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(moved)
    }

    /// Moves pages back to where they were before [`System::move_process`]; pages that have gone since are passed over.
    /// # Errors  As [`System::move_process`].
    pub fn restore_process(
        &self,
        process: Pid,
        before: &[(Range<usize>, NodeId)],
        reach: Reach,
        pace: Pace,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ReadBack> {
        let mut now = ReadBack::default();
        for (range, node) in before {
            let spread = Spread::Within([*node].into_iter().collect());
            let found = self.move_home(process, range.clone(), &spread, reach, pace, &mut report)?;
            now.add(found);
        }
        Ok(now)
    }

    fn movable_ranges(&self, process: Pid, reach: Reach) -> Result<Vec<Range<usize>>> {
        let is_movable = |map: &Map| {
            // Pages of the kernel that show in every process.
            let is_kernels = ["[vvar", "[vdso]", "[vsyscall]"].iter().any(|name| map.name.starts_with(name));
            !is_kernels && (reach == Reach::Shared || map.is_writable && !map.is_shared)
        };
        let maps = procfs::maps(self.root(), process)?;
        Ok(maps.into_iter().filter(is_movable).map(|map| map.range).collect())
    }

    /// Notes where the pages of a range are, as runs.
    fn remember(
        &self,
        process: Pid,
        range: Range<usize>,
        before: &mut Vec<(Range<usize>, NodeId)>,
    ) -> Result<()> {
        self.walk(process, range, |pages| {
            for page in pages {
                let Some(node) = page.state.node() else { continue };
                let end = page.address + page_size();
                match before.last_mut() {
                    Some((run, last)) if run.end == page.address && *last == node => run.end = end,
                    _ => before.push((page.address..end, node)),
                }
            }
            Ok(())
        })
    }
}
