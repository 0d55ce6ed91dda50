//! The monitor on whole programs: planted faults are found and named, nothing is invented, counting changes nothing, and a
//! program that programs the card while it runs makes its pages local.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set up its test should fail it there")]

use olifant_tests::{built, olifant_command, root};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Runs `olifant` with these words; it must succeed.
fn olifant(words: &[&str]) -> Output {
    let output = olifant_command(words).output().unwrap();
    assert!(output.status.success(), "olifant {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn json(words: &[&str]) -> Value {
    serde_json::from_slice(&olifant(words).stdout).unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The report of a recorded run of `planted` with these options.
fn planted(options: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("planted.olp");
    let program = built("bin/planted");
    let mut words = vec!["record", "-o", path(&profile), "--format", "json", "--", path(&program)];
    words.extend(options);
    olifant(&words);
    json(&["report", "--format", "json", path(&profile)])
}

/// `file:line` of the allocation in planted.c that is named `what`.
fn allocation(what: &str) -> String {
    let source = std::fs::read_to_string(root().join("programs/planted/planted.c")).unwrap();
    let line = source.lines().position(|line| line.contains("GRID_ALLOCATE") && line.contains(what)).unwrap();
    format!("planted.c:{}", line + 1)
}

#[test]
fn each_planted_fault_is_found_and_named_and_no_other() {
    let report = planted(&[]);
    let mut found: Vec<(String, String)> = report["patterns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["pattern"].as_str().unwrap().to_owned(), row["what"].as_str().unwrap().to_owned()))
        .collect();
    found.sort();
    let names: Vec<&str> = found.iter().map(|(pattern, _)| pattern.as_str()).collect();
    assert_eq!(
        names,
        [
            "contended lock",
            "false sharing",
            "master-initialised, used in bands",
            "migratory data",
            "read-only, shared by all"
        ],
        "{found:?}"
    );
    let what: Vec<&str> = found.iter().map(|(_, what)| what.as_str()).collect();
    assert!(what[0].contains(&allocation("the locks")), "{what:?}");
    assert_eq!(what[1], "statistics.hits, statistics.misses");
    assert!(what[2].contains(&allocation("the field")), "{what:?}");
    assert_eq!(what[3], "ticket");
    assert!(what[4].contains(&allocation("the table")), "{what:?}");
}

#[test]
fn nothing_is_invented_where_nothing_was_planted() {
    assert_eq!(planted(&["--clean"])["patterns"], Value::Array(Vec::new()));
}

#[test]
fn a_program_that_moves_its_hot_pages_reaches_less_from_afar() {
    let output = olifant(&["run", "--", path(&built("bin/migrate"))]);
    let text = String::from_utf8(output.stdout).unwrap();
    let line =
        text.lines().find(|line| line.starts_with("remote accesses: ")).unwrap_or_else(|| panic!("{text}"));
    let numbers: Vec<u64> =
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    let [allocated, moving, pages, moved] = numbers[..] else { panic!("{line}") };
    assert!(pages > 1000 && moving < allocated, "{line}");
    assert!(moved * 100 < allocated, "{line}");
}

#[test]
fn without_moving_the_same_pages_stay_remote() {
    let output = olifant(&["run", "--", path(&built("bin/migrate")), "--stay"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let line =
        text.lines().find(|line| line.starts_with("remote accesses: ")).unwrap_or_else(|| panic!("{text}"));
    let numbers: Vec<u64> =
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers[2], 0, "{line}");
    assert!(numbers[3] * 10 > numbers[0] * 9, "{line}");
}

#[test]
fn counting_changes_no_clock_and_no_count() {
    let program = built("bin/ocean");
    let run = |options: &[&str]| {
        let mut words = vec!["run", "--format", "json"];
        words.extend(options);
        words.extend(["--", path(&program), "-n", "66", "-p", "16"]);
        json(&words)["digest"].clone()
    };
    let plain = run(&[]);
    assert_eq!(run(&["--granule", "line"]), plain);
    assert_eq!(
        run(&["--filter", "all,granule=line,by=thread,threshold=10", "--secondary", "s=all,kinds=read"]),
        plain
    );
    assert_eq!(run(&["--card", "opium", "--filter", "multigrid_create,granule=line"]), plain);
}

#[test]
fn a_filter_of_an_area_counts_what_the_areas_counters_say() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("planted.olp");
    let program = built("bin/planted");
    let site = allocation("the table");
    let filter = format!("{site},granule=line,name=table");
    let words =
        ["record", "-o", path(&profile), "--filter", &filter, "--", path(&program), "-n", "65536", "-r", "2"];
    olifant(&words);
    let report = json(&["report", "--format", "json", path(&profile)]);
    let areas = report["areas"].as_array().unwrap();
    let area = areas.iter().find(|area| area["name"].as_str().unwrap().contains(&site)).unwrap();
    let all = area["local"].as_u64().unwrap() + area["remote"].as_u64().unwrap();
    assert!(all > 10_000, "{all}");
    assert_eq!(report["facts"]["filters"][0]["total"].as_u64().unwrap(), all);
}

#[test]
fn what_the_prototypes_card_cannot_do_is_refused_before_the_run() {
    let program = built("bin/ocean");
    let refuse = |options: &[&str], part: &str| {
        let mut words = vec!["run", "--card", "opium"];
        words.extend(options);
        words.extend(["--", path(&program)]);
        let output = olifant_command(&words).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(125), "{text}");
        assert!(text.contains(part), "{text}");
    };
    refuse(&["--filter", "all"], "524288");
    refuse(&["--filter", "0x3000000000+64K,by=thread"], "by=node");
    refuse(&["--filter", "no_such_thing"], "no global, no function");
}
