//! One processor's misses agree with cachegrind's within 2 % on two programs of different kind.
//!
//! Each program is compiled and run twice under valgrind: lackey writes the trace of its accesses, which is fed to the
//! engine, and cachegrind simulates caches of olifant's geometry by itself. Differences that remain: olifant's second
//! level includes the first, so a line that leaves the second leaves the first; cachegrind's does not. Cachegrind is
//! virtually indexed, which coloured frames equal, and its last level also holds instructions, of which these programs
//! have few.
#![allow(clippy::unwrap_used, reason = "helpers of tests may end them")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of sets")]

use olifant_machine::{Machine, catalogue};
use olifant_placement::MemoryPolicy;
use olifant_sim::{Engine, Increment};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What both count of a program.
#[derive(Debug, Clone, Copy)]
struct Misses {
    accesses: u64,
    level1: u64,
    level2: u64,
}

/// Compiles a program of `programs/`; `None`, loudly, where a tool is missing.
fn compile(name: &str, directory: &Path) -> Option<PathBuf> {
    for (tool, option) in [("cc", "--version"), ("valgrind", "--version")] {
        let is_there = Command::new(tool).arg(option).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !is_there.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: {name} is not compared with cachegrind: {tool} is not installed");
            return None;
        }
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name).with_extension("c");
    let program = directory.join(name);
    let status =
        Command::new("cc").args(["-std=c11", "-O1", "-o"]).arg(&program).arg(source).status().unwrap();
    assert!(status.success(), "{name} does not compile");
    Some(program)
}

fn valgrind(tool: &str, options: &[&str], program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.arg(format!("--tool={tool}")).args(options).arg(program).env_clear().stdout(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// Feeds the trace to the engine, and to a TLB of the same size that is consulted at every access.
fn in_the_engine(program: &Path) -> (Misses, TlbMisses) {
    let machine = catalogue::find("olifant").unwrap().configure("1N1").unwrap();
    let line = machine.processor.l1.line.0;
    let mut engine = Engine::new(&machine, MemoryPolicy::FirstTouch, 1, 3, ()).unwrap();
    let mut tlb = StrictTlb::new(&machine);
    let options = ["--trace-mem=yes", "--log-fd=2"];
    let mut run = valgrind("lackey", &options, program).stderr(Stdio::piped()).spawn().unwrap();
    let trace = BufReader::new(run.stderr.take().unwrap());
    let mut accesses = 0u64;
    for text in trace.split(b'\n') {
        let Some((kind, address, bytes)) = access_of(&text.unwrap()) else { continue };
        accesses += 1;
        let increment = if kind == b'S' { Increment::write(1) } else { Increment::read(1) };
        // Cachegrind counts one access, and one miss at most, where two lines are crossed; so few that it is no matter.
        let last = address + bytes - 1;
        engine.access(0, address, increment, 0);
        tlb.access(address);
        if address / line != last / line {
            engine.access(0, last, increment, 0);
            tlb.access(last);
        }
        if kind == b'M' {
            engine.access(0, address, Increment::write(1), 0);
        }
        if accesses.is_multiple_of(10_000) {
            engine.run_until(0, u64::MAX / 1024);
        }
    }
    assert!(run.wait().unwrap().success(), "lackey failed");
    let counters = engine.counters(0);
    let misses = Misses { accesses, level1: counters.level1_misses, level2: counters.level2_misses };
    (misses, TlbMisses { engine: counters.tlb_misses, strict: tlb.misses })
}

/// TLB misses of the engine, which looks only where the first level does not hit, and of one that looks always.
#[derive(Debug, Clone, Copy)]
struct TlbMisses {
    engine: u64,
    strict: u64,
}

/// A TLB as lists of pages, the one used last at the end.
struct StrictTlb {
    sets: Vec<Vec<u64>>,
    ways: usize,
    page: u64,
    misses: u64,
}

impl StrictTlb {
    fn new(machine: &Machine) -> Self {
        let tlb = &machine.processor.tlb;
        let sets = vec![Vec::new(); (tlb.entries / tlb.ways) as usize];
        Self { sets, ways: tlb.ways as usize, page: machine.os.page.0, misses: 0 }
    }

    fn access(&mut self, address: u64) {
        let number = address / self.page;
        let sets = self.sets.len() as u64;
        let list = &mut self.sets[(number % sets) as usize];
        match list.iter().position(|&other| other == number) {
            Some(place) => drop(list.remove(place)),
            None => {
                self.misses += 1;
                if list.len() == self.ways {
                    list.remove(0);
                }
            }
        }
        list.push(number);
    }
}

/// Reads a line of lackey's trace: ` L 1ffe,8`, ` S` or ` M` for a load, a store, both. Instructions are passed over.
fn access_of(text: &[u8]) -> Option<(u8, u64, u64)> {
    let [b' ', kind @ (b'L' | b'S' | b'M'), b' ', rest @ ..] = text else { return None };
    let (address, bytes) = std::str::from_utf8(rest).ok()?.split_once(',')?;
    Some((*kind, u64::from_str_radix(address, 16).ok()?, bytes.trim_end().parse().ok()?))
}

/// Misses as cachegrind's summary gives them.
fn in_cachegrind(program: &Path) -> Misses {
    let options = [
        "--cache-sim=yes",
        "--I1=16384,4,32",
        "--D1=16384,4,32",
        "--LL=1048576,4,32",
        "--cachegrind-out-file=/dev/null",
        "--log-fd=2",
    ];
    let output = valgrind("cachegrind", &options, program).output().unwrap();
    let summary = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "cachegrind failed: {summary}");
    let first_number = |title: [&str; 2]| {
        let words = summary.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
        let found = words.into_iter().find(|words| words.len() > 2 && words[..2] == title);
        let number = found.unwrap_or_else(|| panic!("no {title:?} in {summary}"))[2].replace(',', "");
        number.parse::<u64>().unwrap_or_else(|_| panic!("{title:?} is not a number: {number}"))
    };
    Misses {
        accesses: first_number(["D", "refs:"]),
        level1: first_number(["D1", "misses:"]),
        level2: first_number(["LLd", "misses:"]),
    }
}

fn compare(name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = compile(name, directory.path()) else { return };
    let ((engine, tlb), cachegrind) = (in_the_engine(&program), in_cachegrind(&program));
    eprintln!("{name}: engine {engine:?}, cachegrind {cachegrind:?}, {tlb:?}");
    for (level, found, expected) in [
        ("accesses", engine.accesses, cachegrind.accesses),
        ("first-level misses", engine.level1, cachegrind.level1),
        ("second-level misses", engine.level2, cachegrind.level2),
    ] {
        let difference = found as f64 / expected as f64 - 1.0;
        assert!(
            difference.abs() < 0.02,
            "{name}: {level}: engine {found}, cachegrind {expected}: {difference:+.4}"
        );
    }
    assert!(cachegrind.level2 > 20_000, "{name} fits into the second level: {cachegrind:?}");
    // What it costs to look only where the first level does not hit, as the head of `tlb` says.
    assert!(tlb.engine.abs_diff(tlb.strict) * 100 <= tlb.strict * 5, "{name}: {tlb:?}");
}

#[test]
fn misses_of_a_stencil_agree_with_cachegrind() {
    compare("stencil");
}

#[test]
fn misses_of_a_hash_table_agree_with_cachegrind() {
    compare("chains");
}
