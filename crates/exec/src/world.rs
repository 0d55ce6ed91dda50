//! What the launcher finds and changes: the machine, and this process's own cpus and memory policy.

use crate::ExecError;
use olifant_machine::{CpuSet, NodeId};
use olifant_placement::{Hierarchy, Lookup, ResourceSet};
use olifant_sys::NodePolicy;

/// The system that this process is about to start a program on.
pub trait World {
    /// The machine.
    /// # Errors  `Refused` if it cannot be read.
    fn hierarchy(&self) -> Result<&Hierarchy, ExecError>;
    /// What this process may use: the cpus of its affinity, the memory that its cpuset allows.
    /// # Errors  `Refused`.
    fn allowed(&self) -> Result<&ResourceSet, ExecError>;
    /// Names of sets, and devices.
    fn lookup(&self) -> &dyn Lookup;
    /// The cpus that this process may run on now.
    /// # Errors  `Refused`.
    fn cpus(&self) -> Result<CpuSet, ExecError>;
    /// Lets this process run on these cpus only; reads back, and says which part the system left out.
    /// # Errors  `Refused` with the cause if none is left.
    fn run_on(&mut self, cpus: &CpuSet) -> Result<Option<String>, ExecError>;
    /// The memory policy now.
    /// # Errors  `Refused`.
    fn policy(&self) -> Result<NodePolicy, ExecError>;
    /// The node that the interleaving policy takes next.
    /// # Errors  `Refused`.
    fn next_interleaved(&self) -> Result<NodeId, ExecError>;
    /// Sets the memory policy.
    /// # Errors  `Refused` with the cause.
    fn use_policy(&mut self, policy: &NodePolicy) -> Result<(), ExecError>;
    /// Memory of a node in bytes: all of it, and what is free.
    /// # Errors  `Refused`.
    fn memory_of(&self, node: NodeId) -> Result<(u64, u64), ExecError>;
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
}
