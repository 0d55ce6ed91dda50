//! hwloc's text forms, against captures and against lstopo.

use crate::random_machine;
use olifant_machine::{Bytes, CacheShape, CpuSet, HwlocError, Machine, NodeId, Structure, catalogue};
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;

fn capture(name: &str) -> Structure {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/hwloc").join(name);
    Structure::from_hwloc_xml(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Node ids with their cpus and memory in MiB.
fn nodes(structure: &Structure) -> Vec<(u16, String, u64)> {
    let list = |cpus: &[olifant_machine::CpuId]| cpus.iter().copied().collect::<CpuSet>().to_string();
    structure.nodes.iter().map(|node| (node.id.0, list(&node.cpus), node.memory.0 >> 20)).collect()
}

fn cache(kibibytes: u64, ways: Option<u32>) -> Option<CacheShape> {
    Some(CacheShape { size: Bytes(kibibytes << 10), ways, line: Some(Bytes(64)) })
}

proptest! {
    #[test]
    fn a_structure_reads_back_from_its_xml(
        machine in random_machine::machine(),
        unknown in any::<(bool, bool, bool, bool)>(),
        description in "[ -~é\n\t]{0,30}",
    ) {
        let mut structure = machine.structure().unwrap();
        structure.description = description;
        if unknown.0 {
            (structure.l1, structure.l3) = (None, None);
        }
        if unknown.1 {
            (structure.clock, structure.page) = (None, None);
        }
        if unknown.2 {
            structure.distances = None;
        }
        if let Some(l2) = structure.l2.as_mut().filter(|_| unknown.3) {
            (l2.ways, l2.line) = (None, None);
        }
        let xml = structure.to_hwloc_xml(&machine.name);
        prop_assert_eq!(Structure::from_hwloc_xml(&xml).unwrap(), structure, "{}", xml);
    }

    #[test]
    fn an_even_machine_reads_back_from_its_synthetic_string(machine in random_machine::even_machine()) {
        let read = Structure::from_hwloc_synthetic(&machine.to_hwloc_synthetic().unwrap()).unwrap();
        prop_assert_eq!(&read.nodes, &machine.nodes);
        let size = |shape: Option<CacheShape>| shape.map(|shape| shape.size);
        let processor = &machine.processor;
        prop_assert_eq!((size(read.l1), size(read.l2)), (Some(processor.l1.size), Some(processor.l2.size)));
        prop_assert_eq!(size(read.l3), processor.l3.map(|l3| l3.size));
    }

    #[test]
    fn the_timings_of_a_machine_and_its_own_structure_make_it_again(machine in random_machine::machine()) {
        let structure = machine.structure().unwrap();
        let again = Machine::from_structure(&structure, &machine.name, &machine).unwrap();
        prop_assert_eq!(Machine { network: machine.network.clone(), ..again }, machine);
    }

    #[test]
    fn no_text_makes_the_reader_of_synthetic_strings_panic(text in "([a-zé]{0,5}[0-9]{0,2}|[\\[\\]():=,* ]|numa|pu:2|core:2|indexes=){0,10}") {
        let _ = Structure::from_hwloc_synthetic(&text);
    }
}

#[test]
fn a_captured_virtual_machine_is_read() {
    let found = capture("one-node-vm.xml");
    assert_eq!(nodes(&found), [(0, "0-1".to_owned(), 6106)]);
    assert_eq!(
        (found.l1, found.l2, found.l3),
        (cache(32, Some(8)), cache(1024, Some(8)), cache(32768, Some(16)))
    );
    assert_eq!((found.page, found.description.as_str()), (Some(Bytes(4096)), "AMD EPYC"));
}

#[test]
fn both_formats_of_hwloc_tell_the_same_of_a_machine() {
    let second = capture("two-packages-v2.xml");
    assert_eq!(nodes(&second), [(0, "0-3,8-11".to_owned(), 65536), (1, "4-7,12-15".to_owned(), 65536)]);
    assert_eq!((second.l1, second.l2, second.l3), (cache(32, None), cache(512, None), cache(16384, None)));
    assert_eq!(second.distances, Some(vec![vec![10, 32], vec![32, 10]]));
    let mut first = capture("two-packages-v1.xml");
    // The first format holds ratios, which are read as thousandths.
    let thousandths = first.distances.take().unwrap();
    assert_eq!(thousandths, [[10_000, 32_000], [32_000, 10_000]]);
    first.distances.clone_from(&second.distances);
    assert_eq!(first, second);
}

#[test]
fn memory_beside_the_first_one_becomes_nodes_without_cpus() {
    let found = capture("memory-only-nodes.xml");
    let own = |cpus: &str| cpus.to_owned();
    assert_eq!(
        nodes(&found),
        [
            (0, own("0-3"), 96 << 10),
            (1, own(""), 16 << 10),
            (2, own("4-7"), 96 << 10),
            (3, own(""), 16 << 10),
            (4, own(""), 512 << 10)
        ]
    );
    let machine = Machine::from_structure(&found, "captured", &catalogue::assumed().unwrap()).unwrap();
    assert_eq!(machine.configuration(), "5N4,0,4,0,0");
}

#[test]
fn faults_of_xml_are_named_with_their_line() {
    let read = |text: &str| Structure::from_hwloc_xml(text).unwrap_err().to_string();
    let cut_off = read("<topology>\n<object");
    assert!(cut_off.starts_with("hwloc XML: line 2: not valid XML: "), "{cut_off}");
    let unquoted = read("<topology>\n\n<object a=1/></topology>");
    assert!(unquoted.starts_with("hwloc XML: line 3: not valid XML: "), "{unquoted}");
    assert_eq!(read("<html/>"), "hwloc XML: line 1: the outermost element is not <topology>");
    assert_eq!(read("<topology>\n</topology>"), "hwloc XML: line 1: there is no object of type Machine");
    let machine = |inner: &str| {
        format!("<topology>\n<object type=\"Machine\" cpuset=\"0x3\">\n{inner}\n</object>\n</topology>")
    };
    assert_eq!(read(&machine("")), "hwloc XML: line 2: there is no usable PU");
    let pu = "<object type=\"PU\" os_index=\"0\"/>";
    let numa = "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0xg\"/>";
    assert_eq!(
        read(&machine(&format!("{pu}\n{numa}"))),
        "hwloc XML: line 4: cpuset: \"0xg\": character 3: expected a hexadecimal digit, found 'g'"
    );
    assert_eq!(
        read(&machine(&format!("{pu}\n{}", numa.replace("0xg", "0x2")))),
        "hwloc XML: line 2: cpus 0 are in no NUMANode's cpuset"
    );
    assert_eq!(read(&machine("<object type=\"PU\"/>")), "hwloc XML: line 3: attribute os_index is missing");
}

#[test]
fn faults_of_synthetic_strings_are_pointed_at() {
    for (text, expected) in [
        ("", "character 1: no levels"),
        ("pack:2", "character 1: the last level must be PU"),
        ("pu:2 core:1", "character 6: the last level must be PU"),
        ("pu:2 pu:1", "character 1: PU must be the last level"),
        ("pac:2 pu:1", "character 1: unknown object type \"pac\""),
        ("pack:0 pu:1", "character 6: expected a number of objects, at least 1"),
        ("pack 2 pu:1", "character 5: expected ':'"),
        ("2 core:2", "character 1: either all levels have types or none"),
        ("[core] pu:2", "character 1: only NUMANode can be attached, found \"core\""),
        ("numa:2(memory=1XB) pu:2", "character 15: expected a size, as in 512MiB"),
        ("numa:2(memory=1 pu:2", "character 21: expected an attribute or a closing parenthesis"),
        ("numa:2 pu:2(indexes=0,1,2)", "character 21: expected 4 different numbers"),
        ("numa:2 pu:2(indexes=core:pack)", "character 21: expected numbers up to 65535 separated by commas"),
        ("numa:300 core:300 pu:2", "character 1: more than 65536 PUs"),
    ] {
        let error = Structure::from_hwloc_synthetic(text).unwrap_err().to_string();
        assert_eq!(error, format!("hwloc synthetic string: {expected}"), "{text}");
    }
}

#[test]
fn a_machine_of_different_nodes_has_no_synthetic_string() {
    let mut machine = catalogue::find("olifant").unwrap();
    machine.nodes[1].cpus.pop();
    let error = machine.to_hwloc_synthetic().unwrap_err();
    assert_eq!(error, HwlocError::Uneven("nodes have different numbers of cpus".to_owned()));
    let text =
        "a synthetic string describes equal nodes only, and nodes have different numbers of cpus; use XML";
    assert_eq!(error.to_string(), text);
}

/// lstopo without its graphics where both are installed; `None`, said loudly, where there is neither.
fn lstopo() -> Option<&'static str> {
    let found = ["lstopo-no-graphics", "lstopo"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("SKIPPED: needs lstopo (package hwloc)");
    }
    found
}

/// What lstopo writes as XML when it reads `input`.
fn through_lstopo(lstopo: &str, input: &str) -> Structure {
    let output = Command::new(lstopo).args(["-i", input, "--of", "xml"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{input}: {said}");
    Structure::from_hwloc_xml(&String::from_utf8(output.stdout).unwrap()).unwrap()
}

#[test]
fn lstopo_reads_every_exported_machine_and_tells_the_same_of_it() {
    let Some(lstopo) = lstopo() else { return };
    let mut machines: Vec<Machine> =
        catalogue::names().iter().map(|name| catalogue::find(name).unwrap()).collect();
    let mut odd = machines[0].clone();
    odd.name = "odd & <\"quoted\">".to_owned();
    odd.description.clone_from(&odd.name);
    odd.nodes[1].cpus.clear();
    odd.nodes[2].memory = Bytes(0);
    odd.nodes[3].id = NodeId(33);
    odd.network = machines[3].network.clone();
    for link in &mut odd.network.links {
        for end in [&mut link.from, &mut link.to] {
            if *end == olifant_machine::Vertex::Node(NodeId(3)) {
                *end = olifant_machine::Vertex::Node(NodeId(33));
            }
        }
    }
    odd.check().unwrap();
    machines.push(odd);
    let directory = tempfile::tempdir().unwrap();
    for (index, machine) in machines.iter().enumerate() {
        let file = directory.path().join(format!("{index}.xml"));
        std::fs::write(&file, machine.to_hwloc_xml().unwrap()).unwrap();
        let back = through_lstopo(lstopo, file.to_str().unwrap());
        assert_eq!(back, machine.structure().unwrap(), "{}", machine.name);
    }
}

#[test]
fn lstopo_and_we_read_the_same_nodes_out_of_synthetic_strings() {
    let Some(lstopo) = lstopo() else { return };
    let mut strings = vec![
        "8".to_owned(),
        "2 4".to_owned(),
        "2 3 4".to_owned(),
        "2 3 4 2 2".to_owned(),
        "[numa] pack:2 [numa(memory=2GB)] core:2 pu:1".to_owned(),
        "pack:2 [numa] [numa(memory=5MB)] core:2 pu:1".to_owned(),
        "node:2 core:2 pu:1".to_owned(),
        "numa:2(indexes=1,0) core:2 pu:2(indexes=0,2,4,6,1,3,5,7)".to_owned(),
        "pack:1 numa:2 l3:1(size=1MB) l2:2(size=512kB) core:1 pu:2(indexes=4*2:2*2:1*2)".to_owned(),
        "L3:2 l1i:1 PU:2".to_owned(),
        "die:2 NUMANode:2(memory=3GiB) pu:2".to_owned(),
        "pack:2 [numa(indexes=3,5)] pu:2".to_owned(),
        "(memory=4) socket:2 pu:2(indexes=3,2,1,0)".to_owned(),
    ];
    strings.extend(
        catalogue::names().iter().map(|name| catalogue::find(name).unwrap().to_hwloc_synthetic().unwrap()),
    );
    for string in strings {
        let (ours, theirs) =
            (Structure::from_hwloc_synthetic(&string).unwrap(), through_lstopo(lstopo, &string));
        assert_eq!(ours.nodes, theirs.nodes, "{string}");
        // lstopo gives sizes of its own to caches for which none are told.
        for (ours, theirs) in [(ours.l1, theirs.l1), (ours.l2, theirs.l2), (ours.l3, theirs.l3)] {
            assert!(
                ours.is_none() || ours.map(|cache| cache.size) == theirs.map(|cache| cache.size),
                "{string}"
            );
        }
    }
}
