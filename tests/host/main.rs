//! Real programs sampled on this computer by the `olifant` command. Where the kernel does not let us sample, the tests say so and
//! pass.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use olifant_tests::{olifant, olifant_command, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// The program that churns its memory, compiled into `folder`.
fn stress(folder: &Path) -> PathBuf {
    let program = folder.join("stress");
    let words = ["-std=c11", "-O2", "-g", "-pthread", "-o"];
    let source = root().join("tests/host/stress.c");
    assert!(Command::new("cc").args(words).arg(&program).arg(source).status().unwrap().success());
    program
}

fn run(words: &[&str]) -> Output {
    olifant_command(words).output().unwrap()
}

/// Whether the kernel forbids what the test is about.
fn is_refused(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let is_refused = output.status.code() == Some(125) && said.contains("perf_event");
    if is_refused {
        eprintln!("skipped: {said}");
    }
    is_refused
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The program, running for so many seconds.
fn running(program: &Path, seconds: &str) -> Child {
    let child = Command::new(program).arg(seconds).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    child
}

#[test]
fn a_program_that_churns_its_memory_is_recorded_unharmed_with_its_sites() {
    let folder = tempfile::tempdir().unwrap();
    let (program, profile) = (stress(folder.path()), folder.path().join("stress.olp"));
    let output =
        run(&["record", "--on", "host", "--rate", "4000", "-o", text(&profile), "--", text(&program), "3"]);
    if is_refused(&output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report = run(&["report", "--format", "json", text(&profile)]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["run"]["evidence"], "sampled");
    let areas = report["areas"].as_array().unwrap();
    let of_calls = areas.iter().find(|area| area["function"] == "churn_calls");
    let of_calls = of_calls.unwrap_or_else(|| panic!("{areas:#?}"));
    assert_eq!(of_calls["bytes"], 256 << 10);
    assert!(of_calls["share_interval_95"][0].as_f64() < of_calls["share_interval_95"][1].as_f64());
}

#[test]
fn a_recording_that_is_killed_leaves_its_program_unharmed() {
    let folder = tempfile::tempdir().unwrap();
    let (program, profile) = (stress(folder.path()), folder.path().join("stress.olp"));
    let mut child = running(&program, "4");
    let process = child.id().to_string();
    for _ in 0..3 {
        let mut recorder = olifant_command(&["record", "--pid", &process, "-o", text(&profile)])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(500));
        recorder.kill().unwrap();
        recorder.wait().unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert!(!profile.exists(), "a killed recording leaves no half of a profile");
}

#[test]
fn top_prints_one_table_where_there_is_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = running(&stress(folder.path()), "4");
    let output = run(&["top", &child.id().to_string()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = String::from_utf8_lossy(&output.stdout);
    for word in [" stress (", "node", "memory MiB", "thread", "may run on"] {
        assert!(shown.contains(word), "{word} in {shown}");
    }
    assert!(shown.contains("95 % interval") || shown.contains("no samples"), "{shown}");
    assert!(child.wait().unwrap().success());
    assert_eq!(run(&["top", &child.id().to_string()]).status.code(), Some(2));
}

#[test]
fn a_sampled_profile_ranks_areas_as_the_exact_one_does() {
    let script = root().join("experiments/host-sampling/agreement.py");
    let build = std::env::var_os("OLIFANT_BUILD").map_or_else(|| root().join("build"), PathBuf::from);
    let output = Command::new("python3")
        .arg(script)
        .arg(olifant())
        .args([build.join("bin"), build.join("native")])
        .arg("--quick")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("perf_event") {
        eprintln!("skipped: {said}");
        return;
    }
    assert!(output.status.success(), "{}\n{said}", String::from_utf8_lossy(&output.stdout));
}
