//! Rows: choice, joining, errors, quotients.

use crate::definitions::{Arithmetic, library, seconds};
use olifant_ledger::{
    Extent, Ledger, Library, Plan, Published, Records, Row, RowPattern, RowState, RunDefinition, Use, execute,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize};

const ALL: [usize; 2] = [0, 1];

fn make(
    library: &Library,
    records: &Records,
    extent: Extent,
    only: &dyn Fn(&RunDefinition) -> bool,
    seconds: &(dyn Fn(&RunDefinition) -> f64 + Sync),
) {
    let plan = Plan::new(library, &ALL, extent).unwrap();
    let runs: Vec<&RunDefinition> = plan.runs.iter().filter(|run| only(run)).collect();
    let stop = AtomicBool::new(false);
    let runner = Arithmetic { seconds, made: AtomicUsize::new(0), end_after: usize::MAX, stop: &stop };
    assert!(execute(&runs, records, &runner, 2, &stop, &|_| {}).is_empty());
}

fn row<'l>(ledger: &'l Ledger, application: &str, metric: &str, threads: u32) -> &'l Row {
    let is_it = |row: &&Row| row.application == application && row.metric == metric && row.threads == threads;
    ledger.rows.iter().find(is_it).unwrap()
}

fn further(configuration: &str, policy: &str, metric: &str, value: &str) -> Published {
    Published {
        seed: String::new(),
        place: String::new(),
        application: "One".into(),
        configuration: configuration.into(),
        policy: policy.into(),
        metric: metric.into(),
        value: value.into(),
        unit: String::new(),
        note: String::new(),
    }
}

#[test]
fn the_least_of_all_groups_of_a_word_is_chosen_and_shown_under_the_published_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (library, records) = (library(folder.path()), Records::new(folder.path().join("r")));
    // On the half machine it is fastest.
    let seconds = |run: &RunDefinition| seconds(run) * if run.configuration == "4N2" { 0.1 } else { 1.0 };
    make(&library, &records, Extent::Full, &|_| true, &seconds);
    let ledger = Ledger::new(&library, &ALL, &records, Extent::Full, &[], None).unwrap();
    let four = row(&ledger, "One", "time", 4);
    assert_eq!(four.chosen.as_deref(), Some("4N2 t0,m2"));
    assert_eq!((four.configuration.as_str(), four.policy.as_str()), ("4N2;4 threads", "BEST=t0,m2"));
    let two = row(&ledger, "One", "time", 2);
    assert_eq!((two.reproduced, two.published, two.error), (Some(4.0), Some(5.0), Some(4.0 / 5.0 - 1.0)));
    assert_eq!(row(&ledger, "One", "time", 3).published, None, "x is no number");
}

#[test]
fn nothing_is_chosen_while_a_candidate_was_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let (library, records) = (library(folder.path()), Records::new(folder.path().join("r")));
    make(&library, &records, Extent::Full, &|run| run.configuration != "4N2", &seconds);
    let ledger = Ledger::new(&library, &ALL, &records, Extent::Full, &[], None).unwrap();
    let four = row(&ledger, "One", "time", 4);
    assert_eq!((four.reproduced, four.state), (None, RowState::PartlyRun));
    assert_eq!(row(&ledger, "One", "time", 2).state, RowState::Run);
    let speedup = row(&ledger, "One", "speedup", 4);
    assert_eq!((speedup.reproduced, speedup.state), (None, RowState::PartlyRun));
}

#[test]
fn a_quotient_is_of_the_same_application_and_follows_the_choice() {
    let folder = tempfile::tempdir().unwrap();
    let (library, records) = (library(folder.path()), Records::new(folder.path().join("r")));
    make(&library, &records, Extent::Full, &|_| true, &seconds);
    let values = [further("4N4;4 threads", "BEST=t1,m2", "speedup", "3.2")];
    let ledger = Ledger::new(&library, &ALL, &records, Extent::Full, &values, None).unwrap();
    let speedup = row(&ledger, "One", "speedup", 4);
    assert_eq!(speedup.reproduced, Some(4.0));
    assert_eq!(speedup.chosen.as_deref(), Some("4N4 t0,m2"));
    assert_eq!(speedup.error, Some(4.0 / 3.2 - 1.0), "a value of a further file joins whatever was chosen");
    assert_eq!(row(&ledger, "One", "rate", 4).reproduced, Some(1000.0 / (2.0 * 4.0) * 1e-6));
}

