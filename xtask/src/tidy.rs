//! `tidy`: the house rules that a compiler doesn't know, checked on the text of the checkout.
//!
//! The rules stand in [`rules`] as tables; `floors` checks who imports whom, `bans` what each floor may use, `text`
//! what every file must look like. Each broken rule names its file, line and rule. The checks read text, not syntax
//! trees: a macro that assembles a forbidden name from pieces is not seen.

use std::fmt;
use std::path::Path;

mod bans;
mod floors;
mod mask;
pub mod rules;
mod text;
mod tree;

/// What a check of a tree found.
#[derive(Debug)]
pub struct Report {
    /// Number of files read.
    pub files: usize,
    /// The broken rules, by path and line.
    pub violations: Vec<Violation>,
}

/// One place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Path from the root, with forward slashes.
    pub path: String,
    /// 1-based line; 0 if the whole file is meant.
    pub line: usize,
    /// Name of the rule.
    pub rule: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// Checks every rule on the tree at `root`.
///
/// # Errors
/// If a folder or file can't be read, or a Cargo.toml is not TOML.
pub fn check(root: &Path) -> anyhow::Result<Report> {
    let files = tree::read(root)?;
    let mut violations = Vec::new();
    for file in &files {
        text::check(file, &mut violations);
        if file.path.ends_with(".rs") {
            let code = mask::Masked::new(&file.text);
            text::check_length(file, Some(&code), &mut violations);
            floors::check_source(file, &code, &mut violations);
            bans::check(file, &code, &mut violations);
        } else {
            text::check_length(file, None, &mut violations);
        }
        if file.path.ends_with("Cargo.toml") {
            floors::check_manifest(file, &mut violations)?;
        }
    }
    violations.sort();
    Ok(Report { files: files.len(), violations })
}
