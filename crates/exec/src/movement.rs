//! Moving a running process's pages and threads, with bounded stalls and a way back.
//!
//! Pages move in batches. While a batch moves, a thread that touches one of its pages waits for the rest of it, so the
//! time of a batch bounds the stall: batches grow and shrink to stay within a limit. Where everything was is known
//! before anything moves (see [`Undo`]).

use crate::ExecError;
use crate::snapshot::{each_page, placed_maps};
use crate::undo::Undo;
use olifant_machine::{CpuSet, NodeId, NodeSet};
use olifant_sys::{PAGES_PER_CALL, PageState, Pid, Reach, Root, Tid, move_pages, page_size, procfs};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Pages of the first batch.
const FIRST_BATCH: usize = 64;
/// Batches do not shrink below this.
const LEAST_BATCH: usize = 8;

/// Where pages are to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// Only pages on these nodes move; `None` for all that are not on a target.
    pub from: Option<NodeSet>,
    /// The targets.
    pub to: NodeSet,
    /// Whether pages that other processes map too move as well; needs CAP_SYS_NICE.
    pub shared: bool,
}

impl Goal {
    /// The target of a page on `node`, `None` if it stays. Sources and targets pair up in order where there are as many
    /// of them, as migrate_pages(2) does; else pages go to the targets in turn.
    fn target(&self, address: usize, node: NodeId) -> Option<NodeId> {
        match &self.from {
            Some(from) if !from.contains(node) => return None,
            Some(from) if from.len() == self.to.len() => {
                let place = from.iter().position(|other| other == node)?;
                return self.to.iter().nth(place).filter(|&target| target != node);
            }
            _ if self.to.contains(node) => return None,
            _ => {}
        }
        self.to.iter().nth((address / page_size()) % self.to.len().max(1))
    }
}

/// How far a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Pages dealt with.
    pub done: usize,
    /// Pages in all.
    pub pages: usize,
}

/// What came of a move, as the kernel told of each page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moved {
    /// Pages that are where they were to go.
    pub moved: usize,
    /// Pages that are gone or that nothing backs any more.
    pub gone: usize,
    /// Pages that stayed, by reason.
    pub stayed: BTreeMap<String, usize>,
    /// Threads given other cpus.
    pub threads: usize,
    /// The longest batch.
    pub longest_batch: Duration,
    /// Whether it was stopped before the end.
    pub is_stopped: bool,
}

/// A move that is prepared.
#[derive(Debug)]
pub struct Mover {
    process: Pid,
    moves: Vec<(usize, NodeId)>,
    reach: Reach,
    cpus: Vec<(Tid, CpuSet)>,
    undo: Undo,
}

impl Mover {
    /// Finds what has to move: pages as `goal` says, and threads that may not run on just these `cpus`.
    /// # Errors  `Refused` if the process is gone or not ours.
    pub fn prepare(process: Pid, goal: Option<&Goal>, cpus: Option<&CpuSet>) -> Result<Mover, ExecError> {
        let root = Root::new("/");
        let mut undo = Undo::of(process)?;
        let mut moves = Vec::new();
        if let Some(goal) = goal {
            for map in placed_maps(&root, process)? {
                // Pages of files are shared with whoever maps them; anonymous shared memory is meant to be moved.
                each_page(&root, process, map.range, &mut |address, node| {
                    if let Some(target) = goal.target(address, node) {
                        undo.note_page(address, node);
                        moves.push((address, target));
                    }
                })?;
            }
        }
        let mut threads = Vec::new();
        if let Some(cpus) = cpus {
            let tasks =
                procfs::tasks(&root, process).map_err(|error| crate::snapshot::gone(process, &error))?;
            for task in tasks {
                // A thread that has just ended needs no cpus.
                let Ok(before) = olifant_sys::affinity(task.thread) else { continue };
                if before != *cpus {
                    undo.note_thread(task.thread, before);
                    threads.push((task.thread, cpus.clone()));
                }
            }
        }
        let reach = if goal.is_some_and(|goal| goal.shared) { Reach::Shared } else { Reach::Own };
        Ok(Mover { process, moves, reach, cpus: threads, undo })
    }

    /// The way back to where an undo file says that things were.
    pub fn back(process: Pid, undo: Undo) -> Mover {
        let page = page_size();
        let moves = undo
            .pages
            .iter()
            .flat_map(|&(start, count, node)| (0..count).map(move |index| (start + index * page, node)))
            .collect();
        let cpus = undo.threads.iter().map(|(thread, cpus)| (Tid(*thread), cpus.clone())).collect();
        Mover { process, moves, reach: Reach::Own, cpus, undo }
    }

    /// Where everything is now, for the way back.
    pub fn undo(&self) -> &Undo {
        &self.undo
    }

    /// How many pages and threads there are to move.
    pub fn size(&self) -> (usize, usize) {
        (self.moves.len(), self.cpus.len())
    }

