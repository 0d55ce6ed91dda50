//! Where pages are, and moving them.
//!
//! Sources: move_pages(2), Linux 2.6.18; migrate_pages(2), Linux 2.6.16. Contents move with their page, so addresses
//! are numbers here too. A call handles at most [`PAGES_PER_CALL`] pages, which bounds how long it blocks; longer lists
//! are cut into several.

use crate::bits::{max_node, row};
use crate::error::checked;
use crate::{Errno, Pid, SysError};
use olifant_machine::{NodeId, NodeSet};

/// Pages that one system call is asked for. With 4 KiB pages a call copies at most 4 MiB.
pub const PAGES_PER_CALL: usize = 1024;

const MOVE_OWN: i32 = 1 << 1;
const MOVE_ALL: i32 = 1 << 2;

/// What is known of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageState {
    /// It is in the memory of this node.
    On(NodeId),
    /// No memory backs it (yet), or it is swapped out.
    Absent,
    /// Nothing is mapped there, or it is the shared page of zeros.
    Unmapped,
    /// It stayed: somebody uses it this moment.
    Busy,
    /// It stayed: the target node has no free memory.
    NoMemory,
    /// It stayed: other processes map it too, and only own pages were to move.
    Shared,
    /// It stayed for another reason.
    Refused(Errno),
}

/// Which pages may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Those that only this process maps.
    Own,
    /// Those that others map too; needs CAP_SYS_NICE.
    Shared,
}

impl PageState {
    fn from_status(status: i32) -> PageState {
        match Errno(-status) {
            Errno::ENOENT => PageState::Absent,
            Errno::EFAULT => PageState::Unmapped,
            Errno::EBUSY => PageState::Busy,
            Errno::ENOMEM => PageState::NoMemory,
            Errno::EACCES => PageState::Shared,
            reason => {
                u16::try_from(status).map_or(PageState::Refused(reason), |node| PageState::On(NodeId(node)))
            }
        }
    }

    /// The node, if the page is in memory.
    pub fn node(self) -> Option<NodeId> {
        match self {
            PageState::On(node) => Some(node),
            _ => None,
        }
    }
}

/// Where the pages at `addresses` of a process are, in the same order. Touches nothing.
/// Cost: one system call per [`PAGES_PER_CALL`] pages.
/// # Errors  `ESRCH` if there is no such process; `EPERM` if it is not ours, or under a seccomp filter.
/// Source: move_pages(2) without nodes, Linux 2.6.18.
pub fn page_states(process: Pid, addresses: &[usize]) -> Result<Vec<PageState>, SysError> {
    let mut states = Vec::with_capacity(addresses.len());
    for batch in addresses.chunks(PAGES_PER_CALL) {
        let status = call(process, batch, core::ptr::null(), 0)?;
        states.extend(status.into_iter().map(PageState::from_status));
    }
    Ok(states)
}

/// Moves the page at each address of a process to the node beside it, and says where each is or why it stayed.
/// Cost: one system call per [`PAGES_PER_CALL`] pages, which blocks while the kernel copies.
/// # Errors  `EACCES` if a target is not in the process's allowed nodes; `ENODEV` if one is not online; `ESRCH`;
/// `EPERM` if it is not ours, for [`Reach::Shared`] without CAP_SYS_NICE, or under a seccomp filter. Batches before
/// the failing one have moved.
/// Source: move_pages(2), Linux 2.6.18.
pub fn move_pages(process: Pid, moves: &[(usize, NodeId)], reach: Reach) -> Result<Vec<PageState>, SysError> {
    let flags = match reach {
        Reach::Own => MOVE_OWN,
        Reach::Shared => MOVE_ALL,
    };
    let mut states = Vec::with_capacity(moves.len());
    for batch in moves.chunks(PAGES_PER_CALL) {
        let addresses: Vec<usize> = batch.iter().map(|&(address, _)| address).collect();
        let nodes: Vec<i32> = batch.iter().map(|&(_, node)| node.0.into()).collect();
        let mut status = call(process, &addresses, nodes.as_ptr(), flags)?;
        // When the kernel stops half way it leaves statuses unwritten (a page that could not be moved, since Linux
        // 4.17): ask where those pages are.
        if status.contains(&UNWRITTEN) {
            status = call(process, &addresses, core::ptr::null(), 0)?;
        }
        states.extend(status.into_iter().map(PageState::from_status));
    }
    Ok(states)
}

