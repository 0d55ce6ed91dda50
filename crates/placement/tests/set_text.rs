//! The text forms of sets: what each means, where each error points, and that printing and reading are inverse.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod machines;

use machines::{four_by_four, uneven};
use olifant_machine::{CpuId, CpuSet, NodeId, NodeSet};
use olifant_placement::{DeviceKind, Hierarchy, Lookup, NoLookup, ResourceSet, SetReader, SetTextError};
use proptest::prelude::*;

struct Outside;

impl Lookup for Outside {
    fn named(&self, name: &str) -> Result<ResourceSet, String> {
        match name {
            "jobs/left" => {
                Ok("-c 0-7 -m 0-1").and_then(|text| read(&four_by_four(), text).map_err(|e| e.problem))
            }
            _ => Err(format!("no set is named {name:?}")),
        }
    }

    fn device(&self, kind: DeviceKind, name: &str) -> Result<NodeSet, String> {
        match (kind, name) {
            (DeviceKind::Network, "eth0") => Ok([NodeId(2)].into_iter().collect()),
            (DeviceKind::Pci, "0000:01:00.0") => Ok([NodeId(3)].into_iter().collect()),
            _ => Err(format!("no device {name:?}")),
        }
    }
}

fn read(hierarchy: &Hierarchy, text: &str) -> Result<ResourceSet, SetTextError> {
    SetReader { hierarchy, allowed: hierarchy.system(), lookup: &NoLookup }.set(text)
}

