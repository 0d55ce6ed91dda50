//! Who imports whom: no crate names one of a higher floor, neither in its Cargo.toml nor in its code.

use super::{Violation, mask, rules, tree::File};
use anyhow::Context;

const RULE: &str = "upward import";

/// Checks the dependencies that a crate's manifest declares, those of tests and build scripts included: a test that
/// needs a higher floor lives in `tests/`.
pub fn check_manifest(file: &File, violations: &mut Vec<Violation>) -> anyhow::Result<()> {
    let Some(importer) = rules::crate_of(&file.path) else { return Ok(()) };
    let manifest: toml::Table = file.text.parse().with_context(|| format!("parse {}", file.path))?;
    if rules::floor_of(importer).is_none() {
        violations.push(Violation {
            path: file.path.clone(),
            line: 0,
            rule: RULE,
            message: format!("crate `{importer}` has no floor: add it to FLOORS in xtask/src/tidy/rules.rs"),
        });
    }
    let mut tables = vec![&manifest];
    if let Some(toml::Value::Table(targets)) = manifest.get("target") {
        tables.extend(targets.values().filter_map(toml::Value::as_table));
    }
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(toml::Value::Table(dependencies)) = table.get(kind) else { continue };
            for (key, value) in dependencies {
                let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(key);
                if let Some(imported) = package.strip_prefix("olifant-") {
                    let line = file.text.lines().position(|line| line.trim_start().starts_with(key.as_str()));
                    judge(file, importer, imported, line.map_or(0, |index| index + 1), violations);
                }
            }
        }
    }
    Ok(())
}

/// Checks every path in the code that starts with the name of one of our crates.
pub fn check_source(file: &File, code: &mask::Masked, violations: &mut Vec<Violation>) {
    let Some(importer) = rules::crate_of(&file.path) else { return };
    for (line, _, word) in mask::words(&code.code) {
        if let Some(imported) = word.strip_prefix("olifant_") {
            judge(file, importer, imported, line, violations);
        }
    }
}

fn judge(file: &File, importer: &str, imported: &str, line: usize, violations: &mut Vec<Violation>) {
    let (Some(low), Some(high)) = (rules::floor_of(importer), rules::floor_of(imported)) else { return };
    if high > low {
        violations.push(Violation {
            path: file.path.clone(),
            line,
            rule: RULE,
            message: format!(
                "`{importer}` (floor {low}) imports `{imported}` (floor {high}); imports go down only"
            ),
        });
    }
}
