//! Commands in a guest: programs built for it, scripts run in it, and what they print.

use olifant_tests::{olifant, olifant_command, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;

/// Seconds that one command in a guest may take on a loaded host.
const TIME_LIMIT: &str = "240";

/// A folder with the programs for the guest, which is the guest's current folder.
pub struct Guest {
    folder: tempfile::TempDir,
    machine: Vec<String>,
}

impl Guest {
    /// Guests of the prototype's 4 x 4. The first one boots and is saved; the others go on from there.
    pub fn of_prototype() -> Guest {
        static SAVED: Once = Once::new();
        let guest = Guest { folder: folder(), machine: vec!["--on".into(), "olifant".into()] };
        SAVED.call_once(|| {
            guest.run("true");
        });
        guest
    }

    /// Guests of a machine file in the folder, which `write` writes.
    pub fn of_file(write: impl FnOnce(&Path) -> std::path::PathBuf) -> Guest {
        let folder = folder();
        let file = write(folder.path());
        Guest { folder, machine: vec!["--on".into(), file.display().to_string()] }
    }

    /// The guest's current folder on the host.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command, with `options` in place of the usual time limit; whatever comes of it.
    pub fn output(&self, options: &[&str], command: &[&str], input: &str) -> Output {
        let mut child = self.start(options, command);
        // A command that does not read leaves the pipe broken, which is no failure of the test.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
        child.wait_with_output().expect("olifant ends")
    }

    /// Starts a command, its input and output on pipes. Temporary files go to the current folder's `lab`.
    pub fn start(&self, options: &[&str], command: &[&str]) -> Child {
        let mut words: Vec<&str> = vec!["lab", "--accelerator", "emulation"];
        words.extend(self.machine.iter().map(String::as_str));
        words.extend(if options.is_empty() { &["--time-limit", TIME_LIMIT][..] } else { options });
        words.push("--");
        words.extend(command);
        olifant_command(&words)
            .current_dir(self.folder())
            .env("TMPDIR", self.temporary())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("olifant can be started")
    }

    /// Where `olifant lab` has its temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.folder().join("lab")
    }

    /// Runs a shell script, in which `$olifant` is the command under test, and gives what it printed.
    ///
    /// # Panics
    /// If any command of it fails.
    pub fn run(&self, script: &str) -> String {
        let script = format!("set -eu\nolifant={}\n{script}", olifant().display());
        let output = self.output(&[], &["sh", "-c", &script], "");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{script}\n{:?}\nstdout: {stdout}\nstderr: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        stdout
    }
}

/// A folder with the programs.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary files can be made");
    std::fs::create_dir(folder.path().join("lab")).expect("the folder can be written");
    built_for_guest(folder.path(), "placed", &[]);
    built_for_guest(folder.path(), "threads", &["-fopenmp"]);
    folder
}

/// Builds one of the C programs beside this file into a folder.
///
/// # Panics
/// If the compiler refuses it.
pub fn built_for_guest(folder: &Path, program: &str, options: &[&str]) {
    let source = root().join("tests/lab").join(program).with_extension("c");
    let built = Command::new("gcc")
        .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"])
        .args(options)
        .arg("-o")
        .arg(folder.join(program))
        .arg(source)
        .status();
    assert!(built.is_ok_and(|status| status.success()), "gcc cannot build {program}");
}

/// What `placed` and `olifant where --format json` print: the address of the mapping, then one object per look at it.
pub struct Looks {
    address: u64,
    looks: Vec<Value>,
}

impl Looks {
    /// Reads the text.
    ///
    /// # Panics
    /// If it is not that.
    pub fn of(text: &str) -> Looks {
        let mut lines = text.lines();
        let address =
            lines.next().and_then(hexadecimal).unwrap_or_else(|| panic!("no address first: {text}"));
        let looks =
            lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no object: {line}")));
        Looks { address, looks: looks.collect() }
    }

    /// Pages of the mapping by node, in one of the looks.
    ///
    /// # Panics
    /// If the mapping is not there.
    pub fn pages(&self, look: usize) -> BTreeMap<u64, u64> {
        let mappings = self.looks[look]["mappings"].as_array().expect("mappings are a list");
        let here = |mapping: &&Value| mapping["start"].as_str().and_then(hexadecimal) == Some(self.address);
        let mapping = mappings.iter().find(here).expect("the mapping is listed");
        let nodes = mapping["nodes"].as_array().expect("nodes are a list");
        nodes
            .iter()
            .map(|node| (node["node"].as_u64().unwrap_or(99), node["bytes"].as_u64().unwrap_or(0) / 4096))
            .collect()
    }

    /// The cpus that the first thread may run on, in one of the looks.
    pub fn cpus(&self, look: usize) -> String {
        self.looks[look]["threads"][0]["allowed"].as_str().unwrap_or_default().to_owned()
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}
