//! Instructions of the host that the engine takes per access on each path, and in contended traffic, by callgrind: the
//! difference of two runs of itself, one with more accesses. Exact, so a change of a few instructions shows.
//!
//! Prints a table; says what is missing and does nothing where valgrind is not installed.
#![allow(clippy::print_stdout, reason = "the table is the point")]

#[allow(dead_code, reason = "one of two benchmarks that share it")]
mod paths;

use paths::{Crowd, PATHS, Runner};
use std::process::Command;

const ACCESSES: u64 = 1 << 17;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, what, amount] = arguments.as_slice()
        && flag == "--run"
    {
        return run(what, amount.parse().expect("a number"));
    }
    for path in PATHS {
        Runner::new(path).verify();
        show(&format!("{path:?}"), ACCESSES, ACCESSES);
    }
    for processors in [16, 64, 512] {
        let mut crowd = Crowd::new(processors);
        crowd.verify();
        show(&processors.to_string(), 1, crowd.accesses());
    }
}

/// So many accesses on a path, or rounds of a crowd of processors.
fn run(what: &str, amount: u64) {
    match PATHS.into_iter().find(|known| format!("{known:?}") == *what) {
        Some(path) => Runner::new(path).run(amount),
        None => {
            let mut crowd = Crowd::new(what.parse().expect("a path's name or a number of processors"));
            (0..amount).for_each(|_| crowd.round());
        }
    }
}

/// Prints what `amount` more costs, which is so many accesses.
fn show(what: &str, amount: u64, accesses: u64) {
    match (instructions(what, amount), instructions(what, 2 * amount)) {
        (Ok(once), Ok(twice)) => println!("{what:24} {:8.1}", (twice - once) as f64 / accesses as f64),
        (Err(problem), _) | (_, Err(problem)) => eprintln!("SKIPPED: {what}: {problem}"),
    }
}

/// Instructions of one run of this program under callgrind.
fn instructions(what: &str, amount: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=2"])
        .arg(program)
        .args(["--run", what, &amount.to_string()])
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let number = log.lines().find_map(|line| line.split("Collected :").nth(1));
    number
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| format!("no count in valgrind's log: {log}"))
}
