//! The same command gives the same bytes: whatever the environment's size, the folder, the program's name, the load
//! of the host. Only `host_seconds` may differ.

use olifant_tests::{built, olifant_command};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A program and arguments that take the simulator about a second.
const PROGRAM: &str = "bin/ocean";
const ARGUMENTS: [&str; 4] = ["-n", "66", "-p", "8"];

/// The JSON of one run without the one field that may differ.
fn measure(mut command: Command) -> String {
    let output = command.output().expect("olifant starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    let mut run: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("stdout is one JSON value");
    let removed = run.as_object_mut().and_then(|fields| fields.remove("host_seconds"));
    assert!(removed.is_some(), "host_seconds is a field: {run}");
    run.to_string()
}

fn run(program: &Path) -> Command {
    let mut command = olifant_command(&["run", "--memory", "any", "--seed", "3", "--format", "json", "--"]);
    command.arg(program).args(ARGUMENTS);
    command
}

/// Calls a function when it goes out of scope.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_run_depends_on_nothing_but_its_arguments() {
    let program = built(PROGRAM);
    let first = measure(run(&program));
    assert_eq!(measure(run(&program)), first, "run again");

    let mut large = run(&program);
    for index in 0..64 {
        large.env(format!("PADDING_{index}"), "x".repeat(1000 + index));
    }
    assert_eq!(measure(large), first, "with a larger environment");

    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut elsewhere = run(&program);
    elsewhere.current_dir(folder.path());
    assert_eq!(measure(elsewhere), first, "in another folder");

    let renamed = folder.path().join("a-name-of-quite-another-length");
    std::fs::copy(&program, &renamed).expect("the program can be copied");
    assert_eq!(measure(run(&renamed)), first, "under another name");

    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        // Also when the measurement fails, so that the failure is seen and not a test that never ends.
        let _ends_the_load = OnDrop(|| is_over.store(true, Ordering::Relaxed));
        assert_eq!(measure(run(&program)), first, "on a loaded machine");
    });
}

#[test]
fn another_seed_gives_another_run_where_the_seed_decides() {
    let with_seed = |seed: &str| {
        let mut command =
            olifant_command(&["run", "--memory", "any", "--seed", seed, "--format", "json", "--"]);
        command.arg(built(PROGRAM)).args(ARGUMENTS);
        measure(command)
    };
    assert_ne!(with_seed("3"), with_seed("4"));
}
