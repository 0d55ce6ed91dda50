//! Each house rule is proven on a small tree that breaks just that rule, and on a tree that keeps them all.

#![allow(clippy::unwrap_used)] // a test stops at the first surprise

use std::fs;
use tempfile::TempDir;
use xtask::tidy::{self, rules};

/// A tree that keeps every rule.
fn tidy_tree() -> TempDir {
    let tree = TempDir::new().unwrap();
    write(&tree, "crates/machine/Cargo.toml", "[package]\nname = \"olifant-machine\"\n");
    write(&tree, "crates/machine/src/lib.rs", "//! Machines as data.\n\npub struct Machine;\n");
    write(&tree, "crates/sim/Cargo.toml", "[dependencies]\nolifant-machine.workspace = true\n");
    write(&tree, "crates/sim/src/lib.rs", "//! The simulator.\n\nuse olifant_machine::Machine;\n");
    write(&tree, "crates/sys/src/lib.rs", "//! The fence.\n\nunsafe extern \"C\" {}\n");
    tree
}

fn write(tree: &TempDir, path: &str, text: &str) {
    let path = tree.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The rules broken by a tidy tree with one file added or replaced, as `path:line rule`.
fn broken_by(path: &str, text: &str) -> Vec<String> {
    let tree = tidy_tree();
    write(&tree, path, text);
    let report = tidy::check(tree.path()).unwrap();
    report.violations.iter().map(|v| format!("{}:{} {}", v.path, v.line, v.rule)).collect()
}

#[test]
fn a_tidy_tree_breaks_no_rule() {
    let report = tidy::check(tidy_tree().path()).unwrap();
    assert_eq!(report.violations, []);
    assert_eq!(report.files, 5);
}

#[test]
fn a_manifest_that_depends_upward_is_caught() {
    let broken = broken_by("crates/machine/Cargo.toml", "[dependencies]\nolifant-sim.workspace = true\n");
    assert_eq!(broken, ["crates/machine/Cargo.toml:2 upward import"]);
}

#[test]
fn an_upward_dependency_of_tests_or_under_another_name_is_caught() {
    let text = "[dev-dependencies]\nengine = { package = \"olifant-sim\", path = \"../sim\" }\n";
    assert_eq!(broken_by("crates/machine/Cargo.toml", text), ["crates/machine/Cargo.toml:2 upward import"]);
    let text = "[target.'cfg(unix)'.dependencies]\nolifant-store.workspace = true\n";
    assert_eq!(broken_by("crates/sim/Cargo.toml", text), ["crates/sim/Cargo.toml:2 upward import"]);
}

#[test]
fn a_use_line_that_goes_upward_is_caught() {
    let broken = broken_by("crates/sim/src/new.rs", "//! New.\n\nuse olifant_store::write;\n");
    assert_eq!(broken, ["crates/sim/src/new.rs:3 upward import"]);
}

#[test]
fn imports_downward_and_sideways_are_allowed() {
    let text = "//! New.\n\nuse olifant_machine::Machine;\nuse olifant_opium::Profile;\n// olifant_cli in a comment\n";
    assert_eq!(broken_by("crates/advisor/src/lib.rs", text), [""; 0]);
}

#[test]
fn a_crate_without_a_floor_is_caught() {
    assert_eq!(
        broken_by("crates/attic/Cargo.toml", "[package]\n"),
        ["crates/attic/Cargo.toml:0 upward import"]
    );
}

#[test]
fn unsafe_outside_the_fence_is_caught_and_a_word_in_a_comment_is_not() {
    let text = "//! Not unsafe at all.\n\nconst S: &str = \"unsafe\";\nfn f() { unsafe {} }\n";
    assert_eq!(
        broken_by("crates/store/src/lib.rs", text),
        ["crates/store/src/lib.rs:4 unsafe outside the fence"]
    );
    let text = "//! New.\n#![allow(unsafe_code)]\n";
    assert_eq!(
        broken_by("crates/cli/src/main.rs", text),
        ["crates/cli/src/main.rs:2 unsafe outside the fence"]
    );
}

#[test]
fn every_impure_import_on_a_pure_floor_is_caught() {
    for module in rules::IMPURE_MODULES {
        let text = format!("//! New.\n\nuse std::{module}::thing;\n");
        let broken = broken_by("crates/opium/src/lib.rs", &text);
        assert_eq!(broken, ["crates/opium/src/lib.rs:3 impure import on a pure floor"], "std::{module}");
    }
    for grouped in ["{collections::{HashMap, HashSet}, fs}", "{env, fmt}"] {
        let text = format!("//! New.\n\nuse std::{grouped};\n");
        assert_eq!(broken_by("crates/placement/src/lib.rs", &text).len(), 1, "{grouped}");
    }
    for name in rules::IMPURE_TYPES {
        let text = format!("//! New.\n\nfn f() -> {name} {{ todo }}\n");
        assert_eq!(broken_by("crates/sim/src/new.rs", &text).len(), 1, "{name}");
    }
}

#[test]
fn tests_on_a_pure_floor_may_read_files_and_higher_floors_may_too() {
    let text = "//! New.\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    assert_eq!(broken_by("crates/sim/src/new.rs", text), [""; 0]);
    assert_eq!(broken_by("crates/sim/tests/laws.rs", "//! Laws.\nuse std::fs;\n"), [""; 0]);
    assert_eq!(broken_by("crates/store/src/lib.rs", "//! Store.\nuse std::fs;\n"), [""; 0]);
    assert_eq!(broken_by("crates/sim/src/new.rs", "//! New.\nuse std::collections::HashMap;\n"), [""; 0]);
}

#[test]
fn a_file_of_one_line_too_many_is_caught_and_tables_and_tests_are_not() {
    let lines = |count: usize| format!("//! Long.\n{}", "const A: u8 = 0;\n".repeat(count - 1));
    assert_eq!(broken_by("crates/sim/src/new.rs", &lines(rules::LONGEST_FILE)), [""; 0]);
    let long = lines(rules::LONGEST_FILE + 1);
    assert_eq!(broken_by("crates/sim/src/new.rs", &long), ["crates/sim/src/new.rs:0 long file"]);
    assert_eq!(broken_by("crates/sim/src/protocol_table.rs", &long), [""; 0]);
    assert_eq!(broken_by("crates/sim/tests/laws.rs", &long), [""; 0]);
    let tested =
        format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(500), "const A: u8 = 0;\n".repeat(200));
    assert_eq!(broken_by("crates/sim/src/new.rs", &tested), [""; 0]);
}

