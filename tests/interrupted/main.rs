//! Runs that are cut short keep what they measured: a signal to `olifant`, and one that it never learns of.

use olifant_tests::{built, olifant, olifant_command};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough that a signal comes before the end, and ends by itself should none come.
const ARGUMENTS: [&str; 4] = ["-n", "258", "-p", "16"];

/// `olifant record` of a program that runs for some seconds, once it runs.
fn recording(profile: &Path) -> Child {
    let profile = profile.to_str().expect("temporary folders have plain names");
    // What runs in the background of a script has SIGINT ignored, and olifant's programs keep to that.
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(olifant()).args(["record", "--output", profile, "--"]);
    let child = command
        .arg(built("bin/ocean"))
        .args(ARGUMENTS)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("olifant starts");
    let begun = Instant::now();
    while children(child.id()).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "olifant starts the program");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The program's first signal handlers are there before its first output; half a second is far more.
    std::thread::sleep(Duration::from_millis(500));
    child
}

/// The children of a process.
fn children(parent: u32) -> Vec<String> {
    let listed =
        std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    listed.split_whitespace().map(str::to_owned).collect()
}

fn send(signal: &str, process: u32) {
    let status = Command::new("kill").args([signal, &process.to_string()]).status().expect("kill exists");
    assert!(status.success(), "kill {signal} {process}");
}

/// What a process says on standard error until everybody who holds it has ended.
fn said(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().expect("it is a pipe").read_to_string(&mut text).expect("messages are text");
    text
}

/// The report's JSON of a profile.
fn report(profile: &str) -> serde_json::Value {
    let output = olifant_command(&["report", "--format", "json", profile]).output().expect("olifant starts");
    assert!(output.status.success(), "{profile}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("stdout is one JSON value")
}

#[test]
fn a_signal_ends_the_run_and_leaves_its_profile() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let profile = folder.path().join(format!("cut{signal}.olp"));
        let mut child = recording(&profile);
        send(signal, child.id());
        let said = said(&mut child);
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{signal}: {said}");
        assert!(said.contains("cut short"), "{signal}: {said}");
        let shown = report(profile.to_str().expect("a plain name"));
        assert!(shown.to_string().contains("accesses"), "{signal}: {shown}");
    }
}

#[test]
fn what_was_measured_outlives_a_killed_olifant() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut child = recording(&folder.path().join("never.olp"));
    send("-KILL", child.id());
    child.wait().expect("it is gone");
    // The program goes on to its end, and says where its profile is.
    let said = said(&mut child);
    let left = said.split("`olifant report ").nth(1).and_then(|rest| rest.split('`').next());
    let left = Path::new(left.unwrap_or_else(|| panic!("the place is named: {said}")));
    assert!(report(left.to_str().expect("a plain name")).to_string().contains("accesses"));
    std::fs::remove_dir_all(left.parent().expect("a folder of its own")).expect("it can be removed");
}
