//! Programs that run are sampled for real. The program is this test file itself, started again with a word in its
//! environment that says what to do; what it accessed it tells on its standard output.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use olifant_machine::Machine;
use olifant_opium::profile::Profile;
use olifant_sampler::{Options, SamplerError, record_process, record_program};
use olifant_sys::Pid;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WORK: &str = "OLIFANT_SAMPLER_WORK";
const ELEMENTS: usize = 1 << 20;

/// Not a test of its own: the work of the program that the tests start.
#[test]
fn work() {
    let Ok(work) = std::env::var(WORK) else { return };
    let seconds = Duration::from_secs_f64(work.parse().unwrap());
    let first = vec![1_u64; ELEMENTS];
    let mut second = vec![2_u64; ELEMENTS];
    let place = |data: &[u64]| format!("{:x} {:x}", data.as_ptr() as usize, size_of_val(data));
    // Past the harness, which keeps what a test prints.
    writeln!(std::io::stdout(), "\n@ {} {}", place(&first), place(&second)).unwrap();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut sum = 0_u64;
            while begun.elapsed() < seconds {
                sum = first.iter().fold(sum, |sum, value| sum.wrapping_add(std::hint::black_box(*value)));
            }
            sum
        });
        let writer = scope.spawn(|| {
            while begun.elapsed() < seconds {
                second.iter_mut().for_each(|value| *value = std::hint::black_box(*value).wrapping_add(1));
            }
        });
        writer.join().unwrap();
        std::hint::black_box(reader.join().unwrap());
    });
}

fn options() -> Options {
    let mut machine = olifant_machine::catalogue::find("olifant").unwrap().configure("1N1").unwrap();
    machine.nodes[0].cpus = (0..std::thread::available_parallelism().map_or(1, usize::from))
        .map(|cpu| olifant_machine::CpuId(u16::try_from(cpu).unwrap()))
        .collect();
    let machine: Machine = machine;
    Options { machine, rate: 20_000, seed: 1, sites: None, granule_bytes: 4096 }
}

/// The words that make this file do its work.
fn words() -> [&'static str; 3] {
    ["work", "--exact", "--nocapture"]
}

/// Where the two arrays were, from what the program said.
fn places(line: &str) -> [Range<u64>; 2] {
    let numbers: Vec<u64> =
        line.split(' ').skip(1).map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
    [numbers[0]..numbers[0] + numbers[1], numbers[2]..numbers[2] + numbers[3]]
}

/// Reads and writes of a run of addresses by each thread.
fn accesses(profile: &Profile, place: &Range<u64>) -> Vec<(u64, u64)> {
    let mut by_thread = vec![(0, 0); profile.threads.len()];
    for granule in &profile.granules {
        let start = profile.areas[granule.area as usize].start / 4096 + granule.index;
        if place.contains(&(start * 4096)) {
            for by in &granule.by {
                by_thread[usize::from(by.thread)].0 += by.reads;
                by_thread[usize::from(by.thread)].1 += by.writes;
            }
        }
    }
    by_thread
}

fn is_refused(error: &SamplerError) -> bool {
    let is_refused = matches!(error, SamplerError::Refused { .. } | SamplerError::Architecture(_));
    if is_refused {
        eprintln!("skipped: {error}");
    }
    is_refused
}

/// One thread reads the first array, another changes the second, and neither touches the other's.
fn check(profile: &Profile, places: &[Range<u64>; 2]) {
    let (first, second) = (accesses(profile, &places[0]), accesses(profile, &places[1]));
    let reader = (0..first.len()).max_by_key(|thread| first[*thread].0).unwrap();
    let writer = (0..second.len()).max_by_key(|thread| second[*thread].1).unwrap();
    let seen = format!("{first:?} {second:?}");
    assert!(first[reader].0 > 20 && second[writer].1 > 20 && reader != writer, "{seen}");
    assert!(first[reader].1 == 0 && second[reader] == (0, 0) && first[writer] == (0, 0), "{seen}");
}

#[test]
fn a_program_that_is_started_is_sampled_by_thread_and_address() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stdout");
    let own = std::env::current_exe().unwrap();
    let script = format!("{WORK}=2 exec '{}' {}", own.display(), words().join(" "));
    let stdout = std::fs::File::create(&path).unwrap();
    let arguments = ["-c".into(), script.into()];
    let shell = PathBuf::from("/bin/sh");
    let outcome = match record_program(&shell, &shell, &arguments, stdout.into(), &options()) {
        Err(error) if is_refused(&error) => return,
        outcome => outcome.unwrap(),
    };
    assert_eq!(outcome.profile.run.exit_code, 0);
    assert!(outcome.profile.run.is_complete);
    let said = std::fs::read_to_string(&path).unwrap();
    check(&outcome.profile, &places(said.lines().find(|line| line.starts_with('@')).unwrap()));
}

#[test]
fn a_process_that_runs_is_sampled_and_goes_on_afterwards() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(words())
        .env(WORK, "4")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.find_map(|line| line.ok().filter(|line| line.starts_with('@'))).unwrap();
    let begun = Instant::now();
    let process = Pid(child.id().cast_signed());
    let outcome = record_process(process, &options(), &mut |_| begun.elapsed() > Duration::from_secs(2));
    match outcome {
        Err(error) if is_refused(&error) => {}
        outcome => {
            let outcome = outcome.unwrap();
            check(&outcome.profile, &places(&line));
            assert!(!outcome.profile.run.is_complete);
        }
    }
    assert!(child.try_wait().unwrap().is_none(), "the program was ended by its recording");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_process_that_is_not_there_is_named() {
    let mut child = Command::new("true").spawn().unwrap();
    let process = Pid(child.id().cast_signed());
    child.wait().unwrap();
    let error = record_process(process, &options(), &mut |_| true).unwrap_err();
    assert!(matches!(error, SamplerError::NoProcess(_)), "{error}");
}
