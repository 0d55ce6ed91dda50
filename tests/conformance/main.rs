//! Each conformance program prints and ends under `olifant run` as it does by itself, and as programs/conformance/list
//! says. One test per program and way to run it.

mod case;
mod process;

use case::Case;
use libtest_mimic::{Arguments, Failed, Trial};
use olifant_tests::{built, olifant_command, root};
use process::{Ended, run};
use std::process::Command;

fn main() {
    let list = root().join("programs/conformance/list");
    let text =
        std::fs::read_to_string(&list).unwrap_or_else(|error| panic!("read {}: {error}", list.display()));
    let cases: Vec<Case> = text.lines().filter_map(Case::parse).collect();
    assert!(!cases.is_empty(), "{} names no program", list.display());
    let mut trials = Vec::new();
    for case in cases {
        let again = case.clone();
        trials.push(Trial::test(format!("{}_runs_as_listed_by_itself", case.name), move || natively(&again)));
        trials.push(Trial::test(format!("{}_runs_as_listed_under_olifant", case.name), move || {
            under_olifant(&case)
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn natively(case: &Case) -> Result<(), Failed> {
    let command = Command::new(built(&format!("conformance-native/{}", case.name)));
    compare(case, command)
}

fn under_olifant(case: &Case) -> Result<(), Failed> {
    let mut command = olifant_command(&["run", "--"]);
    command.arg(built(&format!("conformance/{}", case.name)));
    compare(case, command)
}

fn compare(case: &Case, mut command: Command) -> Result<(), Failed> {
    command.args(&case.arguments).env("CONFORMANCE_VARIABLE", "a b");
    let Ended { code, stdout, stderr } = run(command)?;
    if code == Some(case.code) && stdout == case.stdout {
        return Ok(());
    }
    let code = code.map_or("none: it did not end in time".to_owned(), |code| code.to_string());
    Err(format!(
        "exit code {code}, expected {}\nstdout {stdout:?}\nexpected {:?}\nstderr {stderr}",
        case.code, case.stdout
    )
    .into())
}
