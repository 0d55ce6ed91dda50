//! What is kept of an evaluation, whatever ends it.

use crate::definitions::{Arithmetic, library, seconds};
use olifant_ledger::{Extent, Ledger, Library, Plan, Records, RunDefinition, execute};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const ALL: [usize; 2] = [0, 1];

/// Makes what is missing, up to so many runs at `at_a_time`; how many were made.
fn go_on(library: &Library, records: &Records, at_a_time: usize, end_after: usize) -> usize {
    let plan = Plan::new(library, &ALL, Extent::Full).unwrap();
    let missing: Vec<&RunDefinition> =
        plan.runs.iter().filter(|run| records.find(run).unwrap().is_none()).collect();
    let stop = AtomicBool::new(false);
    let runner = Arithmetic { seconds: &seconds, made: AtomicUsize::new(0), end_after, stop: &stop };
    let failures = execute(&missing, records, &runner, at_a_time, &stop, &|_| {});
    assert!(failures.is_empty(), "{failures:?}");
    runner.made.load(Ordering::Relaxed)
}

fn ledger(library: &Library, records: &Records) -> Ledger {
    Ledger::new(library, &ALL, records, Extent::Full, &[], None).unwrap()
}

fn records(folder: &Path, name: &str) -> Records {
    Records::new(folder.join(name))
}

#[test]
fn an_evaluation_that_was_interrupted_and_resumed_equals_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    let (whole, parts) = (records(folder.path(), "whole"), records(folder.path(), "parts"));
    let runs = Plan::new(&library, &ALL, Extent::Full).unwrap().runs.len();
    assert_eq!(go_on(&library, &whole, 3, usize::MAX), runs);
    let mut made = 0;
    for _ in 0..runs {
        made += go_on(&library, &parts, 1, 2);
    }
    assert_eq!(made, runs, "nothing is made twice");
    assert_eq!(ledger(&library, &parts), ledger(&library, &whole));
}

#[test]
fn two_evaluations_give_identical_ledgers_whatever_the_host_did() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    let (first, second) = (records(folder.path(), "first"), records(folder.path(), "second"));
    go_on(&library, &first, 1, usize::MAX);
    go_on(&library, &second, 4, usize::MAX);
    let text = |records| serde_json::to_string(&ledger(&library, records)).unwrap();
    assert_eq!(text(&first), text(&second));
}

#[test]
fn a_ledger_without_records_has_every_row_and_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    let none = records(folder.path(), "none");
    let empty = ledger(&library, &none);
    go_on(&library, &none, 2, usize::MAX);
    let full = ledger(&library, &none);
    assert_eq!(empty.rows.len(), full.rows.len());
    assert!(empty.rows.iter().all(|row| row.reproduced.is_none() && row.error.is_none()));
    assert!(
        full.rows
            .iter()
            .all(|row| row.reproduced.is_some() == (row.metric != "rate" || row.application == "One"))
    );
    assert_eq!(empty.summary.shapes_undecided, 1);
    assert_eq!(full.summary.shapes_hold, 1);
}

#[test]
fn an_equal_run_is_needed_once() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    let plan = Plan::new(&library, &ALL, Extent::Full).unwrap();
    for (index, run) in plan.runs.iter().enumerate() {
        assert!(!plan.runs[..index].contains(run), "{run:?}");
    }
    // The figure needs no runs of its own.
    assert_eq!(Plan::new(&library, &[1], Extent::Full).unwrap().runs.len(), plan.runs.len());
    assert_eq!(Plan::new(&library, &[0], Extent::Full).unwrap().runs, plan.runs);
}
