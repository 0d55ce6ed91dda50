//! One run.

use crate::synthetic;
use olifant_report::{RunRow, Style};

fn row() -> RunRow {
    RunRow::from_profile(&synthetic::untuned(), Some("ocean.olp"))
}

#[test]
fn the_table_of_a_run() {
    insta::assert_snapshot!(row().table(Style::default()));
}

#[test]
fn the_json_of_a_run() {
    insta::assert_snapshot!(row().json());
}

#[test]
fn the_csv_of_a_run() {
    insta::assert_snapshot!(row().csv());
}

#[test]
fn the_stable_fields_come_first_in_json() {
    let json = row().json();
    let stable = [
        "placement",
        "seconds",
        "accesses",
        "l1_misses",
        "l2_misses",
        "request_packets",
        "response_packets",
        "network_bytes",
        "host_seconds",
        "digest",
    ];
    let names: Vec<&str> =
        json.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).collect();
    assert_eq!(names[..stable.len()], stable);
}

#[test]
fn json_and_csv_have_the_same_fields_in_the_same_order() {
    let json = row().json();
    let of_json: Vec<&str> =
        json.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).collect();
    let csv = row().csv();
    let of_csv: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(of_json, of_csv);
}

#[test]
fn a_run_of_no_time_has_no_numbers_out_of_nothing() {
    let mut profile = synthetic::untuned();
    profile.totals = olifant_opium::profile::Totals::default();
    profile.run.is_complete = false;
    profile.run.exit_code = 139;
    for link in &mut profile.links {
        link.utilisation = f64::NAN;
    }
    let table = RunRow::from_profile(&profile, None).table(Style::default());
    assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
    assert!(table.contains("cut short, exit code 139"), "{table}");
}
