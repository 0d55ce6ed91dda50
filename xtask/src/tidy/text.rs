//! What every file must look like: a head that says what it is, no unfinished work, no trailing blanks, no path of
//! somebody's machine, a length that a reader can hold.

use super::{Violation, mask, rules, tree::File};

/// Checks the rules that hold for text of any kind.
pub fn check(file: &File, violations: &mut Vec<Violation>) {
    check_head(file, violations);
    let names_markers = rules::MARKER_FILES.contains(&file.path.as_str());
    for (index, line) in file.text.lines().enumerate() {
        let mut report = |rule, message| {
            violations.push(Violation { path: file.path.clone(), line: index + 1, rule, message });
        };
        if line.ends_with([' ', '\t', '\r']) {
            report("trailing blanks", "remove them".to_owned());
        }
        if names_markers {
            continue;
        }
        for (marker, instead) in rules::MARKERS {
            if contains_marker(line, marker) {
                report("unfinished work", format!("`{marker}`: {instead}"));
            }
        }
        for path in rules::HOST_PATHS {
            if contains_absolute(line, path) {
                report("path of one machine", format!("`{path}`: use a relative path or a variable"));
            }
        }
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        violations.push(Violation {
            path: file.path.clone(),
            line: file.text.lines().count(),
            rule: "last line",
            message: "a file ends with one newline".to_owned(),
        });
    }
}

/// Checks the length of a source file; `code` is the masked text of a Rust file.
pub fn check_length(file: &File, code: Option<&mask::Masked>, violations: &mut Vec<Violation>) {
    let path = file.path.as_str();
    let is_source = [".rs", ".c", ".h", ".cpp"].iter().any(|end| path.ends_with(end));
    let is_test = path.split('/').any(|part| part == "tests" || part == "benches" || part == "tests.rs");
    let is_table = rules::TABLE_FILES.iter().any(|end| path.ends_with(end));
    let is_excepted = rules::LONG_FILES.iter().any(|(excepted, _)| *excepted == path);
    if !is_source || is_test || is_table || is_excepted {
        return;
    }
    let lines = code.map_or_else(|| file.text.lines().count(), |code| code.shipped_lines(&file.text));
    if lines > rules::LONGEST_FILE {
        violations.push(Violation {
            path: file.path.clone(),
            line: 0,
            rule: "long file",
            message: format!(
                "{lines} lines, at most {}: split it by what its parts are about",
                rules::LONGEST_FILE
            ),
        });
    }
}

fn check_head(file: &File, violations: &mut Vec<Violation>) {
    let mut lines = file.text.lines();
    let mut first = lines.next().unwrap_or_default();
    if first.starts_with("#!/") || first.starts_with("// SPDX-License-Identifier") {
        first = lines.next().unwrap_or_default();
    }
    let expected = match file.path.rsplit('.').next() {
        Some("rs") => &["//! "][..],
        Some("c" | "h" | "cpp") => &["/* ", "// ", "/*", "/// "][..],
        Some("sh") => &["# "][..],
        _ => return,
    };
    if !expected.iter().any(|head| first.starts_with(head)) {
        violations.push(Violation {
            path: file.path.clone(),
            line: 1,
            rule: "missing head",
            message: format!("the first line says what the file is: `{}...`", expected[0]),
        });
    }
}

/// A marker counts as a word of its own, not as a part of a longer one such as mkstemp's template.
fn contains_marker(line: &str, marker: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(marker).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + marker.len()..].chars().next();
        let is_part = is_word(before) || (marker.ends_with(char::is_alphanumeric) && is_word(after));
        !is_part
    })
}

/// True if `path` starts an absolute path in `line`: `../work/` and `<root>/home/` are none.
fn contains_absolute(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| {
            c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '>' | '}' | ')' | '$' | '*' | '~')
        })
    })
}
