//! The tables for a spreadsheet.

use crate::synthetic::{locate, untuned};
use olifant_opium::profile::Profile;
use olifant_report::{CsvRows, ProfileReport, ReportOptions};

fn csv(profile: &Profile, rows: CsvRows) -> String {
    ProfileReport::new(profile, ReportOptions::default()).with_code(&locate).csv_of(rows)
}

/// Columns of a CSV by their names; the synthetic names hold no commas.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let place = lines.next().unwrap().split(',').position(|title| title == name).unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().to_owned()).collect()
}

fn sum(values: &[String]) -> u64 {
    values.iter().map(|value| value.parse::<u64>().unwrap()).sum()
}

#[test]
fn areas_nodes_links_and_threads() {
    let profile = untuned();
    let tables = [CsvRows::Areas, CsvRows::Nodes, CsvRows::Links, CsvRows::Threads];
    insta::assert_snapshot!(tables.map(|rows| csv(&profile, rows)).join("\n"));
}

#[test]
fn contested_lines_have_a_row_for_each_thread() {
    let profile = untuned();
    let table = csv(&profile, CsvRows::Contested);
    let rows: usize = profile.contested.iter().map(|line| line.by.len()).sum();
    assert_eq!(table.lines().count(), 1 + rows);
    let second = "0,3,0,32,51234,false,1,300,400,4-7,4-7,0x401500,take_lock (locks.c:17),locks";
    assert_eq!(table.lines().nth(2), Some(second));
}

#[test]
fn granules_and_areas_have_the_same_sums() {
    let profile = untuned();
    let (areas, granules) = (csv(&profile, CsvRows::Areas), csv(&profile, CsvRows::Granules));
    assert_eq!(granules.lines().count(), 1 + profile.granules.len());
    for name in ["local", "remote", "transactions_node_0", "transactions_node_3"] {
        assert_eq!(sum(&column(&areas, name)), sum(&column(&granules, name)), "{name}");
    }
    let homes = (0..4).map(|node| sum(&column(&areas, &format!("granules_node_{node}"))));
    assert_eq!(homes.sum::<u64>(), profile.granules.len() as u64);
}

#[test]
fn counters_are_the_rows_of_old() {
    let profile = untuned();
    let report = ProfileReport::new(&profile, ReportOptions::default());
    assert_eq!(report.csv_of(CsvRows::Counters), report.csv());
}
