//! From the kernel's error number to the cause: the kernel says EINVAL where a cpuset forbids, a node is absent or has
//! no memory, and EPERM where a seccomp filter or ownership does; what the machine and /proc tell decides.

use crate::System;
use crate::error::{Cause, Error};
use olifant_machine::{CpuSet, NodeSet};
use olifant_placement::ResourceSet;
use olifant_sys::procfs::{self, SeccompMode};
use olifant_sys::{Errno, Pid, SysError};

impl System {
    /// The error for a system call that was refused while doing `action`, with `nodes` if it named some.
    pub(crate) fn refusal(
        &self,
        action: impl Into<String>,
        error: SysError,
        nodes: Option<&NodeSet>,
    ) -> Error {
        Error::refused(action, self.cause_of(error, nodes))
    }

    fn cause_of(&self, error: SysError, nodes: Option<&NodeSet>) -> Cause {
        if let Some(cause) = nodes.and_then(|nodes| self.why_not_nodes(nodes)) {
            return cause;
        }
        match error.errno {
            Errno::ESRCH => Cause::Gone,
            Errno::EPERM if self.is_filtered() && is_policy_call(error.call) => Cause::Seccomp,
            Errno::EPERM => Cause::NotOurs,
            Errno::ENOSYS if is_policy_call(error.call) => {
                // A filter may also answer that there is no such call; a kernel with several nodes has them all.
                if self.is_filtered() {
                    Cause::Seccomp
                } else {
                    Cause::Unsupported { what: error.call, needs: "a kernel with NUMA (CONFIG_NUMA)" }
                }
            }
            Errno::ENOMEM if error.call == "mbind" => {
                Cause::Limit { what: "mappings (sysctl vm.max_map_count)" }
            }
            Errno::ENOMEM if error.call == "mlock" => Cause::Limit { what: "locked memory (ulimit -l)" },
            Errno::ENOMEM if error.call == "mmap" => {
                Cause::Limit { what: "address space (ulimit -v, or sysctl vm.max_map_count)" }
            }
            _ => Cause::Kernel(error),
        }
    }

    /// Why memory of these nodes cannot be had, if the machine or a cpuset says so.
    pub(crate) fn why_not_nodes(&self, nodes: &NodeSet) -> Option<Cause> {
        let online: NodeSet = self.hierarchy().nodes().iter().map(|node| node.id).collect();
        let absent = nodes.difference(&online);
        if !absent.is_empty() {
            return Some(Cause::NotOnline {
                absent: ResourceSet::new(CpuSet::new(), absent),
                online: ResourceSet::new(CpuSet::new(), online),
            });
        }
        let with_memory = &self.hierarchy().system().nodes;
        let bare = nodes.difference(with_memory);
        if let Some(first) = bare.first() {
            let nearest = self.hierarchy().nearest_memory(first, with_memory);
            return Some(Cause::Memoryless { nodes: bare, nearest });
        }
        let allowed = self.allowed().ok()?.nodes;
        let outside = nodes.difference(&allowed);
        if outside.is_empty() {
            return None;
        }
        let cpuset = procfs::cpuset(self.root(), Pid::CALLING).ok().flatten();
        Some(Cause::NodesOutsideCpuset {
            outside,
            allowed,
            file: cpuset.and_then(|cpuset| cpuset.nodes_file),
        })
    }

    /// Why a thread of `process` did not get these cpus.
    pub(crate) fn why_not_cpus(&self, process: Pid, missing: &CpuSet, got: &CpuSet) -> Cause {
        let online = &self.hierarchy().system().cpus;
        let absent = missing.difference(online);
        if !absent.is_empty() {
            return Cause::NotOnline {
                absent: ResourceSet::new(absent, NodeSet::new()),
                online: ResourceSet::new(online.clone(), NodeSet::new()),
            };
        }
        let file = procfs::cpuset(self.root(), process).ok().flatten().and_then(|cpuset| cpuset.cpus_file);
        let limits: Option<CpuSet> =
            file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
        let allowed = limits.filter(|limits| !limits.is_empty()).unwrap_or_else(|| got.clone());
        Cause::CpusOutsideCpuset { outside: missing.clone(), allowed, file }
    }

    /// Whether a seccomp filter is on this process.
    fn is_filtered(&self) -> bool {
        let status = procfs::status(self.root(), Pid::CALLING);
        status.is_ok_and(|status| status.seccomp == Some(SeccompMode::Filter))
    }

    /// Memory of nodes that can be had at this moment, in bytes: free pages and those of files that the kernel would
    /// give up, less what it keeps for itself (vm.min_free_kbytes, twice, as reclaim starts above it).
    pub(crate) fn free_bytes(&self, nodes: &NodeSet) -> u64 {
        let kept = self.root().text("proc/sys/vm/min_free_kbytes").ok();
        let kept = kept.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0) * 2;
        let free = |node| {
            let text = self.root().text(format!("sys/devices/system/node/node{node}/meminfo")).ok()?;
            let value = |name: &str| {
                let line = text.lines().find(|line| line.contains(name))?;
                line.split_whitespace().nth_back(1)?.parse::<u64>().ok()
            };
            let given_up =
                ["Active(file):", "Inactive(file):", "SReclaimable:"].into_iter().filter_map(value);
            Some((value("MemFree:")? + given_up.sum::<u64>()).saturating_sub(kept))
        };
        nodes.iter().filter_map(free).map(|kilobytes| kilobytes * 1024).sum()
    }
}

/// The calls that default container filters refuse together.
fn is_policy_call(call: &str) -> bool {
    matches!(call, "mbind" | "set_mempolicy" | "get_mempolicy" | "move_pages" | "migrate_pages")
        || call == "set_mempolicy_home_node"
}