#[test]
fn every_mark_of_unfinished_work_is_caught() {
    for (marker, _) in rules::MARKERS {
        let broken = broken_by("crates/store/src/lib.rs", &format!("//! Store.\n// {marker}\n"));
        assert_eq!(broken, ["crates/store/src/lib.rs:2 unfinished work"], "{marker}");
    }
    assert_eq!(broken_by("crates/store/src/lib.rs", "//! Store.\nconst T: &str = \"aXXXXXX\";\n"), [""; 0]);
}

#[test]
fn a_missing_head_is_caught() {
    assert_eq!(broken_by("crates/store/src/lib.rs", "use a;\n"), ["crates/store/src/lib.rs:1 missing head"]);
    assert_eq!(broken_by("programs/ocean.c", "#include <stdio.h>\n"), ["programs/ocean.c:1 missing head"]);
    assert_eq!(broken_by("scripts/setup.sh", "#!/bin/sh\nset -e\n"), ["scripts/setup.sh:1 missing head"]);
    let licensed = "// SPDX-License-Identifier: MIT OR Apache-2.0\n//! Store.\n";
    assert_eq!(broken_by("crates/store/src/lib.rs", licensed), [""; 0]);
}

#[test]
fn trailing_blanks_and_a_missing_last_newline_are_caught() {
    assert_eq!(broken_by("README.md", "Olifant \n"), ["README.md:1 trailing blanks"]);
    assert_eq!(broken_by("README.md", "Olifant"), ["README.md:1 last line"]);
    assert_eq!(broken_by("README.md", "Olifant\n\n"), ["README.md:2 last line"]);
}

#[test]
fn a_path_of_one_machine_is_caught() {
    for path in rules::HOST_PATHS {
        let broken = broken_by("docs/book.md", &format!("See {path}notes.\n"));
        assert_eq!(broken, ["docs/book.md:1 path of one machine"], "{path}");
    }
    assert_eq!(broken_by("docs/book.md", "See ../work/notes and $ROOT/tmp/x.\n"), [""; 0]);
}

#[test]
fn captured_trees_and_builds_are_not_read() {
    assert_eq!(broken_by("tests/captures/a/run", "/home/somebody \n"), [""; 0]);
    assert_eq!(broken_by("target/debug/x.rs", "use a \n"), [""; 0]);
}

#[test]
fn the_fence_and_the_exceptions_name_known_things() {
    for (name, reason) in rules::FENCE {
        assert!(rules::floor_of(name).is_some(), "{name} has a floor");
        assert!(!reason.is_empty(), "{name} has a reason");
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for (path, reason) in rules::LONG_FILES {
        assert!(fs::metadata(format!("{root}/{path}")).is_ok(), "{path} exists");
        assert!(!reason.is_empty(), "{path} has a reason");
    }
}