    /// Moves. `longest` bounds the time of a batch; `report` is called after each and may stop the move.
    /// # Errors  `Refused`; what was done before is done.
    pub fn run(
        &self,
        longest: Duration,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Moved, ExecError> {
        let mut result = Moved::default();
        for (thread, cpus) in &self.cpus {
            match olifant_sys::set_affinity(*thread, cpus) {
                Ok(()) if olifant_sys::affinity(*thread).is_ok_and(|now| now == *cpus) => result.threads += 1,
                Err(error) if error.errno == olifant_sys::Errno::ESRCH => {}
                Ok(()) => {
                    return Err(ExecError::Refused(format!(
                        "thread {thread}: the cpuset left out some of cpus {cpus}"
                    )));
                }
                Err(error) => return Err(ExecError::Refused(error.to_string())),
            }
        }
        let mut rest = self.moves.as_slice();
        let mut batch = FIRST_BATCH;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch.min(rest.len()));
            let begun = Instant::now();
            let states = move_pages(self.process, now, self.reach).map_err(|error| self.refused(&error))?;
            let taken = begun.elapsed();
            result.longest_batch = result.longest_batch.max(taken);
            for (&(_, target), state) in now.iter().zip(states) {
                result.count(target, state);
            }
            rest = later;
            if taken > longest {
                batch = (batch / 2).max(LEAST_BATCH);
            } else if taken < longest / 3 {
                batch = (batch * 2).min(PAGES_PER_CALL);
            }
            let progress = Progress { done: self.moves.len() - rest.len(), pages: self.moves.len() };
            if report(progress).is_break() {
                result.is_stopped = !rest.is_empty();
                break;
            }
        }
        Ok(result)
    }

    fn refused(&self, error: &olifant_sys::SysError) -> ExecError {
        let process = self.process;
        let cause = match error.errno {
            olifant_sys::Errno::ESRCH => "it has ended".to_owned(),
            olifant_sys::Errno::EACCES => "its cpuset does not allow a target node".to_owned(),
            olifant_sys::Errno::ENODEV => "a target node is not there, or has no memory".to_owned(),
            olifant_sys::Errno::EPERM if self.reach == Reach::Shared => {
                "shared pages move only for root (CAP_SYS_NICE)".to_owned()
            }
            errno => errno.to_string(),
        };
        ExecError::Refused(format!("move pages of process {process}: {cause}"))
    }
}

impl Moved {
    fn count(&mut self, target: NodeId, state: PageState) {
        let reason = match state {
            PageState::On(node) if node == target => {
                self.moved += 1;
                return;
            }
            PageState::Absent | PageState::Unmapped => {
                self.gone += 1;
                return;
            }
            PageState::On(_) => "the kernel left it where it was".to_owned(),
            PageState::Busy => "in use at that moment".to_owned(),
            PageState::NoMemory => format!("node {target} has no free memory"),
            PageState::Shared => "other processes map it too (--shared moves those)".to_owned(),
            PageState::Refused(errno) => errno.to_string(),
        };
        *self.stayed.entry(reason).or_insert(0) += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(list: &str) -> NodeSet {
        list.parse().unwrap()
    }

    #[test]
    fn pages_on_a_target_stay_and_others_are_spread_over_the_targets() {
        let goal = Goal { from: None, to: nodes("1,3"), shared: false };
        assert_eq!(goal.target(0, NodeId(1)), None);
        let page = page_size();
        assert_eq!(goal.target(4 * page, NodeId(0)), Some(NodeId(1)));
        assert_eq!(goal.target(5 * page, NodeId(0)), Some(NodeId(3)));
    }

    #[test]
    fn as_many_sources_as_targets_pair_up_in_order() {
        let goal = Goal { from: Some(nodes("0,1")), to: nodes("1,2"), shared: false };
        assert_eq!(goal.target(0, NodeId(0)), Some(NodeId(1)));
        assert_eq!(goal.target(0, NodeId(1)), Some(NodeId(2)));
        assert_eq!(goal.target(0, NodeId(2)), None);
    }

    #[test]
    fn reasons_are_counted_apart() {
        let mut moved = Moved::default();
        for state in [PageState::On(NodeId(1)), PageState::On(NodeId(0)), PageState::Absent, PageState::Busy]
        {
            moved.count(NodeId(1), state);
        }
        assert_eq!((moved.moved, moved.gone, moved.stayed.len()), (1, 1, 2));
    }

    #[test]
    fn a_process_already_in_place_has_nothing_to_move() {
        let all: NodeSet = (0..64).map(NodeId).collect();
        let goal = Goal { from: None, to: all, shared: false };
        let mover = Mover::prepare(Pid::own(), Some(&goal), None).unwrap();
        assert_eq!(mover.size(), (0, 0));
        let moved = mover.run(Duration::from_millis(5), |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(moved, Moved::default());
    }
}
