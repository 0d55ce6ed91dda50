//! Brings the kernel's records and the program's own words about its allocations into the order of time, and gives them
//! to the processes that they are of.

use crate::events::Events;
use crate::modules::Files;
use crate::process::{Process, Setting};
use crate::random::Random;
use crate::record::{self, Mapped, Record};
use olifant_heaplog::{Entry, Kind, Log};
use olifant_sys::{PageState, Pid, Root, monotonic_ns, page_states, procfs};
use std::collections::BTreeMap;

/// How long a record may be under way: one that is stamped may still be being written on another cpu.
const UNDER_WAY_NS: u64 = 10_000_000;
const NANOSECONDS: u64 = 1_000_000_000;

/// One thing that happened.
enum Happened {
    Recorded(Record),
    Told(Entry),
}

/// All processes of a recording.
pub struct Recorder<'a> {
    /// By number.
    pub processes: BTreeMap<i32, Process>,
    /// Records that the kernel dropped.
    pub lost: u64,
    /// Samples of processes that ended and are forgotten, as another had more.
    pub of_forgotten: u64,
    setting: Setting<'a>,
    has_many_nodes: bool,
    pending: Vec<(u64, Happened)>,
    files: Files,
    random: Random,
}

impl<'a> Recorder<'a> {
    /// A recorder that has seen nothing yet.
    pub fn new(setting: Setting<'a>, has_many_nodes: bool, seed: u64) -> Self {
        Recorder {
            processes: BTreeMap::new(),
            lost: 0,
            of_forgotten: 0,
            setting,
            has_many_nodes,
            pending: Vec::new(),
            files: Files::default(),
            random: Random::new(seed),
        }
    }

    /// What a running process has mapped and which threads it has.
    /// # Errors  if /proc cannot be read.
    pub fn look_at(&mut self, process: Pid) -> Result<(), olifant_sys::ReadError> {
        let root = Root::default();
        let known = self.processes.entry(process.0).or_default();
        for map in procfs::maps(&root, process)? {
            let (start, end) = (map.range.start as u64, map.range.end as u64);
            let mapped = Mapped {
                process: process.0,
                start,
                bytes: end - start,
                offset: map.offset,
                is_code: map.is_executable,
                name: map.name,
                time_ns: 0,
            };
            known.space.map(&mapped, &mut self.files);
        }
        for task in procfs::tasks(&root, process)? {
            known.name(task.thread.0, &task.name, monotonic_ns());
        }
        Ok(())
    }

    /// Takes what has come since the last time. `is_over`: nothing more is under way.
    pub fn take(&mut self, events: &mut Events, log: Option<&Log>, is_over: bool) {
        let until = if is_over { u64::MAX } else { monotonic_ns().saturating_sub(UNDER_WAY_NS) };
        events.drain(|bytes, layout| match record::parse(bytes, layout) {
            Some(Record::Lost(records)) => self.lost += records,
            Some(record) => self.pending.push((record.time_ns(), Happened::Recorded(record))),
            None => self.lost += 1,
        });
        while let Some(entry) = log.and_then(Log::take) {
            self.pending.push((entry.time_ns, Happened::Told(entry)));
        }
        // Stable: what one thread did at one time stays in its order.
        self.pending.sort_by_key(|(time, _)| *time);
        let ready = self.pending.partition_point(|(time, _)| *time <= until);
        let later = self.pending.split_off(ready);
        for (_, happened) in std::mem::replace(&mut self.pending, later) {
            match happened {
                Happened::Recorded(record) => self.apply(record),
                Happened::Told(entry) => self.listen(&entry),
            }
        }
        if self.has_many_nodes && !is_over {
            self.ask_homes();
        }
    }

    /// Takes one record; each must be of no earlier time than the one before.
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Sample(sample) => {
                let process = self.processes.entry(sample.process).or_default();
                if sample.address == 0 {
                    process.take_registers(&sample, &mut self.random, &mut self.files, &self.setting);
                } else {
                    process.take_address(&sample, &self.setting);
                }
            }
            Record::Mapped(mapped) => {
                self.processes.entry(mapped.process).or_default().space.map(&mapped, &mut self.files);
            }
            Record::Named { process, thread, name, is_exec, time_ns } => {
                let known = self.processes.entry(process).or_default();
                if is_exec {
                    known.exec();
                }
                known.name(thread, &name, time_ns);
            }
            Record::Began { process, parent, thread, time_ns } => {
                if process != parent
                    && let Some(forked) = self.processes.get(&parent).map(Process::forked)
                {
                    self.processes.insert(process, forked);
                }
                self.processes.entry(process).or_default().thread(thread, time_ns);
            }
            Record::Ended { process, thread, time_ns } => {
                if let Some(process) = self.processes.get_mut(&process) {
                    process.end(thread, time_ns);
                }
                if process == thread {
                    self.forget_ended(process);
                }
            }
            Record::Lost(_) | Record::Other => {}
        }
    }

    /// A process whose first thread ended counts no more if another has more samples: a program may start thousands, and
    /// only the busiest is told of.
    fn forget_ended(&mut self, process: i32) {
        let samples = self.processes.get(&process).map_or(0, |process| process.samples);
        let mut others = self.processes.iter().filter(|(number, _)| **number != process);
        let has_busier = others.any(|(_, other)| other.samples > samples || samples == 0);
        if has_busier {
            self.of_forgotten += samples;
            self.processes.remove(&process);
        }
    }

    fn listen(&mut self, entry: &Entry) {
        let process = self.processes.entry(entry.process).or_default();
        match entry.kind {
            Kind::Allocated => {
                let thread = process.thread(entry.thread, entry.time_ns);
                process.space.allocate(entry, thread);
            }
            Kind::Freed => process.space.free(entry.address, entry.time_ns),
        }
    }

    /// Asks where pages live that were met for the first time.
    fn ask_homes(&mut self) {
        for (number, process) in &mut self.processes {
            let pages: Vec<u64> =
                process.homes.iter().filter(|(_, home)| home.is_none()).map(|(page, _)| *page).collect();
            let addresses: Vec<usize> = pages.iter().filter_map(|page| usize::try_from(*page).ok()).collect();
            // A process that has ended has no pages; what is unknown then stays so.
            let Ok(states) = page_states(Pid(*number), &addresses) else { continue };
            for (page, state) in pages.iter().zip(states) {
                if let PageState::On(node) = state {
                    process.homes.insert(*page, Some(node.0));
                }
            }
        }
    }
}

/// A rate as the time between two samples.
pub fn period_ns(per_second: u32) -> u64 {
    NANOSECONDS / u64::from(per_second.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_starts_thousands_of_processes_is_remembered_and_they_are_not() {
        let setting = Setting { node_of: &|_| 0, home_of: &|_, _| None, granule_bytes: 4096 };
        let mut recorder = Recorder::new(setting, false, 0);
        let name = "server".to_owned();
        recorder.apply(Record::Named { process: 1, thread: 1, name, is_exec: true, time_ns: 1 });
        for process in 2..2000 {
            recorder.apply(Record::Began { process, parent: 1, thread: process, time_ns: 2 });
            recorder.apply(Record::Ended { process, thread: process, time_ns: 3 });
        }
        assert_eq!(recorder.processes.keys().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(recorder.processes[&1].threads[0].name, "server");
    }
}
