//! Placing a range of memory: a kernel policy for pages to come, moves for pages that are there, and the read-back.
//!
//! A spread over any nodes becomes MPOL_BIND, one of single pages MPOL_INTERLEAVE, whose order the kernel takes from the
//! virtual page number as [`Spread::home`] does. Wider stripes and weights have no kernel policy for a range: each run
//! of pages is bound by itself, which costs a mapping each; where that would be too many, the range is interleaved,
//! populated and moved instead. Spreads finer than a huge page ask for base pages, as a huge page is on one node.

use crate::System;
use crate::error::{Cause, Error, Result};
use crate::moving::Pace;
use crate::read_back::{ReadBack, page_number};
use core::ops::{ControlFlow, Range};
use olifant_machine::{NodeId, NodeSet};
use olifant_placement::{Home, ResourceSet, SetPolicy, Spread};
use olifant_sys::{
    Advice, Errno, MoveOnBind, NodePolicy, PAGES_PER_CALL, Pid, PolicyMode, Reach, advise, bind_range, lock,
    page_size,
};

/// What happens to pages that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// They stay where they are; the read-back counts them. Refused where a spread can only be made by moving: stripes
    /// of several pages, or weights, over more than 4,096 runs.
    Stay,
    /// They move, those that other processes map too only with [`Reach::Shared`].
    Move(Reach),
}

/// How a range is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceOptions {
    /// Pages that are there already.
    pub existing: Existing,
    /// Allocate every page now, so that the read-back covers all of them.
    pub populate: bool,
    /// Keep the pages in memory (mlock), as the papers' locked allocation does; implies `populate`.
    pub lock: bool,
    /// How moves are paced.
    pub pace: Pace,
}

/// More runs than this are not bound each by itself: every run is a mapping, of which a process has 65,530 by default.
const MOST_RUNS: u64 = 4096;

impl Default for PlaceOptions {
    fn default() -> Self {
        PlaceOptions {
            existing: Existing::Move(Reach::Own),
            populate: false,
            lock: false,
            pace: Pace::default(),
        }
    }
}

impl System {
    /// What a policy means under a set for the calling thread, here and now.
    /// # Errors  [`Error::Policy`] if the set has no memory for it; [`Error::Refused`] if the process may not use it.
    pub fn spread(&self, set: &ResourceSet, policy: &SetPolicy) -> Result<Spread> {
        let local = self.local_memory(&set.nodes)?;
        let spread = policy.spread(&set.nodes, &local)?;
        let nodes = spread.nodes();
        match self.why_not_nodes(&nodes) {
            None => Ok(spread),
            Some(cause) => Err(Error::refused(format!("place memory on nodes {nodes}"), cause)),
        }
    }

    /// Places a range of this process's memory under a set by a policy: pages to come by the kernel's policy, pages
    /// that are there by moving, and says where all are. The range is widened to whole pages.
    /// Cost: one system call per 1,024 pages for the read-back, the same again for pages to move.
    /// # Errors  [`Error::Policy`], or [`Error::Refused`] with the cause. Pages that stayed elsewhere are no error: the
    /// read-back counts them and says why.
    pub fn place(
        &self,
        range: Range<usize>,
        set: &ResourceSet,
        policy: &SetPolicy,
        options: &PlaceOptions,
    ) -> Result<ReadBack> {
        let spread = self.spread(set, policy)?;
        self.place_spread(range, &spread, options)
    }

    /// Places a range as a spread says; see [`System::place`].
    /// # Errors  As [`System::place`].
    pub fn place_spread(
        &self,
        range: Range<usize>,
        spread: &Spread,
        options: &PlaceOptions,
    ) -> Result<ReadBack> {
        self.place_range(range, spread, options, false)
    }

