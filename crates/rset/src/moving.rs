//! Moving pages home: those of a range, of any process, that are not where a spread wants them, in batches.
//!
//! A page cannot be used while it is moved, so the batch bounds how long anybody waits. Only pages elsewhere are asked to
//! move; each is read back, and the status that move_pages(2) gave for one that stayed says why.
//!
//! A transparent huge page moves as a whole with any of its pages. Moving its pages one by one to different nodes would
//! copy it hundreds of times for nothing, so where a spread is finer than that, one page is moved first, and if its
//! neighbours came along the block is left there and counted.

use crate::System;
use crate::error::{Cause, Result};
use crate::place::{HUGE_PAGES, finest_run};
use crate::read_back::{ReadBack, Seen, page_number};
use core::ops::{ControlFlow, Range};
use olifant_machine::{NodeId, NodeSet};
use olifant_placement::{Home, Spread};
use olifant_sys::{PAGES_PER_CALL, PageState, Pid, Reach, move_pages, page_size, page_states};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long moves may stall the process, and what they leave it between batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Pages per batch, at least 1; a page that is being moved cannot be used until it is.
    pub pages: usize,
    /// Time between batches.
    pub pause: Duration,
}

/// How far a move has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Pages looked at so far.
    pub seen: u64,
    /// Pages in all.
    pub pages: u64,
    /// Pages moved so far.
    pub moved: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { pages: PAGES_PER_CALL, pause: Duration::ZERO }
    }
}

