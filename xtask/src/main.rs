//! `cargo xtask`-style entry point of the project's chores: `cargo run -p xtask -- tidy [ROOT]`.
//!
//! Exit codes: 0 tidy, 1 rules broken, 2 wrong usage or an unreadable tree.

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- tidy [ROOT]\n\n  tidy   checks the house rules (CONTRIBUTING.md) on the tree at ROOT, by default this checkout";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["tidy"] => tidy(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))),
        ["tidy", root] => tidy(PathBuf::from(root)),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn tidy(root: PathBuf) -> ExitCode {
    match xtask::tidy::check(&root) {
        Ok(report) if report.violations.is_empty() => {
            eprintln!("tidy: {} files, every rule holds", report.files);
            ExitCode::SUCCESS
        }
        Ok(report) => {
            for violation in &report.violations {
                eprintln!("{violation}");
            }
            eprintln!("tidy: {} files, {} broken rules", report.files, report.violations.len());
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("tidy: {error:#}");
            ExitCode::from(2)
        }
    }
}
