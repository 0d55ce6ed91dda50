//! The preload library on several nodes: threads bound one by one, heaps and the areas of a plan on their nodes. Where pages
//! are is told by a process of its own (`olifant where`), or by the kernel through the library's report, as each test says.

use crate::guest::{Guest, built_for_guest};
use crate::uneven;
use olifant_tests::{built, olifant_command, root};
use serde_json::Value;
use std::collections::BTreeMap;

/// Builds `team` and `areas` into the guest's folder.
fn with_programs(guest: Guest) -> Guest {
    built_for_guest(guest.folder(), "team", &["-pthread"]);
    // An optimising compiler may make two calls of one in a loop, and ordinals are counted by call.
    built_for_guest(guest.folder(), "areas", &["-g", "-O0"]);
    guest
}

/// Lines of `team` under several options, the children's first lines left out where they are equal.
fn team(guest: &Guest, runs: &[&str]) -> Vec<String> {
    let script: String =
        runs.iter().map(|run| format!("$olifant exec {run} | tr '\\n' ';'; echo\n")).collect();
    guest.run(&script).lines().map(str::to_owned).collect()
}

#[test]
fn every_thread_policy_binds_plain_threads_as_asked_and_no_child() {
    let guest = with_programs(Guest::of_prototype());
    let free = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15";
    let children = |cpus: &str| format!("fork {cpus};spawn {cpus};system {cpus};exec {cpus};");
    let threads = |cpus: &[&str]| -> String {
        cpus.iter().enumerate().map(|(number, cpus)| format!("thread {number} {cpus};")).collect()
    };
    let cases = [
        ("--threads fill -- ./team 6", threads(&["0", "1", "2", "3", "4", "5"]), free),
        ("--threads round-robin -- ./team 6", threads(&["0", "4", "8", "12", "1", "5"]), free),
        ("--threads 3,14,0 -- ./team 5", threads(&["3", "14", "0", "3", "14"]), free),
        ("--threads fill --skip 1,3 -- ./team 5", threads(&["0", free, "1", free, "2"]), free),
        (
            "--threads fill --thread 1=8-9 --thread 2=float -- ./team 4",
            threads(&["0", "8,9", free, "1"]),
            free,
        ),
        ("--thread io-2=15 -- ./team 4 io", threads(&[free, free, "15", free]), free),
        ("--threads 1,2 --thread 'io-*=12-13' -- ./team 3 io", threads(&["1", "12,13", "12,13"]), free),
        (
            "--set nodes=1,3 --threads round-robin -- ./team 3",
            threads(&["4", "12", "5"]),
            "4,5,6,7,12,13,14,15",
        ),
        ("--as dplace -c 4-7 -e -x 2 ./team 3 x", threads(&["4", free, "5"]), ""),
        ("--as dplace -s 1 -c 4-7 ./team 3", threads(&[free, "4", "5"]), ""),
        ("--as dplace -n other -c 4-7 ./team 2", threads(&[free, free]), ""),
    ];
    let runs: Vec<&str> = cases.iter().map(|(run, ..)| *run).collect();
    for ((run, threads, rest), found) in cases.iter().zip(team(&guest, &runs)) {
        // dplace places children too: their places are the next ones, told in the test below.
        let expected = if rest.is_empty() { threads.clone() } else { threads.clone() + &children(rest) };
        assert!(found.starts_with(&expected), "{run}\n{found}\n{expected}");
        assert!(rest.is_empty() || found == expected, "{run}\n{found}\n{expected}");
    }
}

#[test]
fn children_are_placed_in_the_same_order_where_that_is_asked() {
    let guest = with_programs(Guest::of_prototype());
    let found = team(
        &guest,
        &["--children --threads 0-15 -- ./team 3", "--as dplace -n team -c 8-15 sh -c './team 2; :'"],
    );
    assert_eq!(found[0], "thread 0 0;thread 1 1;thread 2 2;fork 3;spawn 4;system 5;exec 6;");
    assert_eq!(found[1].split("fork").next(), Some("thread 0 8;thread 1 9;"));
}