impl System {
    /// Moves the pages of a range of a process that are not where a spread wants them, batch by batch, and says where
    /// all are. `report` is called after each batch and may stop the move; the read-back then covers what was seen.
    /// # Errors  [`Error::Refused`] with the cause; batches before it have moved.
    pub fn move_home(
        &self,
        process: Pid,
        range: Range<usize>,
        spread: &Spread,
        reach: Reach,
        pace: Pace,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ReadBack> {
        let mut found = ReadBack::default();
        let pages = range.len().div_ceil(page_size()) as u64;
        let mut is_stopped = false;
        self.walk(process, range, |seen| {
            let huge_blocks = match finest_run(spread) < HUGE_PAGES && !is_stopped {
                true => self.try_huge_blocks(process, seen, spread, reach, &mut found)?,
                false => BTreeSet::new(),
            };
            for batch in seen.chunks(pace.pages.max(1)) {
                if is_stopped {
                    return Ok(());
                }
                let has_moved = self.move_batch(process, batch, spread, reach, &huge_blocks, &mut found)?;
                let progress = Progress { seen: found.pages, pages, moved: found.moved };
                is_stopped = report(progress).is_break();
                if has_moved && !pace.pause.is_zero() {
                    std::thread::sleep(pace.pause);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Finds the blocks that move as a whole, and leaves each where its first stray page belongs; the states of their
    /// pages are made new.
    fn try_huge_blocks(
        &self,
        process: Pid,
        seen: &mut [Seen],
        spread: &Spread,
        reach: Reach,
        found: &mut ReadBack,
    ) -> Result<BTreeSet<u64>> {
        let mut huge = BTreeSet::new();
        for block in seen.chunk_by_mut(|a, b| block_of(a) == block_of(b)) {
            let Some((stray, target)) = self.stray_of_uniform_block(block, spread) else { continue };
            let action = |error| self.refusal(format!("move a page to node {target}"), error, None);
            move_pages(process, &[(block[stray].address, target)], reach).map_err(action)?;
            let addresses: Vec<usize> = block.iter().map(|page| page.address).collect();
            let now = page_states(process, &addresses).map_err(action)?;
            let came_along = now.iter().filter(|state| state.node() == Some(target)).count();
            for (page, state) in block.iter_mut().zip(now) {
                let number = page_number(page.address);
                let is_home =
                    |state: PageState| state.node().is_some_and(|node| spread.is_home(number, node));
                found.moved += u64::from(is_home(state) && !is_home(page.state));
                page.state = state;
            }
            if came_along == block.len() {
                huge.insert(block_of(&block[0]));
            }
        }
        Ok(huge)
    }

    /// A page to try a block with: the block is all there, on one node, and not all of it belongs to one other.
    fn stray_of_uniform_block(&self, block: &[Seen], spread: &Spread) -> Option<(usize, NodeId)> {
        let node = block.first()?.state.node()?;
        let is_whole =
            block.len() as u64 == HUGE_PAGES && block.iter().all(|page| page.state.node() == Some(node));
        let home = |page: &Seen| page_number(page.address);
        let stray = block.iter().position(|page| !spread.is_home(home(page), node)).filter(|_| is_whole)?;
        let target = self.target(&spread.home(home(&block[stray])), node)?;
        block.iter().any(|page| !spread.is_home(home(page), target)).then_some((stray, target))
    }

    fn move_batch(
        &self,
        process: Pid,
        batch: &[Seen],
        spread: &Spread,
        reach: Reach,
        huge_blocks: &BTreeSet<u64>,
        found: &mut ReadBack,
    ) -> Result<bool> {
        let mut moves = Vec::new();
        let mut in_huge = 0;
        let mut settle = |node: NodeId, is_home: bool| {
            found.pages += 1;
            *found.by_node.entry(node).or_default() += 1;
            if is_home {
                found.at_home += 1;
            } else {
                found.elsewhere += 1;
            }
        };
        let mut absent = 0;
        for page in batch {
            let number = page_number(page.address);
            match page.state.node() {
                None => absent += 1,
                Some(node) if spread.is_home(number, node) => settle(node, true),
                Some(node) if huge_blocks.contains(&block_of(page)) => {
                    in_huge += 1;
                    settle(node, false);
                }
                Some(node) => match self.target(&spread.home(number), node) {
                    Some(target) => moves.push((page.address, target)),
                    None => settle(node, false),
                },
            }
        }
        found.pages += absent;
        found.absent += absent;
        found.add_cause(Cause::HugePages { page_bytes: HUGE_PAGES * page_size() as u64 }, in_huge);
        if moves.is_empty() {
            return Ok(false);
        }
        let nodes = spread.nodes();
        let states = move_pages(process, &moves, reach).map_err(|error| {
            let own_nodes = process.is_calling().then_some(&nodes);
            self.refusal(format!("move {} pages to nodes {nodes}", moves.len()), error, own_nodes)
        })?;
        // Some statuses say why a page stayed, not where it is.
        let addresses: Vec<usize> = moves.iter().map(|&(address, _)| address).collect();
        let now = olifant_sys::page_states(process, &addresses)
            .map_err(|error| self.refusal("find the pages that were moved", error, None))?;
        for ((&(address, target), state), now) in moves.iter().zip(states).zip(now) {
            found.pages += 1;
            let Some(node) = now.node() else {
                found.absent += 1;
                continue;
            };
            *found.by_node.entry(node).or_default() += 1;
            if spread.is_home(page_number(address), node) {
                found.at_home += 1;
                found.moved += 1;
            } else {
                found.elsewhere += 1;
                found.add_cause(self.why_stayed(state, target), 1);
            }
        }
        Ok(true)
    }

    /// The node to move a page to: the nearest of its homes to where it is.
    fn target(&self, home: &Home, from: NodeId) -> Option<NodeId> {
        match home {
            Home::Node(node) => Some(*node),
            Home::Nodes(nodes) => self.hierarchy().nearest_memory(from, nodes).first(),
        }
    }

    fn why_stayed(&self, state: PageState, target: NodeId) -> Cause {
        let nodes: NodeSet = [target].into_iter().collect();
        match state {
            PageState::Busy => Cause::Busy,
            PageState::Shared => Cause::Shared,
            PageState::NoMemory => Cause::NoFreePages { free_bytes: self.free_bytes(&nodes), nodes },
            // It went where a neighbour of the same huge page was sent.
            PageState::On(_) => Cause::HugePages { page_bytes: HUGE_PAGES * page_size() as u64 },
            PageState::Refused(errno) => Cause::Kernel(olifant_sys::SysError {
                call: "move_pages",
                object: format!("a page to node {target}"),
                errno,
            }),
            PageState::Absent | PageState::Unmapped => Cause::Unknown,
        }
    }
}

/// The number of the block, of the size of a huge page, that a page is in.
fn block_of(page: &Seen) -> u64 {
    page_number(page.address) / HUGE_PAGES
}
