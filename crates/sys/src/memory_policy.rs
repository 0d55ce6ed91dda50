//! Which nodes back the memory that a thread touches, or a range of addresses.
//!
//! Sources: set_mempolicy(2), get_mempolicy(2), mbind(2), Linux 2.6.7; modes with a later kernel say so. Constants from
//! include/uapi/linux/mempolicy.h. None of these calls touches the contents of memory, so a range is two numbers.

use crate::bits::{max_node, row};
use crate::error::checked;
use crate::{Errno, SysError};
use core::ops::Range;
use olifant_machine::{NodeId, NodeSet};

/// How the nodes of a policy are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum PolicyMode {
    /// No policy here: the thread's for a range, the system's for a thread.
    Default = 0,
    /// The first node if it has memory, else the next nearest.
    Preferred = 1,
    /// These nodes and no other; the one nearest to the toucher first.
    Bind = 2,
    /// Page by page over the nodes, by the page's place in its mapping.
    Interleave = 3,
    /// The toucher's node. Linux 3.8.
    Local = 4,
    /// These nodes if they have memory. Linux 5.15.
    PreferredMany = 5,
    /// Like interleave, in proportion to the weights in /sys/kernel/mm/mempolicy/weighted_interleave. Linux 6.9.
    WeightedInterleave = 6,
}

/// How the nodes of a policy follow a change of the cpuset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PolicyFlags {
    /// Nodes are renamed as the cpuset changes.
    #[default]
    Follow,
    /// Nodes keep their numbers; those that leave the cpuset drop out. Linux 2.6.26.
    Static,
    /// Nodes are counted within the cpuset. Linux 2.6.26.
    Relative,
    /// Nodes keep following, and the kernel may move pages towards their users within the bound nodes. Linux 5.12,
    /// with [`PolicyMode::Bind`] only.
    Balancing,
}

const STATIC_NODES: i32 = 1 << 15;
const RELATIVE_NODES: i32 = 1 << 14;
const NUMA_BALANCING: i32 = 1 << 13;
const GET_NODE: libc::c_ulong = 1;
const GET_ADDRESS: libc::c_ulong = 1 << 1;
const GET_ALLOWED: libc::c_ulong = 1 << 2;
const BIND_STRICT: libc::c_ulong = 1;
const BIND_MOVE: libc::c_ulong = 1 << 1;
const BIND_MOVE_ALL: libc::c_ulong = 1 << 2;
/// Words of the rows that get_mempolicy fills: more nodes than any kernel is built for (1,024).
const NODE_WORDS: usize = 64;

/// A memory policy as the kernel keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePolicy {
    /// How the nodes are used.
    pub mode: PolicyMode,
    /// How they follow the cpuset.
    pub flags: PolicyFlags,
    /// Which nodes; empty for [`PolicyMode::Default`] and [`PolicyMode::Local`].
    pub nodes: NodeSet,
}

/// What happens to pages that are there already when a range gets a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveOnBind {
    /// They stay.
    Stay,
    /// `EIO` if any is elsewhere; none moves.
    Check,
    /// Pages of this process alone move; `EIO` if one could not. Linux 2.6.16.
    Own,
    /// Pages shared with others move too; needs CAP_SYS_NICE. Linux 2.6.16.
    All,
}

impl NodePolicy {
    /// A policy that follows the cpuset.
    pub fn new(mode: PolicyMode, nodes: NodeSet) -> NodePolicy {
        NodePolicy { mode, flags: PolicyFlags::Follow, nodes }
    }

    /// No policy.
    pub fn none() -> NodePolicy {
        NodePolicy::new(PolicyMode::Default, NodeSet::new())
    }

    fn raw_mode(&self) -> i32 {
        self.mode as i32
            | match self.flags {
                PolicyFlags::Follow => 0,
                PolicyFlags::Static => STATIC_NODES,
                PolicyFlags::Relative => RELATIVE_NODES,
                PolicyFlags::Balancing => NUMA_BALANCING,
            }
    }

    fn from_raw(mode: i32, words: Vec<u64>) -> Option<NodePolicy> {
        let flags = match mode & (STATIC_NODES | RELATIVE_NODES | NUMA_BALANCING) {
            0 => PolicyFlags::Follow,
            STATIC_NODES => PolicyFlags::Static,
            RELATIVE_NODES => PolicyFlags::Relative,
            _ => PolicyFlags::Balancing,
        };
        let mode = match mode & !(STATIC_NODES | RELATIVE_NODES | NUMA_BALANCING) {
            0 => PolicyMode::Default,
            1 => PolicyMode::Preferred,
            2 => PolicyMode::Bind,
            3 => PolicyMode::Interleave,
            4 => PolicyMode::Local,
            5 => PolicyMode::PreferredMany,
            6 => PolicyMode::WeightedInterleave,
            _ => return None,
        };
        Some(NodePolicy { mode, flags, nodes: NodeSet::from_words(words) })
    }
}