#[test]
fn rows_of_one_thread_are_calibration_and_quotients_only_where_both_sides_are() {
    let folder = tempfile::tempdir().unwrap();
    let (library, records) = (library(folder.path()), Records::new(folder.path().join("r")));
    let ledger = Ledger::new(&library, &ALL, &records, Extent::Full, &[], None).unwrap();
    assert_eq!(row(&ledger, "One", "time", 1).usage, Use::Calibration);
    assert_eq!(row(&ledger, "One", "time", 2).usage, Use::Prediction);
    assert_eq!(row(&ledger, "One", "speedup", 2).usage, Use::Prediction);
}

#[test]
fn scaled_rows_say_so_and_have_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let (library, records) = (library(folder.path()), Records::new(folder.path().join("r")));
    make(&library, &records, Extent::Quick, &|_| true, &seconds);
    let ledger = Ledger::new(&library, &ALL, &records, Extent::Quick, &[], None).unwrap();
    assert!(ledger.rows.iter().all(|row| row.scaled && row.error.is_none()));
    assert_eq!(ledger.summary.all.rows, 0);
    let full = Ledger::new(&library, &ALL, &records, Extent::Full, &[], None).unwrap();
    let two = row(&full, "One", "time", 2);
    assert_eq!(two.state, RowState::NotRun, "a reduced run is no run of the full size");
}

#[test]
fn only_the_rows_that_are_asked_for_are_shown_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let (library, records) = (library(folder.path()), Records::new(folder.path().join("r")));
    let only: RowPattern = "One | 4N4 | 2 | t1,m2".parse().unwrap();
    let plan = Plan::new(&library, &ALL, Extent::Full).unwrap();
    let runs = plan.runs_of(&library, Some(&only));
    assert_eq!(runs.len(), 1);
    let run = &plan.runs[runs[0]];
    assert_eq!((run.thread_count, run.threads.as_str()), (2, "0,4"));
    let shown: RowPattern = "Two | * | * | *".parse().unwrap();
    let ledger = Ledger::new(&library, &ALL, &records, Extent::Full, &[], Some(&shown)).unwrap();
    assert!(!ledger.rows.is_empty() && ledger.rows.iter().all(|row| row.application == "Two"));
    assert!(ledger.rows.iter().all(|row| row.threads != 3), "it takes powers of two");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn errors_are_relative_to_the_published_value_and_the_choice_is_never_beaten(factors in prop::collection::vec(0.2f64..5.0, 32), published in 0.5f64..50.0) {
        let folder = tempfile::tempdir().unwrap();
        let (library, records) = (library(folder.path()), Records::new(folder.path().join("r")));
        let plan = Plan::new(&library, &ALL, Extent::Full).unwrap();
        let of = |run: &RunDefinition| factors[plan.runs.iter().position(|other| other == run).unwrap() % factors.len()];
        make(&library, &records, Extent::Full, &|_| true, &of);
        let values = [further("anything;4 threads", "BEST=anything", "time", &published.to_string())];
        let ledger = Ledger::new(&library, &ALL, &records, Extent::Full, &values, None).unwrap();
        let four = row(&ledger, "One", "time", 4);
        let reproduced = four.reproduced.unwrap();
        let candidates = plan.runs.iter().filter(|run| run.program == "one" && run.thread_count == 4);
        prop_assert_eq!(reproduced, candidates.map(of).fold(f64::INFINITY, f64::min));
        prop_assert_eq!(four.error, Some(reproduced / published - 1.0));
    }
}
