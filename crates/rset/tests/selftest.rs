//! The self-test on this machine, which proves placement from a second process; on several nodes it runs in the lab.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::process::Command;

#[test]
fn placement_is_proven_from_a_second_process() {
    let output = Command::new(env!("CARGO_BIN_EXE_rset-selftest")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("ok       memory striped on"), "{text}");
    assert!(text.contains("ok       threads fill"), "{text}");
    assert!(text.ends_with(" 0 failed\n"), "{text}");
}

#[test]
fn another_topology_than_expected_fails() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_rset-selftest")).args(["--expect", "7:0-900:m"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout).starts_with("FAILED   the topology is as expected: found ")
    );
    let output =
        Command::new(env!("CARGO_BIN_EXE_rset-selftest")).args(["--expect", "nonsense"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
