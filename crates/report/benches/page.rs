//! How long the page of a large profile takes to write and to open, how large it is, and how long a step of zooming takes
//! (wall clock, and processor time). The answer is verified: the page's sum over all areas must equal the profile's.
//!
//! Run: `cargo bench -p olifant-report --bench page -- [COUNTERS] [store]`; a counter is what one thread did with one
//! granule from one node. With `store` the profile is written to its file, and the page is made from what is read back. Needs Chromium, and 50
//! bytes of memory for each counter. Records: experiments/page/record.md.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark talks, and fails where it stands")]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/page/browser.rs"]
mod browser;

use browser::Browser;
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::*;
use olifant_report::page::{Page, PageRun};
use std::time::Instant;

/// Threads, four on a node.
const THREADS: u16 = 16;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let counters = words.iter().find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let profile = profile(counters / u64::from(THREADS));
    println!("{counters} counters");
    let folder = tempfile::tempdir().unwrap();
    let map = if words.iter().any(|word| word == "store") {
        let path = folder.path().join("large.olp");
        timed("write the profile", || olifant_store::write(&profile, &path).unwrap());
        println!("the profile's file {:.1} MB", std::fs::metadata(&path).unwrap().len() as f64 / 1e6);
        let (found, map) = timed("read the profile with its map", || olifant_store::read_map(&path).unwrap());
        assert!(found.areas == profile.areas, "what was read differs from what was written");
        map
    } else {
        timed("make the map", || GranuleMap::of(&profile))
    };
    let run = PageRun { profile: &profile, map: &map, locate: &|_| None };
    let page = Page { run, tuning: None, source_line: &|_, _| None };
    let html = timed("write the page", || page.html());
    println!("the page {:.1} MB", html.len() as f64 / 1e6);
    let path = folder.path().join("large.html");
    std::fs::write(&path, html).unwrap();

    let browser = Browser::start();
    // The browser is up when it answers; a person's is up already.
    drop(browser.open("data:text/html,<html data-state=ready>"));
    let opened = timed("open the page", || browser.open(&format!("file://{}", path.display())));
    let shown = opened.value(
        "[...document.querySelectorAll('.matrix td')].reduce((sum, cell) => sum + Number(cell.title.match(/([0-9,]+) transactions/)[1].replaceAll(',', '')), 0)",
    );
    assert_eq!(shown.as_f64(), Some(transactions(&profile) as f64), "the page's sum");
    let frames = opened.value(
        "(async () => {
            const heat = document.getElementById('heat');
            const times = [];
            for (const key of [...'+'.repeat(40), ...'-'.repeat(40)]) {
                const begin = performance.now();
                heat.dispatchEvent(new KeyboardEvent('keydown', { key }));
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                times.push(performance.now() - begin);
            }
            return times.sort((a, b) => a - b);
        })()",
    );
    let frames: Vec<f64> = frames.as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    let (middle, last) = (frames[frames.len() / 2], frames[frames.len() - 1]);
    println!("a step of zooming {middle:.1} ms (median of {}, longest {last:.1} ms)", frames.len());
}

/// Carries out a step and says how long it took, and how much of that this process computed: on a busy machine the rest is
/// waiting.
fn timed<T>(what: &str, step: impl FnOnce() -> T) -> T {
    let (start, computed) = (Instant::now(), processor_seconds());
    let done = step();
    let computed = processor_seconds() - computed;
    println!("{what} {:.2} s, {computed:.2} s of it computed here", start.elapsed().as_secs_f64());
    done
}

/// Processor time of this process: user and system, fields 14 and 15 of /proc/self/stat, in hundredths. Source: proc(5).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit_once(") ").unwrap().1;
    let field = |number: usize| after_name.split(' ').nth(number - 3).unwrap().parse::<f64>().unwrap();
    (field(14) + field(15)) / 100.0
}

fn transactions(profile: &Profile) -> u64 {
    let of = |by: &Accesses| by.reads + by.writes + by.upgrades + by.write_backs;
    profile.granules.iter().flat_map(|granule| &granule.by).map(of).sum()
}

/// Ten areas whose granules are used by all threads, with counts that hardly deflate.
fn profile(granules: u64) -> Profile {
    const AREAS: u64 = 10;
    let each = (granules / AREAS).max(1);
    let area = |number: u64| Area {
        kind: AreaKind::Heap,
        name: format!("field {number}"),
        start: 0x1000_0000 + number * each * 4096,
        bytes: each * 4096,
        site: None,
        ordinal: 0,
        thread: 0,
        born: 0,
        freed: None,
    };
    let accesses = |index: u64, thread: u16| Accesses {
        thread,
        node: thread / 4,
        reads: (index ^ u64::from(thread)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54,
        writes: index % 100,
        upgrades: index % 10,
        write_backs: index % 5,
    };
    let granule = |area: u64, index: u64| Granule {
        area: u32::try_from(area).unwrap(),
        index,
        home: u16::try_from(index % 4).unwrap(),
        by: (0..THREADS).map(|thread| accesses(index, thread)).collect(),
    };
    Profile {
        run: RunInfo {
            program: "large".into(),
            args: Vec::new(),
            machine: "olifant".into(),
            machine_toml: String::new(),
            configuration: "4N4".into(),
            thread_policy: "fill".into(),
            memory_policy: "striped:1".into(),
            plan: None,
            seed: 0,
            evidence: Evidence::Simulated,
            is_complete: true,
            exit_code: 0,
            version: env!("CARGO_PKG_VERSION").into(),
        },
        totals: Totals { seconds: 1.0, ..Totals::default() },
        cpus: Vec::new(),
        nodes: (0..4).map(|node| NodeTotals { node, ..NodeTotals::default() }).collect(),
        links: Vec::new(),
        threads: (0..THREADS).map(|cpu| Thread { cpu, node: cpu / 4, ..Thread::default() }).collect(),
        modules: Vec::new(),
        sites: Vec::new(),
        areas: (0..AREAS).map(area).collect(),
        granule_bytes: 4096,
        granules: (0..AREAS).flat_map(|area| (0..each).map(move |index| granule(area, index))).collect(),
        contested: Vec::new(),
        facts: olifant_opium::facts::Facts::default(),
    }
}
