//! Where the pages of a range are, as the kernel tells it, held against where they belong.

use crate::System;
use crate::error::{Cause, Result};
use core::ops::Range;
use olifant_machine::{NodeId, NodeSet};
use olifant_placement::Spread;
use olifant_sys::{PageState, Pid, page_size, page_states};
use std::collections::BTreeMap;

/// Pages of a range by place. Counts are base pages; a huge page counts as its base pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadBack {
    /// Pages of the range.
    pub pages: u64,
    /// Pages in memory, by node.
    pub by_node: BTreeMap<NodeId, u64>,
    /// Pages that nothing backs yet, or that are swapped out.
    pub absent: u64,
    /// Pages in memory where they belong.
    pub at_home: u64,
    /// Pages in memory elsewhere.
    pub elsewhere: u64,
    /// Pages that the call moved.
    pub moved: u64,
    /// Why pages are elsewhere, and how many for each cause; the counts add up to `elsewhere`.
    pub causes: Vec<(Cause, u64)>,
}

/// Pages that one query asks for: its lists take a megabyte, and a range of any size is read in steps.
const PAGES_PER_STEP: usize = 1 << 14;

impl ReadBack {
    /// Whether no page is elsewhere; pages that are not there yet will come where they belong.
    pub fn is_whole(&self) -> bool {
        self.elsewhere == 0
    }

    /// Pages in memory.
    pub fn present(&self) -> u64 {
        self.at_home + self.elsewhere
    }

    /// Adds what was found of another range.
    pub(crate) fn add(&mut self, other: ReadBack) {
        self.pages += other.pages;
        self.absent += other.absent;
        self.at_home += other.at_home;
        self.elsewhere += other.elsewhere;
        self.moved += other.moved;
        for (node, pages) in other.by_node {
            *self.by_node.entry(node).or_default() += pages;
        }
        for (cause, pages) in other.causes {
            self.add_cause(cause, pages);
        }
    }

    pub(crate) fn add_cause(&mut self, cause: Cause, pages: u64) {
        match self.causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, count)) => *count += pages,
            None if pages > 0 => self.causes.push((cause, pages)),
            None => {}
        }
    }
}

impl core::fmt::Display for ReadBack {
    /// `256 pages: 128 on node 0, 128 on node 1` and what is amiss.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} pages:", self.pages)?;
        let mut separator = "";
        for (node, pages) in &self.by_node {
            write!(f, "{separator} {pages} on node {node}")?;
            separator = ",";
        }
        if self.absent > 0 {
            write!(f, "{separator} {} not there yet", self.absent)?;
        }
        if self.elsewhere > 0 {
            write!(f, "; {} not where they belong", self.elsewhere)?;
        }
        self.causes.iter().try_for_each(|(cause, pages)| write!(f, "; {pages} because {cause}"))
    }
}

/// One page of a range: its address, and what the kernel says of it.
pub(crate) struct Seen {
    pub address: usize,
    pub state: PageState,
}

impl System {
    /// Where the pages of a range of a process are; `home` says where they belong, and without it they are at home
    /// anywhere. Touches nothing.
    /// # Errors  [`crate::Error::Refused`] if the process is gone or not ours, or under a seccomp filter.
    pub fn query(&self, process: Pid, range: Range<usize>, home: Option<&Spread>) -> Result<ReadBack> {
        let mut found = ReadBack::default();
        self.walk(process, range, |pages| {
            for page in pages {
                found.pages += 1;
                match page.state.node() {
                    None => found.absent += 1,
                    Some(node) => {
                        *found.by_node.entry(node).or_default() += 1;
                        let is_home = home.is_none_or(|home| home.is_home(page_number(page.address), node));
                        if is_home {
                            found.at_home += 1;
                        } else {
                            found.elsewhere += 1;
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The node of each page of a range of a process, `None` for pages that are not there.
    /// # Errors  As [`System::query`].
    pub fn nodes_of_pages(&self, process: Pid, range: Range<usize>) -> Result<Vec<Option<NodeId>>> {
        let mut nodes = Vec::with_capacity(range.len().div_ceil(page_size()));
        self.walk(process, range, |pages| {
            nodes.extend(pages.iter().map(|page| page.state.node()));
            Ok(())
        })?;
        Ok(nodes)
    }

    /// Shows the pages that a range meets, in steps.
    pub(crate) fn walk(
        &self,
        process: Pid,
        range: Range<usize>,
        mut look: impl FnMut(&mut [Seen]) -> Result<()>,
    ) -> Result<()> {
        let page = page_size();
        let mut start = range.start / page * page;
        while start < range.end {
            let end = range.end.min(start.saturating_add(PAGES_PER_STEP * page));
            let addresses: Vec<usize> = (start..end).step_by(page).collect();
            let states = page_states(process, &addresses).map_err(|error| {
                self.refusal(format!("find the pages of {start:#x}-{end:#x}"), error, None)
            })?;
            let mut seen: Vec<Seen> =
                addresses.into_iter().zip(states).map(|(address, state)| Seen { address, state }).collect();
            look(&mut seen)?;
            start = end.next_multiple_of(page);
        }
        Ok(())
    }

    /// Why pages meant for `nodes` came to be elsewhere, where the kernel said nothing: a lack of free pages, as far as
    /// that can be seen afterwards.
    pub(crate) fn why_elsewhere(&self, nodes: &NodeSet, pages: u64) -> Cause {
        if let Some(cause) = self.why_not_nodes(nodes) {
            return cause;
        }
        let free_bytes = self.free_bytes(nodes);
        if free_bytes < pages * page_size() as u64 {
            return Cause::NoFreePages { nodes: nodes.clone(), free_bytes };
        }
        Cause::Unknown
    }
}

/// The number of the page at an address, by which spreads count.
pub(crate) fn page_number(address: usize) -> u64 {
    (address / page_size()) as u64
}
