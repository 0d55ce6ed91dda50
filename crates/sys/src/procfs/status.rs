//! /proc/PID/status: what a process may use, and how much it does.
//!
//! Source: proc_pid_status(5). Lines that a kernel does not have are `None`.

use super::directory;
use crate::{Pid, ReadError, Root, Tid};
use olifant_machine::{CpuSet, NodeSet};

/// What the kernel lets a process call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeccompMode {
    /// Everything.
    Off,
    /// Only reading, writing and leaving.
    Strict,
    /// What a filter lets through; containers have one.
    Filter,
}

/// What the status file says, as far as placement cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Command name, at most 15 bytes.
    pub name: String,
    /// The process of a thread.
    pub process: Pid,
    /// The cpus that it may run on.
    pub cpus_allowed: CpuSet,
    /// The nodes that it may have memory of.
    pub nodes_allowed: NodeSet,
    /// Filtering of system calls. Linux 3.8.
    pub seccomp: Option<SeccompMode>,
    /// Memory in use, in bytes; a kernel thread has none.
    pub resident_bytes: Option<u64>,
    /// Number of threads.
    pub threads: u64,
}

/// The status of a process.
/// # Errors  [`ReadError`]; `is_gone` if there is no such process.
pub fn status(root: &Root, process: Pid) -> Result<Status, ReadError> {
    read(root, format!("{}/status", directory(process)))
}

/// The status of one thread of a process.
/// # Errors  [`ReadError`]; `is_gone` if there is no such thread.
pub fn thread_status(root: &Root, process: Pid, thread: Tid) -> Result<Status, ReadError> {
    read(root, format!("{}/task/{thread}/status", directory(process)))
}

fn read(root: &Root, file: String) -> Result<Status, ReadError> {
    let text = root.text(&file)?;
    let find = |name: &str| {
        text.lines().enumerate().find_map(|(index, line)| {
            let value = line.strip_prefix(name)?.strip_prefix(':')?;
            Some((index + 1, value.trim()))
        })
    };
    let needed = |name: &str| find(name).ok_or_else(|| root.malformed(&file, 1, format!("no line {name:?}")));
    let number = |(line, text): (usize, &str)| {
        let digits = text.trim_end_matches("kB").trim_end();
        digits.parse::<u64>().map_err(|_| root.malformed(&file, line, format!("{text:?} is not a number")))
    };
    let (cpu_line, cpus) = needed("Cpus_allowed_list")?;
    let (node_line, nodes) = needed("Mems_allowed_list")?;
    let (process_line, process) = needed("Tgid")?;
    Ok(Status {
        name: needed("Name")?.1.to_owned(),
        process: process
            .parse()
            .map(Pid)
            .map_err(|_| root.malformed(&file, process_line, format!("{process:?} is not a process")))?,
        cpus_allowed: cpus.parse().map_err(|error| root.malformed(&file, cpu_line, format!("{error}")))?,
        nodes_allowed: nodes.parse().map_err(|error| root.malformed(&file, node_line, format!("{error}")))?,
        seccomp: match find("Seccomp").map(|(_, value)| value) {
            Some("0") => Some(SeccompMode::Off),
            Some("1") => Some(SeccompMode::Strict),
            Some(_) => Some(SeccompMode::Filter),
            None => None,
        },
        resident_bytes: find("VmRSS").map(number).transpose()?.map(|kilobytes| kilobytes * 1024),
        threads: number(needed("Threads")?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_process_agrees_with_the_system_calls() {
        let own = thread_status(&Root::default(), Pid::CALLING, Tid::own()).unwrap();
        assert_eq!(own.cpus_allowed, crate::affinity(Tid::CALLING).unwrap());
        assert_eq!(own.nodes_allowed, crate::allowed_nodes().unwrap());
        assert_eq!(own.process, Pid::own());
    }

    #[test]
    fn a_process_that_is_not_there_is_gone() {
        assert!(status(&Root::default(), Pid(i32::MAX)).unwrap_err().is_gone());
    }
}