    /// Places a range; of a fresh one no page is there, which need not be asked.
    pub(crate) fn place_range(
        &self,
        range: Range<usize>,
        spread: &Spread,
        options: &PlaceOptions,
        is_fresh: bool,
    ) -> Result<ReadBack> {
        let page = page_size();
        let action = || format!("place {:#x}-{:#x} on nodes {}", range.start, range.end, spread.nodes());
        if range.is_empty() {
            return Err(Error::invalid(action(), "the range is empty"));
        }
        let whole = range.start / page * page..range.end.next_multiple_of(page);
        let refusal = |error| self.refusal(action(), error, Some(&spread.nodes()));
        if finest_run(spread) < HUGE_PAGES {
            // A kernel without transparent huge pages refuses the advice and needs none.
            let _ = advise(whole.clone(), Advice::BasePages);
        }
        let runs = self.lone_runs(&whole, spread);
        let is_exact = runs.len() as u64 <= MOST_RUNS;
        if !is_exact && options.existing == Existing::Stay {
            let problem = "stripes so fine over a range so long are made by moving pages; allow that";
            return Err(Error::invalid(action(), problem));
        }
        self.set_range_policy(whole.clone(), spread, runs, &refusal)?;
        if options.populate || options.lock || !is_exact {
            self.populate(whole.clone(), spread, &action)?;
        }
        let go_on = |_| ControlFlow::Continue(());
        let mut found = match options.existing {
            _ if is_fresh && is_exact && !options.populate && !options.lock => {
                let pages = (whole.len() / page) as u64;
                return Ok(ReadBack { pages, absent: pages, ..ReadBack::default() });
            }
            Existing::Move(reach) => {
                self.move_home(Pid::CALLING, whole, spread, reach, options.pace, go_on)?
            }
            Existing::Stay => self.query(Pid::CALLING, whole, Some(spread))?,
        };
        if options.lock {
            lock(range.clone()).map_err(refusal)?;
        }
        let explained: u64 = found.causes.iter().map(|(_, pages)| pages).sum();
        if found.elsewhere > explained {
            let unexplained = found.elsewhere - explained;
            let cause = self.why_elsewhere(&spread.nodes(), unexplained);
            found.add_cause(cause, unexplained);
        }
        Ok(found)
    }

    /// The runs that have to be bound each by itself, since the kernel has no policy for them: none for most spreads.
    fn lone_runs(&self, range: &Range<usize>, spread: &Spread) -> Vec<(Range<usize>, NodeId)> {
        match spread {
            Spread::Within(_) | Spread::Striped { pages: 1, .. } => Vec::new(),
            Spread::Striped { nodes, .. } if nodes.len() == 1 => Vec::new(),
            Spread::Striped { .. } | Spread::Weighted(_) => runs(range, spread),
        }
    }

    /// Gives the range the kernel's policy for pages to come: exact, unless there are too many runs.
    fn set_range_policy(
        &self,
        range: Range<usize>,
        spread: &Spread,
        runs: Vec<(Range<usize>, NodeId)>,
        refusal: &dyn Fn(olifant_sys::SysError) -> Error,
    ) -> Result<()> {
        let bind = |range: Range<usize>, mode: PolicyMode, nodes: NodeSet| {
            bind_range(range, &NodePolicy::new(mode, nodes), MoveOnBind::Stay).map_err(refusal)
        };
        let is_one_node = spread.nodes().len() == 1;
        match spread {
            Spread::Within(_) => bind(range, PolicyMode::Bind, spread.nodes()),
            _ if is_one_node => bind(range, PolicyMode::Bind, spread.nodes()),
            Spread::Striped { pages: 1, .. } => bind(range, PolicyMode::Interleave, spread.nodes()),
            _ if runs.len() as u64 > MOST_RUNS => bind(range, PolicyMode::Interleave, spread.nodes()),
            _ => runs
                .into_iter()
                .try_for_each(|(run, node)| bind(run, PolicyMode::Bind, [node].into_iter().collect())),
        }
    }

