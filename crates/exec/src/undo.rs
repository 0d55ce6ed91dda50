//! What it takes to undo a move: where pages were and where threads might run, written down before anything moves.
//!
//! The file is JSON: a format line, the process with its start time (so that a later process of the same number is not
//! taken for it), pages as runs of (address, count, node) and threads with their cpus. It is written beside its place
//! and renamed over it.

use crate::ExecError;
use crate::snapshot::gone;
use olifant_machine::{CpuSet, NodeId};
use olifant_sys::{Pid, Root, Tid, page_size};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const FORMAT: &str = "olifant undo 1";

/// Why an undo file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// It cannot be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no such file.
    #[error("{}: not an undo file of olifant move: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is of another process.
    #[error("the undo file is of process {file}, {problem}")]
    OtherProcess {
        /// The process in the file.
        file: i32,
        /// How it differs.
        problem: String,
    },
}

/// Where things were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    format: String,
    /// The process.
    pub process: i32,
    /// When it started, in clock ticks after boot.
    started: u64,
    /// Runs of pages on one node: first address, number of base pages, node.
    pub pages: Vec<(usize, usize, NodeId)>,
    /// Threads and the cpus that they might run on.
    pub threads: Vec<(i32, CpuSet)>,
}

impl Undo {
    /// Nothing noted yet of a process.
    /// # Errors  `Refused` if there is no such process.
    pub fn of(process: Pid) -> Result<Undo, ExecError> {
        let started = start_time(process)?;
        Ok(Undo {
            format: FORMAT.to_owned(),
            process: process.0,
            started,
            pages: Vec::new(),
            threads: Vec::new(),
        })
    }

    /// Notes a page; ascending addresses make short files.
    pub fn note_page(&mut self, address: usize, node: NodeId) {
        match self.pages.last_mut() {
            Some((start, count, last)) if *last == node && *start + *count * page_size() == address => {
                *count += 1
            }
            _ => self.pages.push((address, 1, node)),
        }
    }

    /// Notes a thread's cpus.
    pub fn note_thread(&mut self, thread: Tid, cpus: CpuSet) {
        self.threads.push((thread.0, cpus));
    }

    /// Writes the file.
    /// # Errors  `File`.
    pub fn write(&self, path: &Path) -> Result<(), UndoError> {
        let failed = |source| UndoError::File { path: path.to_owned(), source };
        let text = serde_json::to_string(self).map_err(|error| failed(error.into()))?;
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        std::fs::write(&beside, text).map_err(failed)?;
        std::fs::rename(&beside, path).map_err(failed)
    }

    /// Reads a file and makes sure that it is of this very process.
    /// # Errors  [`UndoError`].
    pub fn read(path: &Path, process: Pid) -> Result<Undo, UndoError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| UndoError::File { path: path.to_owned(), source })?;
        let malformed = |problem: String| UndoError::Malformed { path: path.to_owned(), problem };
        let undo: Undo = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if undo.format != FORMAT {
            return Err(malformed(format!("format {:?}, not {FORMAT:?}", undo.format)));
        }
        let other = |problem: String| UndoError::OtherProcess { file: undo.process, problem };
        if undo.process != process.0 {
            return Err(other(format!("not of {process}")));
        }
        match start_time(process) {
            Ok(started) if started == undo.started => Ok(undo),
            Ok(_) => Err(other("and that number now belongs to another one".to_owned())),
            Err(error) => Err(other(error.to_string())),
        }
    }
}

/// When a process started. Source: proc_pid_stat(5), field 22.
fn start_time(process: Pid) -> Result<u64, ExecError> {
    let root = Root::new("/");
    let file = format!("proc/{process}/stat");
    let text = root.text(&file).map_err(|error| gone(process, &error))?;
    // The name, in parentheses, may hold anything; field 3 follows the last one.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let started = fields.split_ascii_whitespace().nth(22 - 3).and_then(|field| field.parse().ok());
    started.ok_or_else(|| ExecError::Refused(format!("{file}: no start time in it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_runs_are_joined() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("undo");
        let mut undo = Undo::of(Pid::own()).unwrap();
        let page = page_size();
        for (place, node) in [(0, 0), (1, 0), (2, 1), (4, 1)] {
            undo.note_page(0x1000_0000 + place * page, NodeId(node));
        }
        undo.note_thread(Tid::own(), "0-3".parse().unwrap());
        assert_eq!(undo.pages.len(), 3);
        undo.write(&path).unwrap();
        assert_eq!(Undo::read(&path, Pid::own()).unwrap(), undo);
        assert!(matches!(Undo::read(&path, Pid(1)), Err(UndoError::OtherProcess { .. })));
    }

    #[test]
    fn a_later_process_of_the_same_number_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("undo");
        let mut undo = Undo::of(Pid::own()).unwrap();
        undo.started += 1;
        undo.write(&path).unwrap();
        let error = Undo::read(&path, Pid::own()).unwrap_err().to_string();
        assert!(error.contains("belongs to another one"), "{error}");
        std::fs::write(&path, "{}").unwrap();
        assert!(matches!(Undo::read(&path, Pid::own()), Err(UndoError::Malformed { .. })));
    }
}