/// Stands in the status list for what the kernel did not write; not a status that it gives.
const UNWRITTEN: i32 = i32::MIN;

fn call(process: Pid, addresses: &[usize], nodes: *const i32, flags: i32) -> Result<Vec<i32>, SysError> {
    let mut status = vec![UNWRITTEN; addresses.len()];
    // SAFETY: the kernel reads as many addresses (and nodes, if given) as told and writes as many statuses; all three
    // lists have that length. What the addresses point to is moved as a whole or not at all.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            process.0,
            addresses.len(),
            addresses.as_ptr(),
            nodes,
            status.as_mut_ptr(),
            flags,
        )
    };
    checked(answer, "move_pages", || {
        let whose = if process == Pid::CALLING { String::new() } else { format!(" of process {process}") };
        let from = addresses.first().copied().unwrap_or(0);
        format!("{} pages from {from:#x}{whose}", addresses.len())
    })?;
    Ok(status)
}

/// Moves all pages that a process has on `from` to the nodes at the same places of `to`; says how many stayed.
/// # Errors  `EINVAL` for nodes that are not there; `EPERM` if the process is not ours, if `to` is not in its allowed
/// nodes without CAP_SYS_NICE, or under a seccomp filter; `ESRCH`.
/// Source: migrate_pages(2), Linux 2.6.16.
pub fn migrate_process(process: Pid, from: &NodeSet, to: &NodeSet) -> Result<usize, SysError> {
    let (mut from_row, mut to_row) = (row(from), row(to));
    let words = from_row.len().max(to_row.len());
    from_row.resize(words, 0);
    to_row.resize(words, 0);
    // SAFETY: the kernel reads two rows of the told number of bits; both have as many words.
    let answer = unsafe {
        libc::syscall(libc::SYS_migrate_pages, process.0, max_node(words), from_row.as_ptr(), to_row.as_ptr())
    };
    checked(answer, "migrate_pages", || format!("process {process} from nodes {from} to nodes {to}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, MappingOptions, allowed_nodes, page_size};

    #[test]
    fn touched_pages_are_on_a_node_and_others_are_absent() {
        let mut mapping = Mapping::anonymous(&MappingOptions::new(4 * page_size())).unwrap();
        mapping.as_mut_slice()[page_size()] = 1;
        let addresses: Vec<usize> = mapping.range().step_by(page_size()).collect();
        let states = page_states(Pid::CALLING, &addresses).unwrap();
        assert!(states[1].node().is_some());
        assert!(matches!(states[3], PageState::Absent | PageState::Unmapped));
    }

    #[test]
    fn a_page_moves_to_an_allowed_node_and_a_node_that_is_not_there_is_refused() {
        let mut mapping = Mapping::anonymous(&MappingOptions::new(page_size())).unwrap();
        mapping.as_mut_slice()[0] = 7;
        let last = allowed_nodes().unwrap().iter().last().unwrap();
        let start = mapping.range().start;
        assert_eq!(move_pages(Pid::CALLING, &[(start, last)], Reach::Own).unwrap(), [PageState::On(last)]);
        assert_eq!(mapping.as_slice()[0], 7);
        let error = move_pages(Pid::CALLING, &[(start, NodeId(1023))], Reach::Own).unwrap_err();
        assert!(matches!(error.errno, Errno::ENODEV | Errno::EINVAL | Errno::EACCES), "{error}");
    }

    #[test]
    fn longer_lists_than_a_call_takes_are_answered_in_order() {
        let pages = PAGES_PER_CALL + 3;
        let mut mapping = Mapping::anonymous(&MappingOptions::new(pages * page_size())).unwrap();
        let last_page = mapping.range().end - page_size();
        let offset = (pages - 1) * page_size();
        mapping.as_mut_slice()[offset] = 1;
        let addresses: Vec<usize> = mapping.range().step_by(page_size()).collect();
        let states = page_states(Pid::CALLING, &addresses).unwrap();
        assert_eq!((addresses[pages - 1], states.len()), (last_page, pages));
        assert!(states[pages - 1].node().is_some());
    }
}
