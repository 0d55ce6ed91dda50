//! Untuned and tuned side by side.

use crate::synthetic::{self, plan, single, tuned, untuned};
use olifant_opium::profile::Profile;
use olifant_placement::Plan;
use olifant_report::{Comparison, Style, TuneReport, Verdict};

fn report(untuned: &Profile, tuned: Option<&Profile>, single: Option<&Profile>, plan: &Plan) -> TuneReport {
    Comparison {
        untuned: (untuned, Some("ocean.untuned.olp")),
        tuned: tuned.map(|tuned| (tuned, Some("ocean.tuned.olp"))),
        single,
        plan: (plan, Some("ocean.plan.toml")),
        because: tuned.is_none().then_some("no placement leaves fewer accesses remote"),
        source_line: &synthetic::source_line,
    }
    .report()
}

fn whole() -> TuneReport {
    report(&untuned(), Some(&tuned()), Some(&single()), &plan())
}

#[test]
fn the_table_at_80_columns() {
    insta::assert_snapshot!(whole().table(Style { width: 80 }, 5));
}

#[test]
fn the_table_at_120_columns_without_a_single_run() {
    let report = report(&untuned(), Some(&tuned()), None, &plan());
    insta::assert_snapshot!(report.table(Style { width: 120 }, 2));
}

#[test]
fn the_table_where_there_is_nothing_to_gain() {
    let report = report(&untuned(), None, None, &Plan::default());
    assert_eq!(report.verdict, Verdict::LeaveItAlone);
    insta::assert_snapshot!(report.table(Style { width: 80 }, 2));
}

#[test]
fn the_json() {
    insta::assert_snapshot!(whole().json());
}

#[test]
fn the_csv() {
    insta::assert_snapshot!(whole().csv());
}

#[test]
fn a_slower_run_with_the_plan_is_left_alone_and_shown() {
    let mut slower = tuned();
    slower.totals.seconds = 5.0;
    let report = report(&untuned(), Some(&slower), None, &plan());
    assert_eq!(report.verdict, Verdict::LeaveItAlone);
    assert_eq!(report.because, "the run with the plan was not faster");
    assert!(report.tuned.is_some());
    assert!(report.json().contains("\"verdict\": \"leave it alone\""));
}

#[test]
fn areas_are_matched_by_path_size_and_ordinal_whatever_their_number() {
    let mut after = tuned();
    // In the tuned run the second grid is born before the first, and at another address.
    after.areas.swap(0, 1);
    for granule in &mut after.granules {
        granule.area = [1, 0, 2, 3, 4][granule.area as usize];
    }
    after.granules.sort_by_key(|granule| (granule.area, granule.index));
    // Only the first grid keeps remote transactions, all on one page.
    for granule in after.granules.iter_mut().filter(|granule| granule.area == 1 && granule.index == 0) {
        granule.home = 3;
    }
    let mut plan = plan();
    let mut second = plan.areas[0].clone();
    for (entry, number) in [(&mut plan.areas[0], 0), (&mut second, 1)] {
        let olifant_placement::AreaMatch::Site { ordinal, .. } = &mut entry.area else {
            panic!("it is a site")
        };
        *ordinal = Some(number);
    }
    plan.areas.push(second);
    let report = report(&untuned(), Some(&after), None, &plan);
    let grids: Vec<_> =
        report.areas.iter().filter(|area| area.line == Some(41)).map(|area| area.remote_after).collect();
    assert_eq!(grids, [Some(8_660), Some(0)], "a row for each grid, as each has its own decision");
}

#[test]
fn an_area_that_only_the_tuned_run_has_is_told() {
    let mut after = tuned();
    after.areas[2].name = "another_table".into();
    let report = report(&untuned(), Some(&after), None, &plan());
    let row = |name: &str| report.areas.iter().find(|area| area.name == name).unwrap();
    assert_eq!((row("boundary_table").remote_before, row("boundary_table").remote_after), (300, Some(0)));
    assert_eq!((row("another_table").remote_before, row("another_table").remote_after), (0, Some(300)));
}