impl core::fmt::Display for NodePolicy {
    /// As /proc/PID/numa_maps writes it: `bind:0-1`, `interleave=static:0,2`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self.mode {
            PolicyMode::Default => "default",
            PolicyMode::Preferred => "prefer",
            PolicyMode::Bind => "bind",
            PolicyMode::Interleave => "interleave",
            PolicyMode::Local => "local",
            PolicyMode::PreferredMany => "prefer (many)",
            PolicyMode::WeightedInterleave => "weighted interleave",
        })?;
        f.write_str(match self.flags {
            PolicyFlags::Follow => "",
            PolicyFlags::Static => "=static",
            PolicyFlags::Relative => "=relative",
            PolicyFlags::Balancing => "=balancing",
        })?;
        if self.nodes.is_empty() { Ok(()) } else { write!(f, ":{}", self.nodes) }
    }
}

/// Gives the calling thread a policy for what it touches from now on; children inherit it, also over execve.
/// # Errors  `EINVAL` for a node that is not there or not allowed, for nodes with a mode that takes none, and for a
/// mode that this kernel does not have; `EPERM` under a seccomp filter (containers).
/// Source: set_mempolicy(2), Linux 2.6.7.
pub fn set_thread_policy(policy: &NodePolicy) -> Result<(), SysError> {
    let words = row(&policy.nodes);
    let (row, bits) = optional_row(policy, &words);
    // SAFETY: the kernel reads at most `bits` bits from the row, which `words` holds; or no row and no bits.
    let answer = unsafe { libc::syscall(libc::SYS_set_mempolicy, policy.raw_mode(), row, bits) };
    checked(answer, "set_mempolicy", || format!("the calling thread with {policy}"))?;
    Ok(())
}

/// The calling thread's policy.
/// # Errors  `EPERM` under a seccomp filter.
/// Source: get_mempolicy(2), Linux 2.6.7.
pub fn thread_policy() -> Result<NodePolicy, SysError> {
    get_policy(0, 0, || "the calling thread".to_owned())
}

/// The policy that rules at an address of the calling process.
/// # Errors  `EFAULT` where nothing is mapped; `EPERM` under a seccomp filter.
/// Source: get_mempolicy(2), MPOL_F_ADDR, Linux 2.6.7.
pub fn policy_at(address: usize) -> Result<NodePolicy, SysError> {
    get_policy(address, GET_ADDRESS, || format!("address {address:#x}"))
}

/// The nodes that the calling thread may have memory of, by its cpuset.
/// # Errors  `EPERM` under a seccomp filter, `EINVAL` before Linux 2.6.24.
/// Source: get_mempolicy(2), MPOL_F_MEMS_ALLOWED.
pub fn allowed_nodes() -> Result<NodeSet, SysError> {
    get_policy(0, GET_ALLOWED, || "the calling thread's allowed nodes".to_owned()).map(|policy| policy.nodes)
}

fn get_policy(
    address: usize,
    flags: libc::c_ulong,
    object: impl Fn() -> String,
) -> Result<NodePolicy, SysError> {
    let mut mode = 0_i32;
    let mut words = vec![0_u64; NODE_WORDS];
    // The kernel refuses a place for the mode only for the allowed nodes, where it would say nothing.
    let mode_place = if flags == GET_ALLOWED { core::ptr::null_mut() } else { &raw mut mode };
    // SAFETY: the kernel writes one int, and at most the given bits (one less, in fact) into `words`.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            mode_place,
            words.as_mut_ptr(),
            max_node(NODE_WORDS) - 1,
            address,
            flags,
        )
    };
    checked(answer, "get_mempolicy", &object)?;
    NodePolicy::from_raw(mode, words).ok_or_else(|| SysError {
        call: "get_mempolicy",
        object: format!("{}: mode {mode} is unknown here", object()),
        errno: Errno::EINVAL,
    })
}

