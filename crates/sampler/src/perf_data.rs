//! A perf.data file: its events, and its records in the order of time.
//!
//! Source: tools/perf/Documentation/perf.data-file-format.txt of Linux. Read here rather than with an existing reader, as those
//! drop data sources and weights and trust the sizes in a file. Every size is checked against the file; what does not
//! fit is `Damaged`.

use crate::cursor::Cursor;
use crate::record::{self, Layout, Record};
use olifant_sys::perf::SampleFields;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A file that is no perf.data file, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PerfDataError {
    /// It is missing, or may not be read.
    #[error("{}: cannot read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{}: not a perf.data file ({reason})", path.display())]
    NotPerfData {
        /// The file.
        path: PathBuf,
        /// How it shows.
        reason: &'static str,
    },
    /// Its parts contradict each other, or it ends too early.
    #[error("{}: the file is cut off or damaged ({reason}): copy it again or repeat the recording", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        reason: String,
    },
    /// It has what this reader cannot use.
    #[error("{}: {reason}", path.display())]
    Unsuitable {
        /// The file.
        path: PathBuf,
        /// What it has or lacks, and what to do.
        reason: &'static str,
    },
}

/// A file's records.
#[derive(Debug)]
pub struct PerfData {
    /// In the order of time.
    pub records: Vec<Record>,
    /// Records that were lost when it was made.
    pub lost: u64,
    /// Some event tells what an access cost.
    pub has_weights: bool,
    /// Some event tells where data came from.
    pub has_sources: bool,
}

/// One event of the file.
#[derive(Debug, Default)]
struct FileEvent {
    layout: Layout,
    ids: Vec<u64>,
}

/// `PERF_RECORD_USER_TYPE_START`: records of perf itself.
const FIRST_OF_PERF: u32 = 64;
/// `PERF_RECORD_AUXTRACE`, followed by bytes that its size does not count.
const AUX_TRACE: u32 = 71;
/// `PERF_RECORD_COMPRESSED` and its successor.
const COMPRESSED: [u32; 2] = [81, 83];
/// The bit of the attributes that makes records end with thread and time.
const SAMPLE_ID_ALL: u64 = 1 << 18;

/// Reads the file.
/// # Errors  [`PerfDataError`].
pub fn read(path: &Path) -> Result<PerfData, PerfDataError> {
    let bytes =
        std::fs::read(path).map_err(|source| PerfDataError::Unreadable { path: path.to_owned(), source })?;
    parse(&bytes, path)
}

fn parse(bytes: &[u8], path: &Path) -> Result<PerfData, PerfDataError> {
    let foreign = |reason| PerfDataError::NotPerfData { path: path.to_owned(), reason };
    let damaged = |reason: String| PerfDataError::Damaged { path: path.to_owned(), reason };
    let unsuitable = |reason| PerfDataError::Unsuitable { path: path.to_owned(), reason };
    let short = || damaged("it ends within its header".to_owned());
    let mut head = Cursor(bytes);
    match head.bytes(8) {
        Some(b"PERFILE2") => {}
        Some(b"2ELIFREP") => return Err(unsuitable("made on a big-endian computer, which is not supported")),
        Some(b"PERFFILE") => return Err(unsuitable("made by a perf of before 2013: record it again")),
        _ => return Err(foreign("it does not begin with PERFILE2")),
    }
    let header_bytes = head.u64().ok_or_else(short)?;
    if header_bytes == 16 {
        return Err(unsuitable("made for a pipe: record to a file (perf record -o FILE)"));
    }
    let attribute_bytes = head.u64().ok_or_else(short)?;
    let mut section = || Some((head.u64()?, head.u64()?));
    let attributes = section().ok_or_else(short)?;
    let data = section().ok_or_else(short)?;
    let within = |(offset, size): (u64, u64), what: &str| {
        let from = usize::try_from(offset).ok();
        let end = offset.checked_add(size).and_then(|end| usize::try_from(end).ok());
        from.zip(end).and_then(|(from, end)| bytes.get(from..end)).ok_or_else(|| {
            damaged(format!("its {what} would be {size} bytes at {offset}, and it has {}", bytes.len()))
        })
    };
    let attributes = within(attributes, "attributes")?;
    let stride = usize::try_from(attribute_bytes).ok().filter(|stride| *stride >= 80);
    let stride = stride.ok_or_else(|| damaged(format!("attributes of {attribute_bytes} bytes")))?;
    let mut events = Vec::new();
    for attribute in attributes.chunks_exact(stride) {
        let (event, ids) = event(attribute).ok_or_else(|| damaged("an attribute is too short".to_owned()))?;
        let ids = within(ids, "event numbers")?;
        let ids = ids.chunks_exact(8).filter_map(|id| Cursor(id).u64()).collect();
        events.push(FileEvent { ids, ..event });
    }
    if events.is_empty() {
        return Err(damaged("it has no events".to_owned()));
    }
    if !events.iter().any(|event| event.layout.sample.has(SampleFields::ADDR)) {
        return Err(unsuitable(
            "no event tells the addresses of accesses: record with `perf mem record`, or `perf record -d` and an event \
             that knows them",
        ));
    }
    if !events.iter().all(|event| event.layout.sample.has(SampleFields::TID)) {
        return Err(unsuitable("an event does not tell its thread: record it again with that"));
    }
    let mut file = records(within(data, "data")?, &events, path)?;
    let has = |field| events.iter().any(|event| event.layout.sample.has(field));
    file.has_weights = has(SampleFields::WEIGHT) || has(SampleFields::WEIGHT_STRUCT);
    file.has_sources = has(SampleFields::DATA_SRC);
    Ok(file)
}

