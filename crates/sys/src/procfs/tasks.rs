//! /proc/PID/task: the threads of a process, their names and where they ran last.
//!
//! Source: proc_pid_task(5); proc_pid_stat(5), fields 2 (name), 3 (state) and 39 (processor, Linux 2.2.8). A thread
//! that ends while the list is read is left out.

use super::directory;
use crate::{Pid, ReadError, Root, Tid};
use olifant_machine::CpuId;

/// One thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its number.
    pub thread: Tid,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// `R` running, `S` sleeping, `D` waiting for a device, `Z` ended, ...
    pub state: char,
    /// The cpu that it ran on last.
    pub cpu: CpuId,
}

/// The threads of a process, ascending by number: the first is the one that started it.
/// # Errors  [`ReadError`]; `is_gone` if there is no such process.
pub fn tasks(root: &Root, process: Pid) -> Result<Vec<Task>, ReadError> {
    let folder = format!("{}/task", directory(process));
    let path = root.path(&folder);
    let unreadable = |source| ReadError::Unreadable { path: path.clone(), source };
    let mut tasks = Vec::new();
    for entry in std::fs::read_dir(&path).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let file = format!("{folder}/{number}/stat");
        match root.text(&file) {
            Ok(text) => {
                let task = parse(Tid(number), &text);
                tasks.push(task.ok_or_else(|| root.malformed(&file, 1, "expected at least 39 fields"))?);
            }
            Err(error) if error.is_gone() => {}
            Err(error) => return Err(error),
        }
    }
    tasks.sort_by_key(|task| task.thread);
    Ok(tasks)
}

fn parse(thread: Tid, text: &str) -> Option<Task> {
    // The name may hold blanks and parentheses, so the last parenthesis ends it.
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let cpu = fields.nth(39 - 3 - 1)?.parse().ok()?;
    Some(Task { thread, name: name.to_owned(), state, cpu: CpuId(cpu) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_is_among_the_tasks() {
        let tasks = tasks(&Root::default(), Pid::CALLING).unwrap();
        assert!(tasks.iter().any(|task| task.thread == Tid::own() && task.state == 'R'), "{tasks:?}");
    }

    #[test]
    fn a_name_with_blanks_and_parentheses_is_read_whole() {
        let numbers: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
        let task = parse(Tid(7), &format!("7 (a) b (c)) S {}", numbers.join(" "))).unwrap();
        assert_eq!(task, Task { thread: Tid(7), name: "a) b (c)".into(), state: 'S', cpu: CpuId(39) });
        assert_eq!(parse(Tid(7), "7 (short) S 1 2 3"), None);
    }
}
