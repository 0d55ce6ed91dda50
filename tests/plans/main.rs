//! A plan puts the pages of an unmodified program where it says: every kind of entry, by a real run, read back from the
//! profile's homes.

use olifant_opium::profile::{Area, AreaKind, Profile};
use olifant_tests::{olifant_command, root};
use std::collections::BTreeSet;
use std::path::Path;

const PLAN: &str = r#"
threads = "0,4,8,12"

[[area]]
site = "make_grid"
blocks = "0-1:3 2-6:1 7-7:2"

[[area]]
site = "main at areas.c:FIELD"
bytes = 32768
ordinal = 0
policy = "node:2"

[[area]]
site = "make_cell"
policy = "local"

[[area]]
symbol = "table"
policy = "striped:2"

[[area]]
symbol = "(stacks)"
policy = "local"
"#;

/// A page as long as the simulated machine's.
const PAGE: u64 = 4096;

fn run(arguments: &[&str]) {
    let output = olifant_command(arguments).output().expect("olifant starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {}\n{said}", output.status);
}

/// Runs `areas.c` under a plan; every page has counters, since caches are small against what it uses.
fn profile_under(plan: &str, folder: &Path) -> Profile {
    let path =
        |name: &str| folder.join(name).to_str().expect("temporary folders have plain names").to_owned();
    let source = root().join("tests/plans/areas.c");
    let text = std::fs::read_to_string(&source).expect("the source is there");
    let field = 1 + text.lines().position(|line| line.contains("field = ")).expect("it makes a field");
    std::fs::write(path("plan.toml"), plan.replace("FIELD", &field.to_string()))
        .expect("the folder is writable");
    run(&["cc", "-g", "-O1", "-o", &path("areas"), source.to_str().expect("a plain name"), "-lpthread"]);
    run(&[
        "record",
        "--memory",
        "node:0",
        "--plan",
        &path("plan.toml"),
        "--output",
        &path("areas.olifant"),
        "--",
        &path("areas"),
    ]);
    olifant_store::read(Path::new(&path("areas.olifant"))).expect("the profile can be read")
}

/// The homes of an area's pages that have counters, by page from the area's first one on.
fn homes(profile: &Profile, area: &Area) -> Vec<(u64, u16)> {
    let number = profile.areas.iter().position(|other| std::ptr::eq(other, area));
    let mut homes: Vec<(u64, u16)> = profile
        .granules
        .iter()
        .filter(|granule| Some(granule.area as usize) == number)
        .map(|granule| (granule.index, granule.home))
        .collect();
    homes.sort_unstable();
    homes
}

fn area(profile: &Profile, is_it: impl Fn(&Area) -> bool) -> &Area {
    profile.areas.iter().find(|area| is_it(area)).expect("the area is in the profile")
}

#[test]
fn every_kind_of_entry_puts_every_page_where_it_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = profile_under(PLAN, folder.path());
    let heap = |ordinal: usize| {
        let mut arrays: Vec<&Area> =
            profile.areas.iter().filter(|area| area.kind == AreaKind::Heap && area.bytes == 32768).collect();
        arrays.sort_by_key(|area| area.born);
        arrays[ordinal]
    };
    let whole = |nodes: [u16; 8]| (0..).zip(nodes).collect::<Vec<(u64, u16)>>();
    assert_eq!(homes(&profile, heap(0)), whole([3, 3, 1, 1, 1, 1, 1, 2]), "grid, by function alone");
    assert_eq!(homes(&profile, heap(1)), whole([2; 8]), "field, by line");
    assert_eq!(homes(&profile, heap(2)), whole([0; 8]), "no entry: --memory");

    let table = area(&profile, |area| area.name == "table");
    let first = table.start / PAGE;
    let stripes = (0..8).map(|page| (page, ((first + page) / 2 % 4) as u16)).collect::<Vec<_>>();
    assert_eq!(homes(&profile, table), stripes, "a global, by pairs of pages");

    for kind in [AreaKind::Small, AreaKind::Stack] {
        let nodes: BTreeSet<u16> = profile
            .areas
            .iter()
            .filter(|area| area.kind == kind && !homes(&profile, area).is_empty())
            .map(|area| {
                // Thread i runs on cpu 4 i, the first of node i.
                let found: BTreeSet<u16> = homes(&profile, area).iter().map(|&(_, node)| node).collect();
                assert_eq!(found, BTreeSet::from([area.thread]), "{kind:?} of thread {}", area.thread);
                area.thread
            })
            .collect();
        assert_eq!(nodes, BTreeSet::from([0, 1, 2, 3]), "{kind:?}: every thread has some");
    }
}