#[test]
fn threads_are_bound_by_the_numbers_of_an_uneven_machine() {
    let guest = with_programs(uneven());
    let found = team(&guest, &["--threads fill -- ./team 7", "--threads round-robin -- ./team 7"]);
    assert!(
        found[0].starts_with("thread 0 0;thread 1 2;thread 2 1;thread 3 3;thread 4 4;thread 5 5;thread 6 8;")
    );
    assert!(
        found[1].starts_with("thread 0 0;thread 1 1;thread 2 4;thread 3 2;thread 4 3;thread 5 5;thread 6 8;")
    );
}

/// What `areas` and `olifant where --format json` print: addresses by name, and the mappings.
struct Seen {
    addresses: BTreeMap<String, Vec<u64>>,
    mappings: Vec<Value>,
}

impl Seen {
    fn of(text: &str) -> Seen {
        let (head, object) = text.split_once('{').expect("an object follows the addresses");
        let object: Value = serde_json::from_str(&format!("{{{object}")).expect("where prints JSON");
        let mut addresses: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for line in head.lines() {
            let (name, address) = line.split_once(" 0x").expect("a name and an address");
            let address = u64::from_str_radix(address, 16).expect("an address");
            addresses.entry(name.to_owned()).or_default().push(address);
        }
        Seen { addresses, mappings: object["mappings"].as_array().expect("mappings are a list").clone() }
    }

    /// Pages by node of the mappings that hold areas of a name, from the first area on.
    fn pages(&self, name: &str) -> BTreeMap<u64, u64> {
        let number = |value: &Value| {
            u64::from_str_radix(value.as_str().unwrap_or("0x0").trim_start_matches("0x"), 16).unwrap_or(0)
        };
        let mut pages = BTreeMap::new();
        for mapping in &self.mappings {
            let range = number(&mapping["start"])..number(&mapping["end"]);
            if self.addresses[name].iter().any(|address| range.contains(address)) {
                for node in mapping["nodes"].as_array().expect("nodes are a list") {
                    let place = pages.entry(node["node"].as_u64().unwrap_or(99)).or_default();
                    *place += node["bytes"].as_u64().unwrap_or(0) / 4096;
                }
            }
        }
        pages
    }
}

/// The line of `areas.c` with the comment `site: NAME`.
fn line(name: &str) -> usize {
    let source = std::fs::read_to_string(root().join("tests/lab/areas.c")).expect("the source is there");
    let mark = format!("/* site: {name} */");
    source.lines().position(|line| line.contains(&mark)).expect("the site is there") + 1
}

#[test]
fn heaps_put_every_block_where_their_policy_says() {
    let guest = with_programs(Guest::of_prototype());
    let cases: [(&str, &[u64]); 4] = [
        ("--heap node:2", &[2]),
        ("-C 13 --heap local", &[3]),
        ("-C 1 --heap remote", &[1, 2, 3]),
        ("--set nodes=1,2 --heap striped:8", &[1, 2]),
    ];
    let script: String = cases
        .iter()
        .map(|(options, _)| {
            format!("$olifant exec {options} -- ./areas \"$olifant where --format json \\$PLACED\"; echo =\n")
        })
        .collect();
    for ((options, nodes), text) in cases.iter().zip(guest.run(&script).split("=\n")) {
        let seen = Seen::of(text);
        for name in ["first", "blocks", "small", "aligned"] {
            // Alignment beyond 64 KiB is more than a heap has: such blocks are ordinary memory.
            let found: Vec<u64> = seen.pages(name).into_keys().collect();
            assert!(
                name == "aligned" || found.iter().all(|node| nodes.contains(node)),
                "{options} {name}: {found:?}"
            );
        }
    }
}

