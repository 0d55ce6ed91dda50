//! The running system as a [`World`]. What is asked for is read once, and only when it is asked for: starting a program
//! must cost little.

use crate::{ExecError, World};
use olifant_machine::{CpuSet, NodeId, NodeSet};
use olifant_placement::{DeviceKind, Hierarchy, Lookup, ResourceSet};
use olifant_sys::procfs::{SeccompMode, status};
use olifant_sys::{Errno, NodePolicy, Pid, Root, SysError, Tid};
use rset::System;
use std::cell::OnceCell;

/// The running system.
#[derive(Debug, Default)]
pub struct Host {
    root: Root,
    system: OnceCell<System>,
    allowed: OnceCell<ResourceSet>,
}

impl Host {
    /// The machine and its registry of sets.
    /// # Errors  `Refused` if it cannot be read.
    pub fn system(&self) -> Result<&System, ExecError> {
        if let Some(system) = self.system.get() {
            return Ok(system);
        }
        let system = System::find().map_err(|error| ExecError::Refused(error.to_string()))?;
        Ok(self.system.get_or_init(|| system))
    }

    /// What the refusal of a call means here: a filter of system calls, or a cpuset.
    fn refused(&self, what: &str, error: &SysError) -> ExecError {
        let status = status(&self.root, Pid::own()).ok();
        let is_filtered = status.as_ref().is_some_and(|status| status.seccomp == Some(SeccompMode::Filter));
        let cause = match error.errno {
            Errno::EPERM if is_filtered => {
                "a seccomp filter, as containers have one, forbids it: start the container with --cap-add SYS_NICE \
                 or a profile that allows memory policies"
                    .to_owned()
            }
            Errno::EINVAL | Errno::ENOSPC => match status {
                Some(status) => format!(
                    "not all of it is there or allowed by the cpuset (cpus {}, nodes {})",
                    status.cpus_allowed, status.nodes_allowed
                ),
                None => error.errno.to_string(),
            },
            _ => error.errno.to_string(),
        };
        ExecError::Refused(format!("{what}: {cause}"))
    }
}

impl World for Host {
    fn hierarchy(&self) -> Result<&Hierarchy, ExecError> {
        Ok(self.system()?.hierarchy())
    }

    fn allowed(&self) -> Result<&ResourceSet, ExecError> {
        if let Some(allowed) = self.allowed.get() {
            return Ok(allowed);
        }
        let status = status(&self.root, Pid::own()).map_err(|error| ExecError::Refused(error.to_string()))?;
        Ok(self.allowed.get_or_init(|| ResourceSet::new(status.cpus_allowed, status.nodes_allowed)))
    }

    fn lookup(&self) -> &dyn Lookup {
        self
    }

    fn cpus(&self) -> Result<CpuSet, ExecError> {
        olifant_sys::affinity(Tid::CALLING).map_err(|error| ExecError::Refused(error.to_string()))
    }

    fn run_on(&mut self, cpus: &CpuSet) -> Result<Option<String>, ExecError> {
        // What may be used is what it was before this narrowed it.
        self.allowed()?;
        olifant_sys::set_affinity(Tid::CALLING, cpus)
            .map_err(|error| self.refused(&format!("run on cpus {cpus}"), &error))?;
        let missing = cpus.difference(&self.cpus()?);
        Ok((!missing.is_empty()).then(|| format!("run on cpus {cpus}: the cpuset left out cpus {missing}")))
    }

    fn policy(&self) -> Result<NodePolicy, ExecError> {
        olifant_sys::thread_policy().map_err(|error| self.refused("read the memory policy", &error))
    }

    fn next_interleaved(&self) -> Result<NodeId, ExecError> {
        olifant_sys::next_interleaved_node().map_err(|error| self.refused("read the memory policy", &error))
    }

    fn use_policy(&mut self, policy: &NodePolicy) -> Result<(), ExecError> {
        olifant_sys::set_thread_policy(policy)
            .map_err(|error| self.refused(&format!("set memory policy {policy}"), &error))?;
        let now = self.policy()?;
        if now.mode == policy.mode && now.nodes == policy.nodes {
            return Ok(());
        }
        Err(ExecError::Refused(format!("set memory policy {policy}: the system made it {now}")))
    }

    fn memory_of(&self, node: NodeId) -> Result<(u64, u64), ExecError> {
        let file = format!("sys/devices/system/node/node{node}/meminfo");
        let text = self.root.text(&file).map_err(|error| ExecError::Refused(error.to_string()))?;
        let kilobytes = |name: &str| {
            let (_, value) = text.lines().find_map(|line| line.split_once(name))?;
            value.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()
        };
        let all = kilobytes("MemTotal:").zip(kilobytes("MemFree:"));
        let (total, free) =
            all.ok_or_else(|| ExecError::Refused(format!("{file}: no MemTotal and MemFree")))?;
        Ok((total * 1024, free * 1024))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl Lookup for Host {
    fn named(&self, name: &str) -> Result<ResourceSet, String> {
        self.system().map_err(|error| error.to_string())?.named(name)
    }

    fn device(&self, kind: DeviceKind, name: &str) -> Result<NodeSet, String> {
        self.system().map_err(|error| error.to_string())?.device(kind, name)
    }
}
