//! Proves placement on the machine it runs on: a second process places memory and threads through this crate, and this
//! one looks where they are with move_pages(2), sched_getaffinity(2) and /proc, without asking the crate.
//!
//!     rset-selftest [--expect "0:0-3:m 1:4-7:m 2:8-11:- 9::m"]
//!
//! The expectation names each node with its cpus and `m` for memory or `-` for none; without it, the topology is taken
//! as found. One line per check, `ok` or `FAILED`; exit code 0 if all are ok, 1 if not, 2 for wrong usage. What the
//! machine cannot show (a remote policy on one node) is a line `skipped` with the reason. `rset-selftest hold ...` is
//! the second process. A cpuset is shown by running
//! in one.
#![allow(clippy::print_stdout, reason = "the lines are the answer")]

mod checks;
mod expectation;
mod holder;
mod process;
mod refusals;

use checks::Outcome;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let expected = match words.as_slice() {
        ["hold", job @ ..] => return holder::hold(job),
        [] => None,
        ["--expect", text] => Some(*text),
        _ => {
            eprintln!("usage: rset-selftest [--expect \"NODE:CPUS:m|- ...\"]");
            return ExitCode::from(2);
        }
    };
    let system = match rset::System::find() {
        Ok(system) => system,
        Err(error) => {
            eprintln!("rset-selftest: {error}");
            return ExitCode::from(2);
        }
    };
    let mut all = Vec::new();
    if let Some(text) = expected {
        match expectation::check(&system, text) {
            Ok(outcome) => all.push(("the topology is as expected".to_owned(), outcome)),
            Err(problem) => {
                eprintln!("rset-selftest: --expect: {problem}");
                return ExitCode::from(2);
            }
        }
    }
    all.extend(checks::memory(&system));
    all.extend(checks::threads(&system));
    all.extend(refusals::all(&system));
    let mut failed = 0;
    for (name, outcome) in &all {
        match outcome {
            Outcome::Ok(detail) => {
                println!("ok       {name}{}{detail}", if detail.is_empty() { "" } else { ": " })
            }
            Outcome::Skipped(why) => println!("skipped  {name}: {why}"),
            Outcome::Failed(why) => {
                failed += 1;
                println!("FAILED   {name}: {why}");
            }
        }
    }
    println!("{} checks, {failed} failed", all.len());
    ExitCode::from(u8::from(failed > 0))
}