    /// Allocates every page of a range in steps, so that an interrupt waits for one step only.
    ///
    /// Bound nodes that run out of memory do not fail the call: the kernel kills a process. So what cannot be had is
    /// refused before.
    fn populate(&self, range: Range<usize>, spread: &Spread, action: &dyn Fn() -> String) -> Result<()> {
        let needed = self.query(Pid::CALLING, range.clone(), None)?.absent * page_size() as u64;
        let nodes = spread.nodes();
        let free_bytes = self.free_bytes(&nodes);
        if needed > free_bytes {
            return Err(Error::refused(action(), Cause::NoFreePages { nodes, free_bytes }));
        }
        let step = PAGES_PER_CALL * page_size();
        for start in range.clone().step_by(step) {
            let end = range.end.min(start + step);
            let Err(error) = advise(start..end, Advice::PopulateWrite) else { continue };
            let nodes = spread.nodes();
            let cause = match error.errno {
                Errno::ENOMEM => {
                    Cause::NoFreePages { free_bytes: self.free_bytes(&nodes), nodes: nodes.clone() }
                }
                Errno::EINVAL => Cause::Unsupported { what: "populating a range", needs: "Linux 5.14" },
                _ => return Err(self.refusal(action(), error, Some(&nodes))),
            };
            return Err(Error::refused(action(), cause));
        }
        Ok(())
    }
}

/// Base pages of a huge page where pages are 4 KiB; coarser elsewhere, where advice for base pages only costs speed.
pub(crate) const HUGE_PAGES: u64 = 512;

/// The shortest run of pages on one node that a spread makes; a spread over any nodes makes none.
pub(crate) fn finest_run(spread: &Spread) -> u64 {
    match spread {
        Spread::Within(_) => u64::MAX,
        Spread::Striped { nodes, .. } if nodes.len() == 1 => u64::MAX,
        Spread::Striped { pages, .. } => u64::from(*pages),
        Spread::Weighted(weights) if weights.len() == 1 => u64::MAX,
        Spread::Weighted(weights) => weights.iter().map(|&(_, weight)| u64::from(weight)).min().unwrap_or(1),
    }
}

/// Pages of a range, at most, that a spread can be put on by policies alone.
pub(crate) fn exact_pages(spread: &Spread) -> u64 {
    match spread {
        Spread::Within(_) | Spread::Striped { pages: 1, .. } => u64::MAX,
        // A range may begin and end within a run.
        _ => finest_run(spread).saturating_mul(MOST_RUNS - 2),
    }
}

/// The runs of pages of a range that a spread puts on one node, in order; one more than [`MOST_RUNS`] at most.
fn runs(range: &Range<usize>, spread: &Spread) -> Vec<(Range<usize>, NodeId)> {
    let page = page_size();
    let mut runs: Vec<(Range<usize>, NodeId)> = Vec::new();
    for address in range.clone().step_by(page) {
        let Home::Node(node) = spread.home(page_number(address)) else { continue };
        let count = runs.len() as u64;
        match runs.last_mut() {
            Some((run, last)) if *last == node => run.end = address + page,
            _ if count > MOST_RUNS => break,
            _ => runs.push((address..address + page, node)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_a_range_in_order_with_their_nodes() {
        let page = page_size();
        let spread = Spread::Weighted(vec![(NodeId(0), 3), (NodeId(2), 1)]);
        let found = runs(&(8 * page..16 * page), &spread);
        let expected = [(8..11, 0), (11..12, 2), (12..15, 0), (15..16, 2)];
        let expected: Vec<(Range<usize>, NodeId)> = expected
            .into_iter()
            .map(|(pages, node): (Range<usize>, u16)| (pages.start * page..pages.end * page, NodeId(node)))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn too_many_runs_are_seen_early() {
        let spread = Spread::Striped { nodes: vec![NodeId(0), NodeId(1)], pages: 2 };
        let pages = 1 << 20;
        assert_eq!(runs(&(0..pages * page_size()), &spread).len() as u64, MOST_RUNS + 1);
    }

    #[test]
    fn spreads_finer_than_a_huge_page_want_base_pages() {
        assert!(finest_run(&Spread::Striped { nodes: vec![NodeId(0), NodeId(1)], pages: 1 }) < HUGE_PAGES);
        assert!(finest_run(&Spread::Within(NodeSet::new())) > HUGE_PAGES);
    }
}
