//! What the limits of a process forbid is named, and a heap makes do with fewer addresses.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::process::Command;

/// What the second process of the self-test says to a job under a limit of address space in KiB.
fn under_limit(kibibytes: u32, job: &str) -> String {
    let script = format!("ulimit -v {kibibytes}; exec \"$0\" hold {job} </dev/null");
    let program = env!("CARGO_BIN_EXE_rset-selftest");
    let output = Command::new("sh").args(["-c", &script, program]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_region_beyond_the_limit_of_addresses_names_it() {
    let told = under_limit(200_000, "allocate all any 100000 later");
    assert!(told.starts_with("error allocate "), "{told}");
    assert!(told.contains("the limit of address space (ulimit -v"), "{told}");
}

#[test]
fn a_heap_takes_fewer_addresses_where_it_may_not_have_more() {
    let told = under_limit(1_000_000, "heap all any");
    assert!(told.ends_with("ready\n"), "{told}");
}
