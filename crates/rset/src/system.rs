//! The machine as found, with what of it this process may use: where every call starts.

use crate::error::Result;
use crate::registry::Registry;
use olifant_host::{device_nodes, find_hierarchy};
use olifant_machine::{CpuId, NodeId, NodeSet};
use olifant_placement::{DeviceKind, Hierarchy, Lookup, ResourceSet, SetReader};
use olifant_sys::{Pid, Root, procfs};
use std::sync::{Arc, OnceLock};

/// A machine and its registry of named sets. A clone is the same one, and costs nothing.
#[derive(Debug, Clone)]
pub struct System(Arc<Found>);

#[derive(Debug)]
struct Found {
    root: Root,
    hierarchy: Hierarchy,
    registry: Registry,
}

impl System {
    /// The running machine, as it is now; cpus that come or go later are not seen.
    /// # Errors  [`crate::Error::Host`] where sysfs cannot be read.
    pub fn find() -> Result<System> {
        System::find_below(Root::default(), Registry::standard())
    }

    /// The machine whose /proc and /sys are below `root`.
    /// # Errors  [`crate::Error::Host`] where sysfs cannot be read.
    pub fn find_below(root: Root, registry: Registry) -> Result<System> {
        let hierarchy = find_hierarchy(&root)?;
        Ok(System(Arc::new(Found { root, hierarchy, registry })))
    }

    /// The running machine with resources that somebody has found before, so that this costs nothing.
    pub fn of_hierarchy(hierarchy: Hierarchy) -> System {
        System(Arc::new(Found { root: Root::default(), hierarchy, registry: Registry::standard() }))
    }

    /// The running machine, found once for the process.
    /// # Errors  [`crate::Error::Host`] where sysfs cannot be read; the next call tries again.
    pub fn own() -> Result<&'static System> {
        static OWN: OnceLock<System> = OnceLock::new();
        if let Some(system) = OWN.get() {
            return Ok(system);
        }
        let found = System::find()?;
        Ok(OWN.get_or_init(|| found))
    }

    /// Where its files are.
    pub fn root(&self) -> &Root {
        &self.0.root
    }

    /// Its resources by level; the global set is `hierarchy().system()`.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.0.hierarchy
    }

    /// Its named sets.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// What the calling process may use: its cpus and its nodes with memory. Asked anew each time, as a cpuset can
    /// change under a running process.
    /// # Errors  [`crate::Error::Read`] where /proc cannot be read.
    pub fn allowed(&self) -> Result<ResourceSet> {
        let status = procfs::status(&self.0.root, Pid::CALLING)?;
        let allowed = ResourceSet::new(status.cpus_allowed, status.nodes_allowed);
        Ok(allowed.intersection(self.0.hierarchy.system()))
    }

    /// The set that a text of any form means (see the placement crate's `set_text`).
    /// # Errors  [`crate::Error::Text`] points at the character.
    pub fn parse(&self, text: &str) -> Result<ResourceSet> {
        let allowed = self.allowed()?;
        Ok(SetReader { hierarchy: &self.0.hierarchy, allowed: &allowed, lookup: self }.set(text)?)
    }

    /// The cpu and node of the calling thread at this moment.
    /// # Errors  [`crate::Error::Refused`] where the kernel does not tell.
    pub fn here(&self) -> Result<(CpuId, NodeId)> {
        let found = olifant_sys::current_cpu_and_node();
        found.map_err(|error| self.refusal("find the calling thread's cpu", error, None))
    }

    /// The nodes of `within` that are nearest to the calling thread and have memory.
    /// # Errors  As [`System::here`].
    pub fn local_memory(&self, within: &NodeSet) -> Result<NodeSet> {
        let (_, node) = self.here()?;
        Ok(self.0.hierarchy.nearest_memory(node, within))
    }
}

impl Lookup for System {
    fn named(&self, name: &str) -> core::result::Result<ResourceSet, String> {
        self.0.registry.get(name).map(|entry| entry.set).map_err(|error| error.to_string())
    }

    fn device(&self, kind: DeviceKind, name: &str) -> core::result::Result<NodeSet, String> {
        device_nodes(&self.0.root, kind, name).map_err(|error| error.to_string())
    }
}
