//! One profile at length.

use crate::synthetic::{locate, untuned};
use olifant_opium::profile::Profile;
use olifant_report::{ProfileReport, ReportOptions, Sort, Style};

#[test]
fn the_table_at_80_columns() {
    let profile = untuned();
    let report = ProfileReport::new(&profile, ReportOptions::default()).with_code(&locate);
    insta::assert_snapshot!(report.table(Style { width: 80 }));
}

#[test]
fn the_table_at_120_columns_with_granules() {
    let profile = untuned();
    let options = ReportOptions { top: 3, granules: true, ..ReportOptions::default() };
    let report = ProfileReport::new(&profile, options).with_code(&locate);
    insta::assert_snapshot!(report.table(Style { width: 120 }));
}

#[test]
fn the_csv_sums_granules_unless_asked() {
    let mut profile = untuned();
    for granule in &mut profile.granules {
        granule.by.truncate(1);
    }
    insta::assert_snapshot!(ProfileReport::new(&profile, ReportOptions::default()).csv());
}

#[test]
fn the_csv_with_granules_has_a_row_for_each() {
    let profile = untuned();
    let options = ReportOptions { granules: true, ..ReportOptions::default() };
    let csv = ProfileReport::new(&profile, options).csv();
    let counters: usize = profile.granules.iter().map(|granule| granule.by.len()).sum();
    assert!(csv.lines().count() > counters, "{} rows", csv.lines().count());
    assert_eq!(csv.lines().nth(1), Some("0,0,0,0,read,1500,0,0,make_grids (grids.c:41)"));
    let remote: u64 =
        csv.lines().skip(1).map(|line| line.split(',').nth(6).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(remote, remote_transactions(&profile));
}

#[test]
fn the_json_has_the_areas_with_their_nodes() {
    let mut profile = untuned();
    profile.granules.drain(0..120);
    profile.cpus.truncate(1);
    profile.threads.truncate(1);
    profile.contested.truncate(1);
    profile.contested[0].by.truncate(1);
    let options = ReportOptions { granules: false, ..ReportOptions::default() };
    insta::assert_snapshot!(ProfileReport::new(&profile, options).with_code(&locate).json());
}

#[test]
fn areas_come_in_the_order_asked_for() {
    let profile = untuned();
    let first = |sort| {
        let options = ReportOptions { sort, ..ReportOptions::default() };
        let csv = ProfileReport::new(&profile, options).csv();
        csv.lines().nth(1).unwrap().split(',').next_back().unwrap().to_owned()
    };
    assert_eq!(first(Sort::Remote), "make_grids (grids.c:41)");
    assert_eq!(first(Sort::Bytes), "stack of thread 3");
    assert_eq!(first(Sort::Name), "boundary_table");
}

#[test]
fn a_large_machine_is_summed_up() {
    let mut profile = untuned();
    profile.nodes = (0..128)
        .map(|node| olifant_opium::profile::NodeTotals { node, ..profile.nodes[0].clone() })
        .collect();
    profile.threads = vec![profile.threads[1].clone(); 512];
    let table = ProfileReport::new(&profile, ReportOptions::default()).table(Style { width: 240 });
    assert!(table.contains("and 112 more nodes with fewer remote transactions"), "{table}");
    assert!(table.contains("and 496 more threads with fewer remote transactions"), "{table}");
}

fn remote_transactions(profile: &Profile) -> u64 {
    let of = |granule: &olifant_opium::profile::Granule| -> u64 {
        let remote = granule.by.iter().filter(|by| by.node != granule.home);
        remote.map(|by| by.reads + by.writes + by.upgrades + by.write_backs).sum()
    };
    profile.granules.iter().map(of).sum()
}

#[test]
fn samples_are_shown_with_their_interval_and_without_what_they_cannot_tell() {
    let mut profile = untuned();
    profile.run.evidence = olifant_opium::profile::Evidence::Sampled;
    profile.totals.digest.clear();
    let report = ProfileReport::new(&profile, ReportOptions::default());
    let table = report.table(Style { width: 120 });
    assert!(table.contains("sampled numbers") && table.contains("of all, 95 %"), "{table}");
    assert!(!table.contains("instructions") && !table.contains("digest"), "{table}");
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let areas = json["areas"].as_array().unwrap();
    let sum: f64 =
        areas.iter().map(|area| area["local"].as_f64().unwrap() + area["remote"].as_f64().unwrap()).sum();
    for area in areas {
        let share = (area["local"].as_f64().unwrap() + area["remote"].as_f64().unwrap()) / sum;
        let end = |place: usize| area["share_interval_95"][place].as_f64().unwrap();
        assert!(end(0) <= share && share <= end(1), "{area}");
    }
    let counted = untuned();
    assert!(!ProfileReport::new(&counted, ReportOptions::default()).json().contains("share_interval_95"));
}
