//! A perf.data file as a profile, and what it tells of where data came from.

use crate::data_source::{DataSource, Level};
use crate::perf_data::{self, PerfDataError};
use crate::profile::About;
use crate::record::Record;
use crate::recording::{Outcome, node_of, outcome, recorder};
use olifant_machine::Machine;
use std::collections::BTreeMap;
use std::path::Path;

/// What a file held.
#[derive(Debug)]
pub struct Imported {
    /// The profile of the process with the most samples; sites are not resolved.
    pub outcome: Outcome,
    /// Where data came from, nearest first; empty if the file does not tell.
    pub sources: Vec<SourceRow>,
    /// Samples without an address, which count for nothing.
    pub without_address: u64,
    /// Whether the weights mean something.
    pub has_weights: bool,
}

/// Accesses that found their data at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRow {
    /// The place.
    pub level: Level,
    /// On another node.
    pub is_remote: bool,
    /// Samples.
    pub samples: u64,
    /// Of those, the ones that also told their physical address.
    pub with_physical: u64,
    /// What such an access cost on average, in the processor's unit (cycles on x86).
    pub mean_weight: f64,
}

/// Reads the file at `path`, which was recorded on `machine`.
/// # Errors  [`PerfDataError`].
pub fn import(path: &Path, machine: &Machine, granule_bytes: u64) -> Result<Imported, PerfDataError> {
    let file = perf_data::read(path)?;
    let cpu_node = |cpu| node_of(machine, cpu);
    let home_of = |cpu, is_remote| {
        let own = node_of(machine, cpu);
        let mut others = machine.nodes.iter().map(|node| node.id.0).filter(|node| *node != own);
        match (is_remote, others.next(), others.next()) {
            (false, ..) => Some(own),
            (true, Some(other), None) => Some(other),
            // Remote says only that it is one of several others.
            (true, ..) => None,
        }
    };
    let mut recorder = recorder(machine, granule_bytes, 0, &cpu_node, &home_of);
    recorder.lost = file.lost;
    let times = || file.records.iter().map(Record::time_ns).filter(|time| *time > 0);
    let (begun_ns, ended_ns) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let mut sources: BTreeMap<(Level, bool), (u64, u64, u64)> = BTreeMap::new();
    let mut without_address = 0;
    for record in file.records {
        if let Record::Sample(sample) = &record {
            if sample.address == 0 || !sample.is_user {
                without_address += 1;
                continue;
            }
            if file.has_sources {
                let source = DataSource::decode(sample.data_source);
                let row = sources.entry((source.level, source.is_remote)).or_default();
                row.0 += 1;
                row.1 += u64::from(sample.physical != 0);
                row.2 = row.2.saturating_add(sample.weight);
            }
        }
        recorder.apply(record);
    }
    let about = About {
        machine,
        program: path.display().to_string(),
        arguments: Vec::new(),
        threads: "float".to_owned(),
        memory: "first-touch".to_owned(),
        seed: 0,
        granule_bytes,
        begun_ns,
        seconds: ended_ns.saturating_sub(begun_ns) as f64 / 1e9,
        exit_code: 0,
        is_complete: true,
    };
    let rows = sources.into_iter().map(|((level, is_remote), (samples, with_physical, weight))| SourceRow {
        level,
        is_remote,
        samples,
        with_physical,
        mean_weight: weight as f64 / samples as f64,
    });
    Ok(Imported {
        outcome: outcome(&recorder, 0, &about, None),
        sources: rows.collect(),
        without_address,
        has_weights: file.has_weights,
    })
}
