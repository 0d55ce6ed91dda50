//! Laws of every report.

use crate::synthetic::{plan, source_line, tuned, untuned};
use olifant_opium::profile::Profile;
use olifant_report::{Comparison, ProfileReport, ReportOptions, RunRow, Style};
use proptest::prelude::*;

/// A profile whose names are anything at all.
fn renamed(names: &[String], mut profile: Profile) -> Profile {
    for (index, area) in profile.areas.iter_mut().enumerate() {
        area.name = names[index % names.len()].clone();
    }
    for frame in &mut profile.sites[0].frames {
        frame.function = names[0].clone();
        frame.file = names[names.len() - 1].clone();
    }
    profile.run.program = names[0].clone();
    profile
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_name_widens_a_table_beyond_80_columns(names in prop::collection::vec("[ -~]{0,200}", 1..6)) {
        let (before, after, plan) = (renamed(&names, untuned()), renamed(&names, tuned()), plan());
        let report = Comparison {
            untuned: (&before, None),
            tuned: Some((&after, None)),
            single: None,
            plan: (&plan, None),
            because: None,
            source_line: &source_line,
        }
        .report();
        let options = ReportOptions { granules: true, ..ReportOptions::default() };
        let texts = [
            report.table(Style { width: 80 }, 5),
            ProfileReport::new(&before, options).table(Style { width: 80 }),
            RunRow::from_profile(&before, None).table(Style { width: 80 }),
        ];
        for line in texts.iter().flat_map(|text| text.lines()) {
            prop_assert!(line.chars().count() <= 80, "{} characters: {line}", line.chars().count());
        }
    }

    #[test]
    fn no_name_breaks_a_row_of_csv(name in any::<String>()) {
        let profile = renamed(std::slice::from_ref(&name), untuned());
        let csv = ProfileReport::new(&profile, ReportOptions::default()).csv();
        // Undone by hand: quoted fields may hold anything, two quotes stand for one.
        let needs_quotes = name.contains([',', '"', '\n', '\r']);
        let field = if needs_quotes { format!("\"{}\"", name.replace('"', "\"\"")) } else { name };
        prop_assert!(csv.contains(&format!(",{field}\n")), "{csv}");
    }
}

#[test]
fn an_empty_profile_has_reports() {
    let mut profile = untuned();
    profile.areas.clear();
    profile.granules.clear();
    profile.contested.clear();
    profile.nodes.clear();
    profile.links.clear();
    profile.threads.clear();
    let report = ProfileReport::new(&profile, ReportOptions::default());
    assert!(report.table(Style::default()).contains("No area missed the second-level cache."));
    assert_eq!(report.csv().lines().count(), 1);
    assert!(report.json().contains("\"areas\": []"));
}
