//! Binding threads and processes to a set.
//!
//! The kernel cuts affinity to the cpuset without a word, so each binding is read back; one that is not whole is undone
//! and refused with the cause. Memory can be bound for the calling thread only (set_mempolicy(2)); another process's
//! pages can be moved, see `process_memory`. Binding memory means that the thread's new pages come from the set's nodes,
//! nearest first, and from no other.

use crate::System;
use crate::error::{Cause, Error, Result};
use olifant_machine::{CpuSet, NodeSet};
use olifant_placement::ResourceSet;
use olifant_sys::procfs::{self, Task};
use olifant_sys::{
    NodePolicy, Pid, PolicyMode, Tid, affinity, set_affinity, set_thread_policy, thread_policy,
};

/// Where a thread may run and have memory from, as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The cpus.
    pub cpus: CpuSet,
    /// The nodes that its memory is bound to; `None` if it is not bound, or not the calling thread.
    pub nodes: Option<NodeSet>,
}

/// What came of binding a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessBinding {
    /// The threads that were bound.
    pub threads: Vec<Tid>,
    /// The cpus of all of them.
    pub cpus: CpuSet,
}

/// How often a process's threads are listed again while it makes new ones. A thread starts with the affinity of the
/// one that made it, so after each pass only children of threads not yet reached are unbound.
const PASSES: usize = 8;

impl System {
    /// Binds the calling thread to a set: it runs on the set's cpus only and its new memory comes from the set's nodes
    /// only. A set without nodes leaves memory as it is, one without cpus leaves cpus.
    /// # Errors  [`Error::Refused`] with the cause; then nothing has changed. An empty set is refused.
    pub fn bind_here(&self, set: &ResourceSet) -> Result<Binding> {
        let action = || format!("bind the calling thread to {set}");
        if set.is_empty() {
            return Err(Error::refused(action(), Cause::Empty { needs: "cpus and no memory" }));
        }
        let before = if set.nodes.is_empty() { None } else { Some(self.bind_memory_here(&set.nodes)?) };
        if !set.cpus.is_empty()
            && let Err(error) = self.bind_cpus(Pid::CALLING, Tid::CALLING, &set.cpus)
        {
            if let Some(before) = before {
                // It was this thread's policy a moment ago; if the kernel refuses it now, the first error says more.
                let _ = set_thread_policy(&before);
            }
            return Err(error);
        }
        self.binding_here()
    }

    /// Binds a running thread to the set's cpus.
    /// # Errors  [`Error::Refused`] with the cause; then the thread is bound as it was.
    pub fn bind_thread(&self, thread: Tid, set: &ResourceSet) -> Result<Binding> {
        let process = if thread == Tid::CALLING { Pid::CALLING } else { Pid(thread.0) };
        self.bind_cpus(process, thread, &set.cpus)?;
        self.binding(thread)
    }

    /// Binds all threads of a running process to the set's cpus, also those that it makes meanwhile.
    /// # Errors  [`Error::Refused`] with the cause; then all threads are bound as they were.
    pub fn bind_process(&self, process: Pid, set: &ResourceSet) -> Result<ProcessBinding> {
        let mut before: Vec<(Tid, CpuSet)> = Vec::new();
        for _ in 0..PASSES {
            let tasks = procfs::tasks(self.root(), process)?;
            let is_new = |task: &&Task| !before.iter().any(|(thread, _)| *thread == task.thread);
            let new: Vec<Tid> = tasks.iter().filter(is_new).map(|task| task.thread).collect();
            if new.is_empty() {
                break;
            }
            for thread in new {
                let old = affinity(thread);
                match old.map_err(|error| self.refusal(format!("bind thread {thread}"), error, None)) {
                    Ok(old) => before.push((thread, old)),
                    Err(error) if matches!(error.cause(), Some(Cause::Gone)) => continue,
                    Err(error) => return Err(undo(&before, error)),
                }
                match self.bind_cpus(process, thread, &set.cpus) {
                    Err(error) if matches!(error.cause(), Some(Cause::Gone)) => {
                        before.pop();
                    }
                    Err(error) => return Err(undo(&before, error)),
                    Ok(()) => {}
                }
            }
        }
        let threads: Vec<Tid> = before.into_iter().map(|(thread, _)| thread).collect();
        Ok(ProcessBinding { threads, cpus: set.cpus.clone() })
    }

