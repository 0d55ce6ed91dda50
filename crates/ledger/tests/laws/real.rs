//! The definitions of this repository.

use olifant_ledger::{Extent, Ledger, Library, Plan, Records, Verdict};
use std::path::{Path, PathBuf};

fn experiments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

#[test]
fn every_published_number_has_a_row_and_every_statement_speaks_of_rows() {
    let library = Library::read(&experiments()).unwrap();
    let all: Vec<usize> = (0..library.experiments.len()).collect();
    let nowhere = tempfile::tempdir().unwrap();
    let ledger = Ledger::new(&library, &all, &Records::new(nowhere.path()), Extent::Full, &[], None).unwrap();
    // Bounds that assume pages on all nodes, which the times refute (METHODOLOGY.md); and a law of the protocol.
    let is_known = |name: &&String| {
        name.ends_with("min_remote_to_local_cost_if_75pct_remote") || name.ends_with("max_network_packets")
    };
    let unknown: Vec<&String> =
        ledger.summary.published_without_row.iter().filter(|name| !is_known(name)).collect();
    assert_eq!(unknown, Vec::<&String>::new());
    assert!(ledger.shapes.iter().all(|shape| shape.verdict == Verdict::Undecided));
    assert!(ledger.rows.iter().filter(|row| row.published.is_some()).count() > 150);
}

#[test]
fn every_record_that_is_kept_is_of_a_run_of_the_definitions() {
    let library = Library::read(&experiments()).unwrap();
    let all: Vec<usize> = (0..library.experiments.len()).collect();
    let plan = Plan::new(&library, &all, Extent::Full).unwrap();
    let records = Records::new(experiments().join("records"));
    let every = plan.runs.iter().chain(plan.by_steps.iter().flatten());
    let found = every.filter(|run| records.find(run).unwrap().is_some()).count();
    let files = |folder: std::fs::ReadDir| folder.map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let kept = std::fs::read_dir(experiments().join("records")).map_or(0, |programs| {
        files(programs).iter().map(|program| files(std::fs::read_dir(program).unwrap()).len()).sum()
    });
    assert_eq!(
        found, kept,
        "a definition changed: its records are of another run; remove them or make them anew"
    );
}