fn check(hierarchy: &Hierarchy, cases: &[(&str, &str)]) {
    let reader = SetReader { hierarchy, allowed: hierarchy.system(), lookup: &Outside };
    for (text, set) in cases {
        match reader.set(text) {
            Ok(read) => assert_eq!(read.to_string(), *set, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn every_form_is_read() {
    check(
        &four_by_four(),
        &[
            ("all", "-c 0-15 -m 0-3"),
            ("none", "none"),
            ("0-3", "-c 0-3 -m 0"),
            (" 2,12-15:2 ", "-c 2,12,14 -m 0,3"),
            ("-c 0-3 -m 2", "-c 0-3 -m 2"),
            ("-m 1,3", "-m 1,3"),
            ("-c0,2-3 -c 5", "-c 0,2-3,5"),
            ("nodes=0-1", "-c 0-7 -m 0-1"),
            ("nodes=!0", "-c 4-15 -m 1-3"),
            ("nodes=all", "-c 0-15 -m 0-3"),
            ("nodes=+1,3", "-c 4-7,12-15 -m 1,3"),
            ("nodes=netdev:eth0", "-c 8-11 -m 2"),
            ("cpus=!0-13", "-c 14-15 -m 3"),
            ("netdev:eth0", "-c 8-11 -m 2"),
            ("os=eth0", "-c 8-11 -m 2"),
            ("pci=0000:01:00.0", "-c 12-15 -m 3"),
            ("node:1", "-c 4-7 -m 1"),
            ("package:1.core:0-1.pu:0", "-c 8,10 -m 2"),
            ("core:2-3.pu:0", "-c 4,6 -m 1"),
            ("pu:odd ~pu:1", "-c 3,5,7,9,11,13,15 -m 1-3"),
            ("core:6:4", "-c 0-3,12-15 -m 0,3"),
            ("node:2- xpackage:all.node:1", "-c 12-15 -m 3"),
            ("0xf", "-c 0-3 -m 0"),
            ("0xff00 ^0x300", "-c 10-15 -m 3"),
            ("N:0-3", "-c 0,2,4,6 -m 0-1"),
            ("S1:0-1", "-c 8,10 -m 2"),
            ("M0:0-3", "-c 0-3 -m 0"),
            ("C3:2", "-c 13 -m 3"),
            ("S0:0@S1:0", "-c 0,8 -m 0,2"),
            ("E:N:4", "-c 0-3 -m 0"),
            ("E:N:4:1:2", "-c 0,2,4,6 -m 0-1"),
            ("M:scatter", "-c 0-15 -m 0-3"),
            ("near:2", "-c 8-15 -m 2-3"),
            ("near:2:3", "-c 0-3,8-15 -m 0,2-3"),
            ("jobs/left", "-c 0-7 -m 0-1"),
        ],
    );
}

#[test]
fn sparse_nodes_count_by_number_in_lists_and_by_place_in_locations() {
    check(
        &uneven(),
        &[
            ("nodes=5", "-m 5"),
            ("nodes=+0,2", "-c 0-3 -m 0,5"),
            ("nodes=2", "-c 4-7"),
            ("node:2", "-m 5"),
            ("4", "-c 4 -m 9"),
        ],
    );
}

#[test]
fn likwid_keeps_its_order() {
    let hierarchy = four_by_four();
    let reader = SetReader { hierarchy: &hierarchy, allowed: hierarchy.system(), lookup: &NoLookup };
    let order =
        |text: &str| -> Vec<u16> { reader.likwid_order(text).unwrap().iter().map(|cpu| cpu.0).collect() };
    assert_eq!(order("S0:0-3"), [0, 2, 4, 6]);
    assert_eq!(order("S0:7,0"), [7, 0]);
    assert_eq!(order("M:scatter")[..6], [0, 4, 8, 12, 2, 6]);
    assert_eq!(order("E:S1:4:2:4"), [8, 9, 12, 13]);
}

#[test]
fn errors_point_at_the_character() {
    let hierarchy = four_by_four();
    let reader = SetReader { hierarchy: &hierarchy, allowed: hierarchy.system(), lookup: &Outside };
    for (text, at, part) in [
        ("", 0, "expected a set"),
        ("0-3,x", 4, "expected a cpu number"),
        ("0-99", 0, "this machine has no cpus 16-99; it has 0-15"),
        ("-c 0-3 -k", 7, "expected -c"),
        ("-c 0-a", 5, "expected a cpu number"),
        ("-c", 2, "expected a list of cpus"),
        ("-m  -c 0", 4, "expected a list of nodes"),
        ("nodes=", 6, "expected nodes, found nothing"),
        ("nodes=010", 6, "010 is octal to numactl (8) and decimal to Linux (10); write 8 or 10"),
        ("nodes=0x2", 6, "0x2 is hexadecimal to numactl and nothing to Linux; write 2"),
        ("nodes=0,9", 8, "no node 9; it has 0-3"),
        ("nodes=3-1", 8, "the range ends before it starts"),
        ("nodes=0;1", 7, "expected a comma or the end"),
        ("nodes=+4", 7, "4 counts beyond the 4 allowed nodes"),
        ("packge:0", 0, "\"packge\" is no type of object (did you mean \"package\"?)"),
        ("package:0.core:9", 15, "there are 4 cores here, counted from 0"),
        ("package:0,1", 9, "expected a dot"),
        ("0x1g", 3, "expected a hexadecimal digit"),
        ("N:0-99", 2, "the domain has 16 cpus"),
        ("S7:0", 0, "2 package domains"),
        ("E:N:40", 4, "40 cpus were asked for"),
        ("E:N:4:3:2", 6, "a chunk is at least 1"),
        ("near:7", 5, "this machine has no node 7; it has 0-3"),
        ("near:0:9", 6, "from 1 to 4 nodes"),
        ("jobs/right", 0, "no set is named \"jobs/right\""),
        ("jobs left", 4, "' ' belongs to no form of a set"),
        ("netdev:eth9", 7, "no device \"eth9\""),
    ] {
        let error = reader.set(text).expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.problem.contains(part), "{text}: {error}");
    }
    let error = reader.set("nodes=0,9").unwrap_err();
    assert_eq!(error.with_caret(), "nodes=0,9\n        ^\nthis machine has no node 9; it has 0-3");
}

#[test]
fn what_is_not_allowed_is_refused_by_numactls_forms() {
    let hierarchy = four_by_four();
    let allowed = read(&hierarchy, "nodes=1,3").unwrap();
    let reader = SetReader { hierarchy: &hierarchy, allowed: &allowed, lookup: &NoLookup };
    assert_eq!(reader.numactl_nodes("all", None).unwrap().to_string(), "1,3");
    assert_eq!(reader.numactl_nodes("+0-1", None).unwrap().to_string(), "1,3");
    assert_eq!(reader.numactl_nodes("!1", None).unwrap().to_string(), "3");
    assert_eq!(reader.numactl_cpus("+0,4", None).unwrap().to_string(), "4,12");
    let error = reader.numactl_nodes("0", None).unwrap_err();
    assert_eq!(error.problem, "node 0 is not allowed here; allowed: 1,3");
    let before: NodeSet = "3".parse().unwrap();
    assert_eq!(reader.numactl_nodes("same", Some(&before)).unwrap(), before);
    assert!(reader.numactl_nodes("same", None).unwrap_err().problem.contains("there is none"));
}

fn sets() -> impl Strategy<Value = ResourceSet> {
    let cpus = prop::collection::vec(0_u16..4096, 0..200);
    let nodes = prop::collection::vec(0_u16..1024, 0..100);
    (cpus, nodes).prop_map(|(cpus, nodes)| {
        ResourceSet::new(cpus.into_iter().map(CpuId).collect(), nodes.into_iter().map(NodeId).collect())
    })
}

proptest! {
    #[test]
    fn a_printed_set_reads_back(set in sets()) {
        prop_assert_eq!(read(&four_by_four(), &set.to_string()), Ok(set));
    }

    #[test]
    fn other_forms_of_a_set_of_the_machine_mean_the_same(picked in prop::collection::btree_set(0_u16..16, 1..16)) {
        let hierarchy = four_by_four();
        let cpus: CpuSet = picked.into_iter().map(CpuId).collect();
        let set = hierarchy.with_local_memory(cpus.clone());
        let locations: Vec<String> = cpus.iter().map(|cpu| format!("pu:{cpu}")).collect();
        for text in [
            cpus.to_string(),
            format!("cpus={cpus}"),
            format!("cpus=+{cpus}"),
            format!("0x{}", cpus.to_mask()),
            locations.join(" "),
            set.to_string(),
        ] {
            prop_assert_eq!(read(&hierarchy, &text), Ok(set.clone()), "{}", text);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,24}") {
        if let Err(error) = read(&four_by_four(), &text) {
            prop_assert!(error.at <= text.chars().count(), "{}", error);
            let _ = error.with_caret();
        }
    }

    #[test]
    fn nor_does_a_text_made_of_the_forms_pieces(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "-c", "-m", " ", "0", "3", "17", "65536", "-", ",", ":", ".", "@", "~", "x", "^", "+", "!", "all", "same",
            "nodes=", "cpus=", "near:", "node:", "core:", "pu:", "S0:", "E:", "N:", "scatter", "0x", "netdev:", "é",
        ]), 0..9),
    ) {
        let text = pieces.concat();
        if let Err(error) = read(&uneven(), &text) {
            prop_assert!(error.at <= text.chars().count(), "{}", error);
        }
    }
}
