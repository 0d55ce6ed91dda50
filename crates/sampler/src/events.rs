//! The kernel's events for a recording: one per cpu for a program that we start, one per thread and cpu for one that runs.
//!
//! All events of a cpu write into one ring, so that the locked memory does not grow with the threads. An event for a
//! program that we start is opened on the thread that starts it and counts from the program's exec on: it is passed on
//! to the program and all that come of it, and never counts for us.

use crate::SamplerError;
use crate::record::Layout;
use olifant_sys::perf::{Event, EventAttributes, Flags, Ring, SampleFields};
use olifant_sys::{Errno, Pid, Root, SysError, Tid, procfs};

/// Pages of a ring that an unprivileged user may lock per cpu: 512 KiB of /proc/sys/kernel/perf_event_mlock_kb's 516.
const RING_PAGES: usize = 128;

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// The program that this thread starts next.
    Next,
    /// A process that runs.
    Running(Pid),
}

/// Open events with their rings.
#[derive(Debug)]
pub struct Events {
    rings: Vec<Ring>,
    // Kept open: an event ends when it is closed.
    events: Vec<Event>,
    layout: Layout,
}

/// Flags of an event that also tells what happens to threads and mappings.
fn telling(attributes: EventAttributes) -> EventAttributes {
    attributes
        .flagged(Flags::MMAP | Flags::MMAP_DATA | Flags::MMAP2 | Flags::COMM | Flags::COMM_EXEC | Flags::TASK)
}

impl Events {
    /// Opens `attributes` for what is watched, on each of `cpus`.
    /// # Errors  `Refused` says what the kernel wants; `NoProcess`.
    pub fn open(attributes: EventAttributes, watched: Watched, cpus: &[u32]) -> Result<Events, SamplerError> {
        let attributes = telling(attributes)
            .flagged(Flags::INHERIT | Flags::SAMPLE_ID_ALL | Flags::DISABLED)
            .on_monotonic_clock();
        let attributes = match watched {
            Watched::Next => attributes.flagged(Flags::ENABLE_ON_EXEC),
            Watched::Running(_) => attributes,
        };
        let mut events = Events { rings: Vec::new(), events: Vec::new(), layout: layout(&attributes) };
        let threads = match watched {
            Watched::Next => vec![Tid::CALLING],
            Watched::Running(process) => threads_of(process)?,
        };
        for cpu in cpus {
            events.open_on(&attributes, &threads, *cpu, watched)?;
        }
        if let Watched::Running(process) = watched {
            events.switch(true);
            // Threads that began while the events were opened are children of ones that had none yet.
            let later: Vec<Tid> =
                threads_of(process)?.into_iter().filter(|thread| !threads.contains(thread)).collect();
            for cpu in cpus {
                events.open_on(&attributes, &later, *cpu, watched)?;
            }
            events.switch(true);
        }
        Ok(events)
    }

    fn open_on(
        &mut self,
        attributes: &EventAttributes,
        threads: &[Tid],
        cpu: u32,
        watched: Watched,
    ) -> Result<(), SamplerError> {
        let mut first: Option<usize> = None;
        for thread in threads {
            let event = match Event::open(attributes, *thread, Some(cpu)) {
                Ok(event) => event,
                // It ended meanwhile.
                Err(error) if error.errno == Errno::ESRCH => continue,
                Err(error) => return Err(refused(watched, &error)),
            };
            match first {
                Some(first) => {
                    event.write_into(&self.events[first]).map_err(|error| refused(watched, &error))?
                }
                None => {
                    self.rings.push(Ring::map(&event, RING_PAGES).map_err(|error| refused(watched, &error))?);
                    first = Some(self.events.len());
                }
            }
            self.events.push(event);
        }
        Ok(())
    }

    /// Begins or stops to count.
    pub fn switch(&self, is_on: bool) {
        for event in &self.events {
            // Neither can fail for an open event.
            let _ = if is_on { event.enable() } else { event.disable() };
        }
    }

    /// Shows all new records.
    pub fn drain(&mut self, mut visit: impl FnMut(&[u8], &Layout)) {
        for ring in &mut self.rings {
            ring.drain(|record| visit(record, &self.layout));
        }
    }
}

/// The layout of the records of an event.
fn layout(attributes: &EventAttributes) -> Layout {
    Layout {
        sample: attributes.sample_fields(),
        user_registers: attributes.user_registers(),
        has_sample_id: true,
        ..Layout::default()
    }
}

fn threads_of(process: Pid) -> Result<Vec<Tid>, SamplerError> {
    match procfs::tasks(&Root::default(), process) {
        Ok(tasks) if tasks.is_empty() => Err(SamplerError::NoProcess(process.0)),
        Ok(tasks) => Ok(tasks.into_iter().map(|task| task.thread).collect()),
        Err(error) if error.is_gone() => Err(SamplerError::NoProcess(process.0)),
        Err(error) => Err(error.into()),
    }
}

/// What a refusal means, and what would help.
fn refused(watched: Watched, error: &SysError) -> SamplerError {
    let object = match watched {
        Watched::Next => "the program".to_owned(),
        Watched::Running(process) => format!("process {process}"),
    };
    let reason = match (error.call, error.errno) {
        ("mmap", Errno::EPERM) => {
            "no more memory may be locked: raise /proc/sys/kernel/perf_event_mlock_kb to 516 or more, or end other \
             recordings"
                .to_owned()
        }
        (_, Errno::EACCES | Errno::EPERM) => format!(
            "{error}: it must be your own process, /proc/sys/kernel/perf_event_paranoid 2 or less (it is {}), and no \
             container's filter may forbid perf_event_open; root may always",
            paranoia()
        ),
        (_, Errno::ENOSYS | Errno::ENOENT | Errno::ENODEV | Errno::EOPNOTSUPP) => {
            format!("{error}: the kernel needs CONFIG_PERF_EVENTS and, for registers, CONFIG_HAVE_PERF_REGS")
        }
        (_, Errno::EMFILE) => {
            format!("{error}: raise the limit of open files (ulimit -n); each thread needs one per cpu")
        }
        _ => error.to_string(),
    };
    SamplerError::Refused { object, reason }
}

fn paranoia() -> String {
    let text = Root::default().text("proc/sys/kernel/perf_event_paranoid");
    text.map_or_else(|_| "unreadable".to_owned(), |text| text.trim().to_owned())
}

/// The samples that say where a thread is and what its registers hold, `period_ns` of its running time apart.
pub fn of_registers(period_ns: u64) -> EventAttributes {
    EventAttributes::cpu_clock()
        .every(period_ns)
        .with(
            SampleFields::IP
                | SampleFields::TID
                | SampleFields::TIME
                | SampleFields::CPU
                | SampleFields::REGS_USER,
        )
        .with_user_registers(crate::registers::SAMPLED)
        .flagged(Flags::EXCLUDE_KERNEL | Flags::EXCLUDE_HYPERVISOR)
}
