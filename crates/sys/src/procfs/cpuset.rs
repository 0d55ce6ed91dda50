//! The cpuset that a process is in: the control group that says which cpus and nodes it may use.
//!
//! Sources: cpuset(7), Documentation/admin-guide/cgroup-v2.rst (cpuset.cpus.effective, cpuset.mems.effective, Linux
//! 5.0). Read for messages: the limits themselves are in [`super::status`]. Both versions are looked for where they are
//! usually mounted.

use super::directory;
use crate::{Pid, ReadError, Root};
use std::path::PathBuf;

/// A cpuset by its name, and the files that set its limits, where they are to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpuset {
    /// The control group's path within its hierarchy, `/` for the root.
    pub path: String,
    /// The file that limits cpus.
    pub cpus_file: Option<PathBuf>,
    /// The file that limits nodes.
    pub nodes_file: Option<PathBuf>,
}

/// The cpuset of a process, or `None` where the kernel has no cpusets.
/// # Errors  [`ReadError`]; `is_gone` if there is no such process.
pub fn cpuset(root: &Root, process: Pid) -> Result<Option<Cpuset>, ReadError> {
    let file = format!("{}/cgroup", directory(process));
    let text = match root.text(&file) {
        Ok(text) => text,
        Err(error) if error.is_gone() => {
            // No such process, or no control groups in this kernel: the process's status tells which.
            root.text(format!("{}/status", directory(process)))?;
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let lines = || {
        text.lines().filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            rest.split_once(':')
        })
    };
    // Version 1 names its controllers; version 2's line is "0::/path" and counts if cpuset is not a version 1 one.
    let version_1 = lines().find(|(controllers, _)| controllers.split(',').any(|name| name == "cpuset"));
    let (path, folders, suffix) = match version_1 {
        Some((_, path)) => (path, ["sys/fs/cgroup/cpuset", "dev/cpuset"], ""),
        None => match lines().find(|(controllers, _)| controllers.is_empty()) {
            Some((_, path)) => (path, ["sys/fs/cgroup", "sys/fs/cgroup/unified"], ".effective"),
            None => return Ok(None),
        },
    };
    let find = |name: &str| {
        folders.iter().find_map(|folder| {
            // A group without the controller enabled is ruled by the nearest one above that has the file.
            let mut group = path.trim_end_matches('/');
            loop {
                let candidate = root.path(format!("{folder}{group}/{name}{suffix}"));
                if candidate.exists() {
                    return Some(candidate);
                }
                group = &group[..group.rfind('/')?];
            }
        })
    };
    Ok(Some(Cpuset {
        path: path.to_owned(),
        cpus_file: find("cpuset.cpus"),
        nodes_file: find("cpuset.mems"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::new(folder.path());
        (folder, root)
    }

    #[test]
    fn version_2_is_ruled_by_the_nearest_group_with_the_controller() {
        let (_folder, root) = tree(&[
            ("proc/7/cgroup", "0::/batch/job\n"),
            ("sys/fs/cgroup/batch/job/cgroup.procs", ""),
            ("sys/fs/cgroup/batch/cpuset.mems.effective", "0\n"),
        ]);
        let found = cpuset(&root, Pid(7)).unwrap().unwrap();
        assert_eq!(found.path, "/batch/job");
        assert_eq!(found.nodes_file, Some(root.path("sys/fs/cgroup/batch/cpuset.mems.effective")));
        assert_eq!(found.cpus_file, None);
    }

    #[test]
    fn version_1_is_found_by_its_controller() {
        let (_folder, root) = tree(&[
            ("proc/7/cgroup", "4:cpu,cpuset:/a\n0::/other\n"),
            ("sys/fs/cgroup/cpuset/a/cpuset.cpus", "0-3\n"),
        ]);
        let found = cpuset(&root, Pid(7)).unwrap().unwrap();
        assert_eq!(found.cpus_file, Some(root.path("sys/fs/cgroup/cpuset/a/cpuset.cpus")));
    }

    #[test]
    fn a_process_that_is_not_there_is_gone() {
        let (_folder, root) = tree(&[("proc/8/status", "")]);
        assert!(cpuset(&root, Pid(7)).unwrap_err().is_gone());
        assert_eq!(cpuset(&root, Pid(8)).unwrap(), None);
    }
}