/// The layout of an event's records, and where its numbers are.
fn event(attribute: &[u8]) -> Option<(FileEvent, (u64, u64))> {
    let word = |at: usize| Cursor(attribute.get(at..)?).u64();
    let sample = SampleFields(word(24)?);
    let layout = Layout {
        sample,
        read_format: word(32)?,
        has_sample_id: word(40)? & SAMPLE_ID_ALL != 0,
        branches: word(72).unwrap_or(0),
        // Earlier versions of the attributes end before these; their place is taken by the section of numbers then.
        user_registers: if sample.has(SampleFields::REGS_USER) { word(80)? } else { 0 },
        interrupt_registers: if sample.has(SampleFields::REGS_INTR) { word(96)? } else { 0 },
    };
    let ids = attribute.len().checked_sub(16)?;
    Some((FileEvent { layout, ids: Vec::new() }, (word(ids)?, word(ids + 8)?)))
}

/// The records, sorted: perf writes each cpu's in turn.
fn records(mut data: &[u8], events: &[FileEvent], path: &Path) -> Result<PerfData, PerfDataError> {
    let damaged = |reason: String| PerfDataError::Damaged { path: path.to_owned(), reason };
    let by_id: HashMap<u64, usize> = events
        .iter()
        .enumerate()
        .flat_map(|(index, event)| event.ids.iter().map(move |id| (*id, index)))
        .collect();
    let whole = data.len();
    let mut file = PerfData { records: Vec::new(), lost: 0, has_weights: false, has_sources: false };
    let mut timed = Vec::new();
    while !data.is_empty() {
        let at = whole - data.len();
        let broken = || damaged(format!("the record at {at} of its data"));
        let mut head = Cursor(data);
        let (kind, _misc, size) = head
            .u32()
            .zip(head.u16())
            .zip(head.u16())
            .map(|((kind, misc), size)| (kind, misc, usize::from(size)))
            .ok_or_else(broken)?;
        let (record, rest) = data.split_at_checked(size).filter(|_| size >= 8).ok_or_else(broken)?;
        data = rest;
        if COMPRESSED.contains(&kind) {
            let reason = "compressed (perf record -z): record it again without";
            return Err(PerfDataError::Unsuitable { path: path.to_owned(), reason });
        }
        if kind == AUX_TRACE {
            let follow = Cursor(record.get(8..).unwrap_or_default()).u64().ok_or_else(broken)?;
            let follow = usize::try_from(follow).map_err(|_| broken())?;
            data = data.get(follow..).ok_or_else(broken)?;
        }
        if kind >= FIRST_OF_PERF {
            continue;
        }
        let layout = &events[index_of(record, kind, events, &by_id)].layout;
        match record::parse(record, layout).ok_or_else(broken)? {
            Record::Lost(count) => file.lost = file.lost.saturating_add(count),
            Record::Other => {}
            record => timed.push((record.time_ns(), record)),
        }
    }
    timed.sort_by_key(|(time, _)| *time);
    file.records = timed.into_iter().map(|(_, record)| record).collect();
    Ok(file)
}

/// The event that a record is of. With several, perf has each record tell its event's number: first in a sample, last in
/// any other.
fn index_of(record: &[u8], kind: u32, events: &[FileEvent], by_id: &HashMap<u64, usize>) -> usize {
    const SAMPLE: u32 = 9;
    if events.len() == 1 || !events[0].layout.sample.has(SampleFields::IDENTIFIER) {
        return 0;
    }
    let at = if kind == SAMPLE { Some(8) } else { record.len().checked_sub(8) };
    let id = at.and_then(|at| Cursor(record.get(at..)?).u64());
    id.and_then(|id| by_id.get(&id)).copied().unwrap_or(0)
}

#[cfg(test)]
#[path = "perf_data/tests.rs"]
mod tests;
