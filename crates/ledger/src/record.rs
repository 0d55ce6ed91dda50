//! Records: what one run gave, each in a file of its own named after the run's definition.
//!
//! A record is written beside its place and renamed, so it is there as a whole or not at all: whatever ends an
//! evaluation, the next one goes on with what was kept. What depends on the host stands apart, in `[provenance]`; the
//! ledger never reads it.

use crate::{LedgerError, RunDefinition};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What one run gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Hash over every counter and clock of the whole run.
    pub digest: String,
    /// Simulated seconds of the whole run.
    pub seconds: f64,
    /// Seconds of the part that the program times.
    pub program_seconds: Option<f64>,
    /// Accesses of the whole run, for the cost.
    pub accesses: u64,
    /// What was run.
    pub definition: RunDefinition,
    /// Counters of the part that the program times; of the whole run where it marks no part.
    pub counters: Counters,
    /// Figures that the program prints by name.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
    /// Where and when.
    pub provenance: Provenance,
}

/// Counters over the machine.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Loads and stores that reached the first-level cache.
    pub accesses: u64,
    /// First-level misses.
    pub l1_misses: u64,
    /// Second-level misses.
    pub l2_misses: u64,
    /// Permissions to write a line already held.
    pub upgrades: u64,
    /// Dirty lines written back.
    pub write_backs: u64,
    /// Transactions whose home is another node.
    pub remote_transactions: u64,
    /// Request packets on the network.
    pub request_packets: u64,
    /// Response packets on the network.
    pub response_packets: u64,
    /// Bytes on the network.
    pub network_bytes: u64,
    /// TLB misses.
    pub tlb_misses: u64,
}

impl Counters {
    /// Each counter of both, combined.
    pub(crate) fn combine(&self, other: &Counters, with: impl Fn(u64, u64) -> u64) -> Counters {
        Counters {
            accesses: with(self.accesses, other.accesses),
            l1_misses: with(self.l1_misses, other.l1_misses),
            l2_misses: with(self.l2_misses, other.l2_misses),
            upgrades: with(self.upgrades, other.upgrades),
            write_backs: with(self.write_backs, other.write_backs),
            remote_transactions: with(self.remote_transactions, other.remote_transactions),
            request_packets: with(self.request_packets, other.request_packets),
            response_packets: with(self.response_packets, other.response_packets),
            network_bytes: with(self.network_bytes, other.network_bytes),
            tlb_misses: with(self.tlb_misses, other.tlb_misses),
        }
    }
}

/// Where and when a run was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The day, as `2026-11-22`.
    pub date: String,
    /// The host's processor and number of cores.
    pub host: String,
    /// Seconds of host time.
    pub host_seconds: f64,
    /// Version of olifant.
    pub version: String,
    /// Digest of the program's code and data, its runtime and so the simulator included.
    pub program: String,
}

impl Record {
    /// A field of the run by the name that metrics use; `flops` is the program's closed form.
    pub fn field(&self, name: &str, flops: Option<f64>) -> Option<f64> {
        let counters = &self.counters;
        let count = match name {
            "accesses" => counters.accesses,
            "l1_misses" => counters.l1_misses,
            "l2_misses" => counters.l2_misses,
            "upgrades" => counters.upgrades,
            "write_backs" => counters.write_backs,
            "remote_transactions" => counters.remote_transactions,
            "request_packets" => counters.request_packets,
            "response_packets" => counters.response_packets,
            "network_bytes" => counters.network_bytes,
            "tlb_misses" => counters.tlb_misses,
            "processors" => u64::from(self.definition.thread_count),
            "program_seconds" => return self.program_seconds,
            "flops" => return flops,
            _ => return self.figures.get(name).copied(),
        };
        Some(count as f64)
    }
}

/// A folder of records.
#[derive(Debug, Clone)]
pub struct Records {
    folder: PathBuf,
}

impl Records {
    /// The records in a folder, which need not be there yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Records { folder: folder.into() }
    }

    /// The record of a run, if there is one.
    /// # Errors  A record that cannot be read, or is not of this run.
    pub fn find(&self, definition: &RunDefinition) -> Result<Option<Record>, LedgerError> {
        let path = self.path(definition);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LedgerError::Read { path, source, hint: "" }),
        };
        let record: Record =
            toml::from_str(&text).map_err(|error| LedgerError::form(&path, error.to_string().trim_end()))?;
        if record.definition != *definition {
            return Err(LedgerError::form(&path, "its definition is not that of its name; remove the file"));
        }
        Ok(Some(record))
    }

    /// Keeps a record, in place of an earlier one of the same run.
    /// # Errors  The file cannot be written.
    pub fn keep(&self, record: &Record) -> Result<(), LedgerError> {
        let path = self.path(&record.definition);
        let fail = |source| LedgerError::Write { path: path.clone(), source };
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(fail)?;
        let text = toml::to_string(record).map_err(|error| LedgerError::form(&path, error))?;
        let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
        std::io::Write::write_all(&mut beside, text.as_bytes()).map_err(fail)?;
        // Temporary files are for their owner alone; a record is for all who may read the folder.
        let everybody = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o644);
        std::fs::set_permissions(beside.path(), everybody).map_err(fail)?;
        beside.persist(&path).map_err(|error| fail(error.error))?;
        Ok(())
    }

    /// `PROGRAM/CONFIGURATION-THREADS-KEY.toml`.
    fn path(&self, definition: &RunDefinition) -> PathBuf {
        let name =
            format!("{}-{}-{}.toml", definition.configuration, definition.thread_count, definition.key());
        self.folder.join(&definition.program).join(name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::run::tests::definition;

    /// A record of some run that took so many seconds.
    pub(crate) fn record(definition: RunDefinition, seconds: f64) -> Record {
        Record {
            digest: definition.key(),
            seconds: seconds + 1.0,
            program_seconds: Some(seconds),
            accesses: 1000,
            counters: Counters { accesses: 900, l2_misses: 10, ..Counters::default() },
            figures: BTreeMap::new(),
            provenance: Provenance {
                date: "2001-03-01".into(),
                host: "some host".into(),
                host_seconds: 2.0,
                version: "0".into(),
                program: "p".repeat(16),
            },
            definition,
        }
    }

    #[test]
    fn a_record_that_is_kept_is_found_equal_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path());
        let kept = record(definition("jacobi", 2), 1.5);
        assert_eq!(records.find(&kept.definition).unwrap(), None);
        records.keep(&kept).unwrap();
        assert_eq!(records.find(&kept.definition).unwrap(), Some(kept));
        assert_eq!(records.find(&definition("jacobi", 4)).unwrap(), None);
    }

    #[test]
    fn a_record_under_a_wrong_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path());
        let kept = record(definition("jacobi", 2), 1.5);
        records.keep(&kept).unwrap();
        let other = definition("jacobi", 4);
        std::fs::rename(records.path(&kept.definition), records.path(&other)).unwrap();
        assert!(records.find(&other).unwrap_err().to_string().contains("remove the file"));
    }
}