/// The node that the calling thread's interleaving takes next.
/// # Errors  `EINVAL` unless its policy interleaves; `EPERM` under a seccomp filter.
/// Source: get_mempolicy(2), MPOL_F_NODE, Linux 2.6.7.
pub fn next_interleaved_node() -> Result<NodeId, SysError> {
    let mut node = 0_i32;
    // SAFETY: the kernel writes one int; without a row of nodes it writes nothing else.
    let answer = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut node, core::ptr::null_mut::<u64>(), 0, 0, GET_NODE)
    };
    checked(answer, "get_mempolicy", || "the calling thread's next node".to_owned())?;
    Ok(NodeId(u16::try_from(node).unwrap_or(0)))
}

/// Gives a range of the calling process a policy, and moves what is there already as `moving` says. The range's ends
/// are cut to whole pages: the start down (it must be page aligned), the end up.
/// # Errors  `EINVAL` for a start off a page and as in [`set_thread_policy`]; `EFAULT` if part of the range is not
/// mapped; `EIO` if pages stayed elsewhere under `Check`, `Own`, `All`; `ENOMEM` when the policy would split the
/// mappings beyond vm.max_map_count; `EPERM` under a seccomp filter or for `All` without CAP_SYS_NICE.
/// Source: mbind(2), Linux 2.6.7.
pub fn bind_range(range: Range<usize>, policy: &NodePolicy, moving: MoveOnBind) -> Result<(), SysError> {
    let flags = match moving {
        MoveOnBind::Stay => 0,
        MoveOnBind::Check => BIND_STRICT,
        MoveOnBind::Own => BIND_STRICT | BIND_MOVE,
        MoveOnBind::All => BIND_STRICT | BIND_MOVE_ALL,
    };
    let words = row(&policy.nodes);
    let (row, bits) = optional_row(policy, &words);
    // SAFETY: mbind changes where pages are, never what is in them; the kernel reads the row as above.
    let answer = unsafe {
        libc::syscall(libc::SYS_mbind, range.start, range.len(), policy.raw_mode(), row, bits, flags)
    };
    checked(answer, "mbind", || format!("{:#x}-{:#x} with {policy}", range.start, range.end))?;
    Ok(())
}

/// Names the node to be served from first among the nodes that bind a range.
/// # Errors  `EINVAL` if the node is not there, `EOPNOTSUPP` if the range's policy is not bind or preferred-many;
/// `ENOSYS` before Linux 5.17.
/// Source: Documentation/admin-guide/mm/numa_memory_policy.rst, set_mempolicy_home_node.
pub fn set_home_node(range: Range<usize>, node: NodeId) -> Result<(), SysError> {
    // SAFETY: the call changes the preference of a policy, no memory.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy_home_node,
            range.start,
            range.len(),
            libc::c_ulong::from(node.0),
            0 as libc::c_ulong,
        )
    };
    checked(answer, "set_mempolicy_home_node", || {
        format!("{:#x}-{:#x} with node {node}", range.start, range.end)
    })?;
    Ok(())
}

/// The row and its bits for a policy, or none where the mode takes none.
fn optional_row(policy: &NodePolicy, words: &[u64]) -> (*const u64, libc::c_ulong) {
    if policy.nodes.is_empty() { (core::ptr::null(), 0) } else { (words.as_ptr(), max_node(words.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, MappingOptions};

    #[test]
    fn a_threads_policy_is_read_back() {
        std::thread::spawn(|| {
            let allowed = allowed_nodes().unwrap();
            let bind = NodePolicy::new(PolicyMode::Bind, allowed.clone());
            set_thread_policy(&bind).unwrap();
            assert_eq!(thread_policy().unwrap(), bind);
            set_thread_policy(&NodePolicy::none()).unwrap();
            assert_eq!(thread_policy().unwrap(), NodePolicy::none());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_ranges_policy_is_read_back_at_its_addresses() {
        let mapping = Mapping::anonymous(&MappingOptions::new(8 * crate::page_size())).unwrap();
        let first = allowed_nodes().unwrap().first().unwrap();
        let bind = NodePolicy::new(PolicyMode::Bind, [first].into_iter().collect());
        bind_range(mapping.range(), &bind, MoveOnBind::Own).unwrap();
        assert_eq!(policy_at(mapping.range().start).unwrap(), bind);
    }

    #[test]
    fn a_node_that_is_not_there_is_refused() {
        let mapping = Mapping::anonymous(&MappingOptions::new(crate::page_size())).unwrap();
        let absent = NodePolicy::new(PolicyMode::Bind, [NodeId(1023)].into_iter().collect());
        let error = bind_range(mapping.range(), &absent, MoveOnBind::Stay).unwrap_err();
        assert_eq!(error.errno, Errno::EINVAL);
        assert!(error.to_string().ends_with("with bind:1023: EINVAL (Invalid argument)"), "{error}");
    }
}
