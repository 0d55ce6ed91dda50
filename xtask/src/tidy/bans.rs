//! What code may use where: unsafe code only behind the fence; on the pure floors no files, environment, clock,
//! threads, processes or sockets outside of tests.

use super::{Violation, mask, rules, tree::File};

/// Checks one Rust file.
pub fn check(file: &File, code: &mask::Masked, violations: &mut Vec<Violation>) {
    let owner = rules::crate_of(&file.path);
    if !rules::FENCE.iter().any(|(name, _)| owner == Some(name)) {
        check_unsafe(file, code, violations);
    }
    let is_pure = owner.and_then(rules::floor_of).is_some_and(|floor| floor <= rules::HIGHEST_PURE_FLOOR);
    let is_shipped =
        file.path.contains("/src/") && !file.path.ends_with("/tests.rs") && !file.path.contains("/tests/");
    if is_pure && is_shipped {
        check_purity(file, &code.shipped, violations);
    }
}

fn check_unsafe(file: &File, code: &mask::Masked, violations: &mut Vec<Violation>) {
    for (line, _, word) in mask::words(&code.code) {
        if word == "unsafe" || word == "unsafe_code" {
            let fence: Vec<&str> = rules::FENCE.iter().map(|(name, _)| *name).collect();
            violations.push(Violation {
                path: file.path.clone(),
                line,
                rule: "unsafe outside the fence",
                message: format!("`{word}` may stand only in {}", fence.join(", ")),
            });
        }
    }
}

fn check_purity(file: &File, code: &str, violations: &mut Vec<Violation>) {
    let mut report = |line: usize, what: String| {
        violations.push(Violation {
            path: file.path.clone(),
            line,
            rule: "impure import on a pure floor",
            message: format!(
                "`{what}`: floors 0 to {} have no files, environment, clock or threads; pass the data in",
                rules::HIGHEST_PURE_FLOOR
            ),
        });
    };
    for (line, offset, word) in mask::words(code) {
        if rules::IMPURE_TYPES.contains(&word) {
            report(line, word.to_owned());
        }
        if word == "std" {
            let rest = code[offset + word.len()..].trim_start();
            let Some(rest) = rest.strip_prefix("::") else { continue };
            for module in first_names(rest.trim_start()) {
                if rules::IMPURE_MODULES.contains(&module) {
                    report(line, format!("std::{module}"));
                }
            }
        }
    }
}

/// The names that can follow `std::`: one, or the first name of each branch of `{a::b, c}`.
fn first_names(rest: &str) -> Vec<&str> {
    fn name(text: &str) -> &str {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        &text[..end]
    }
    let Some(group) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let mut names = vec![name(group)];
    let mut depth = 1;
    for (offset, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(&group[offset + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}