#[test]
fn every_kind_of_area_is_placed_by_the_plan_and_read_back() {
    let guest = with_programs(Guest::of_prototype());
    let site = |name: &str, function: &str, more: &str| {
        format!("[[area]]\nsite = \"{function} at areas.c:{}\"\n{more}\n", line(name))
    };
    let plan = [
        "configuration = \"4N4\"\nthreads = \"5\"\n".to_owned(),
        "[[area]]\nsymbol = \"empty_data\"\nblocks = \"0-15:3 16-63:1\"\n".to_owned(),
        "[[area]]\nsymbol = \"initial_data\"\npolicy = \"node:2\"\n".to_owned(),
        site("pair", "main", "ordinal = 1\npolicy = \"node:3\""),
        site("pair", "main", "policy = \"node:2\""),
        site("blocks", "main", "bytes = 262144\nblocks = \"0-31:1 32-47:2 48-63:3\""),
        site("small", "main", "policy = \"node:3\""),
        site("aligned", "main", "policy = \"remote\""),
        site("mapping", "main", "policy = \"striped:4\""),
        site("grown", "main", "policy = \"node:1\""),
    ];
    std::fs::write(guest.folder().join("plan.toml"), plan.concat()).expect("the folder can be written");
    let text = guest.run(
        "$olifant run --on host --plan plan.toml --format json -- \\
             ./areas \"$olifant where --format json \\$PLACED\" 2> seen",
    );
    let report: Value = serde_json::from_str(&text).expect("run prints JSON");
    assert_eq!(report["placed_share"], 1.0, "{report}");
    assert_eq!(report["threads_bound"], 1, "{report}");
    let areas: Vec<u64> = report["areas"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|area| area["areas"].as_u64().unwrap_or(0))
        .collect();
    assert_eq!(areas.iter().sum::<u64>(), 16, "{report}");
    // The same, seen by another process.
    let seen = Seen::of(&std::fs::read_to_string(guest.folder().join("seen")).expect("the program's output"));
    let one = |node: u64, pages: u64| BTreeMap::from([(node, pages)]);
    assert_eq!((seen.pages("first"), seen.pages("second")), (one(2, 64), one(3, 64)));
    assert_eq!(seen.pages("initial_data"), one(2, 64));
    assert_eq!(seen.pages("grown"), one(1, 128));
    assert!(seen.pages("small").keys().all(|&node| node == 3), "{:?}", seen.pages("small"));
    assert_eq!(seen.pages("blocks").get(&1), Some(&32));
}

#[test]
fn the_plan_for_ocean_lands_on_its_nodes() {
    let guest = Guest::of_prototype();
    let folder = guest.folder().to_owned();
    let ocean = built("bin/ocean");
    std::fs::copy(built("native/ocean"), folder.join("ocean")).expect("the folder can be written");
    let run = |words: &[&str]| {
        let output = olifant_command(words).current_dir(&folder).output().expect("olifant can be started");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let ocean = ocean.to_str().expect("the path is text");
    let size = ["-n", "130", "-s", "1", "-e", "1e-3", "-p", "16"];
    run(&[&["record", "--memory", "striped:1", "--output", "ocean.profile", "--", ocean], &size[..]].concat());
    run(&["advise", "--output", "ocean.plan.toml", "ocean.profile"]);
    let text = guest.run(&format!(
        "$olifant run --on host --plan ocean.plan.toml --format json -- ./ocean {}",
        size.join(" ")
    ));
    let report: Value = serde_json::from_str(&text).expect("run prints JSON");
    assert_eq!(
        (&report["exit_code"], &report["threads_bound"]),
        (&Value::from(0), &Value::from(16)),
        "{report}"
    );
    let count = |name: &str| -> u64 {
        report["areas"].as_array().expect("a list").iter().map(|area| area[name].as_u64().unwrap_or(0)).sum()
    };
    assert!(report["placed_share"].as_f64() >= Some(0.99) && count("unplaced") == 0, "{report}");
    assert!(count("at_home") > 500, "{report}");
}

#[test]
fn the_selftest_of_resource_sets_passes_on_even_and_uneven_machines() {
    let selftest = olifant_tests::olifant().with_file_name("rset-selftest");
    assert!(selftest.is_file(), "{} is missing: `make build` first", selftest.display());
    let even = "0:0-3:m 1:4-7:m 2:8-11:m 3:12-15:m";
    for (guest, nodes) in [(Guest::of_prototype(), even), (uneven(), "0:0,2:m 1:1,3:- 2::m 4:4-5,8:m")] {
        let text = guest.run(&format!("{} --expect \"{nodes}\" || echo code $?", selftest.display()));
        assert!(!text.contains("FAILED") && !text.contains("code "), "{text}");
        assert!(text.lines().filter(|line| line.starts_with("ok ")).count() > 20, "{text}");
    }
}