    /// The calling thread's binding, as the kernel has it.
    /// # Errors  [`Error::Refused`] where the kernel does not tell.
    pub fn binding_here(&self) -> Result<Binding> {
        let mut binding = self.binding(Tid::CALLING)?;
        let policy = thread_policy();
        let policy = policy.map_err(|error| self.refusal("read the calling thread's policy", error, None))?;
        binding.nodes = (policy.mode == PolicyMode::Bind).then_some(policy.nodes);
        Ok(binding)
    }

    /// The cpus of a running thread, as the kernel has them.
    /// # Errors  [`Error::Refused`] if there is no such thread.
    pub fn binding(&self, thread: Tid) -> Result<Binding> {
        let cpus = affinity(thread);
        let cpus =
            cpus.map_err(|error| self.refusal(format!("read the cpus of thread {thread}"), error, None))?;
        Ok(Binding { cpus, nodes: None })
    }

    /// Binds the calling thread's new memory; gives the policy that it had.
    fn bind_memory_here(&self, nodes: &NodeSet) -> Result<NodePolicy> {
        let action = || format!("bind memory to nodes {nodes}");
        if let Some(cause) = self.why_not_nodes(nodes) {
            return Err(Error::refused(action(), cause));
        }
        let refusal = |error| self.refusal(action(), error, Some(nodes));
        let before = thread_policy().map_err(refusal)?;
        set_thread_policy(&NodePolicy::new(PolicyMode::Bind, nodes.clone())).map_err(refusal)?;
        let now = thread_policy().map_err(refusal)?;
        if now.mode == PolicyMode::Bind && now.nodes == *nodes {
            return Ok(before);
        }
        let _ = set_thread_policy(&before);
        Err(Error::refused(action(), Cause::Unknown))
    }

    /// Sets and reads back; what is not whole is undone.
    fn bind_cpus(&self, process: Pid, thread: Tid, cpus: &CpuSet) -> Result<()> {
        let whose = match thread {
            Tid::CALLING => "the calling thread".to_owned(),
            Tid(number) => format!("thread {number}"),
        };
        let action = || format!("bind {whose} to cpus {cpus}");
        if cpus.is_empty() {
            return Err(Error::refused(format!("bind {whose}"), Cause::Empty { needs: "cpus" }));
        }
        let before = affinity(thread).map_err(|error| self.refusal(action(), error, None))?;
        if let Err(error) = set_affinity(thread, cpus) {
            // EINVAL: not one of the cpus is allowed, so all of them are in the way.
            if error.errno == olifant_sys::Errno::EINVAL {
                return Err(Error::refused(action(), self.why_not_cpus(process, cpus, &before)));
            }
            return Err(self.refusal(action(), error, None));
        }
        let now = affinity(thread).map_err(|error| self.refusal(action(), error, None))?;
        if now == *cpus {
            return Ok(());
        }
        let cause = self.why_not_cpus(process, &cpus.difference(&now), &now);
        let error = Error::refused(action(), cause);
        Err(undo(&[(thread, before)], error))
    }
}

/// Gives threads their cpus back. One that ended meanwhile, or lost cpus to a cpuset that just changed, cannot be put
/// back, and the error that led here says more than that.
fn undo(before: &[(Tid, CpuSet)], error: Error) -> Error {
    for (thread, cpus) in before {
        let _ = set_affinity(*thread, cpus);
    }
    error
}
