//! The machine file: what is read, what is refused and how it is said.

use crate::random_machine;
use olifant_machine::{Bytes, Machine, Nanos, NodeId, Vertex, catalogue};
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_machine_reads_back_from_its_file(machine in random_machine::machine()) {
        machine.check().unwrap();
        let text = machine.to_toml();
        let back = Machine::from_toml(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(back, machine, "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(\\[\\[?[a-z.0-9]{0,9}\\]?\\]|[a-z_]{1,9} ?= ?[\"0-9a-z.{}\\[\\]-]{0,9}|\n){0,12}") {
        let _ = Machine::from_toml(&text);
    }

    #[test]
    fn no_cut_of_a_file_makes_the_reader_panic(keep in 0..2000_usize) {
        let text = catalogue::text("olifant").unwrap();
        let cut: String = text.chars().take(keep).collect();
        prop_assert!(cut.len() == text.len() || Machine::from_toml(&cut).is_err() || cut.contains("[os]"));
    }
}

const OLIFANT: &str = "olifant.toml";

fn olifant_with(old: &str, new: &str) -> String {
    let text = catalogue::find("olifant").unwrap().to_toml();
    assert!(text.contains(old), "the file no longer has {old:?}:\n{text}");
    text.replacen(old, new, 1)
}

/// The message for olifant's file with one replacement, without the line number, and the text of that line.
fn refusal(old: &str, new: &str) -> (String, String) {
    let text = olifant_with(old, new);
    let error = Machine::from_toml(&text).unwrap_err();
    let line = text.lines().nth(error.line - 1).unwrap_or("").to_owned();
    let message = error.clone().in_file(OLIFANT).to_string();
    let place = format!("{OLIFANT}:{}: ", error.line);
    (
        message
            .strip_prefix(&place)
            .unwrap_or_else(|| panic!("{message} does not begin with {place}"))
            .to_owned(),
        line,
    )
}

#[test]
fn an_error_names_file_line_key_value_and_law() {
    let text = olifant_with("line_bytes = 32", "line_bytes = 33");
    let line = 1 + text.lines().position(|line| line == "line_bytes = 33").unwrap();
    let error = Machine::from_toml(&text).unwrap_err();
    let law = "processor.l1.line_bytes = 33: must be a power of two";
    assert_eq!(error.to_string(), format!("line {line}: {law}"));
    assert_eq!(error.in_file(OLIFANT).to_string(), format!("olifant.toml:{line}: {law}"));
}

#[test]
fn every_refusal_names_the_key_and_stands_at_its_line() {
    let cases = [
        (
            "response_bytes = 48",
            "response_bytes = 24",
            "coherence.response_bytes = 24: must hold an l2 line (32 bytes)",
        ),
        (
            "size_mib = 1",
            "size_mib = 1.3",
            "processor.l2.size_mib = 1.3: expected a number, 0 or more, that is a whole number of bytes",
        ),
        ("size_mib = 1", "size_kib = 8", "processor.l2.size_kib = 8: must be at least l1's (16384)"),
        ("size_mib = 1", "size_kib = 96", "processor.l2.size_kib = 96: 768 sets: must be a power of two"),
        ("entries = 64", "entries = 62", "processor.tlb.ways = 4: must divide the 62 entries"),
        ("clock_mhz = 350", "clock_mhz = 0", "processor.clock_mhz = 0: must be finite and more than 0"),
        ("clock_mhz = 350", "clock_mhz = inf", "processor.clock_mhz = inf: must be finite and more than 0"),
        ("clock_mhz = 350", "clock_mhz = -1", "processor.clock_mhz = -1: expected a number, 0 or more"),
        (
            "outstanding_misses = 1",
            "outstanding_misses = 0",
            "processor.outstanding_misses = 0: must be at least 1",
        ),
        ("count = 4", "count = 0", "nodes.count = 0: a machine has at least one node"),
        ("processors = 4", "processors = 0", "nodes.processors = 0: a machine has at least one processor"),
        (
            "processors = 4",
            "processors = 16384",
            "nodes.processors = 16384: 4 nodes: more than 65535 processors in all",
        ),
        (
            "memory_gib = 1",
            "memory_gib = 0",
            "nodes.memory_gib = 0: a machine has at least one node with memory",
        ),
        ("count = 4", "count = 70000", "nodes.count = 70000: expected a whole number in range"),
        ("ways = 4", "ways = \"4\"", "processor.l1.ways = \"4\": expected a whole number in range"),
        (
            "exclusive_on_read = true",
            "exclusive_on_read = 1",
            "coherence.exclusive_on_read = 1: expected true or false",
        ),
        ("\"coloured\"", "\"colored\"", "os.frames = \"colored\": expected coloured, sequential or random"),
        ("page_kib = 4", "page_kib = 5", "os.page_kib = 5: must be a power of two"),
        (
            "\"hub\"",
            "\"square\"\nlatency_us = 1",
            "network.latency: given twice, as latency_ns and latency_us; keep one",
        ),
        (
            "count = 4",
            "count = 3\nsize = 1",
            "nodes.size: unknown key; known here: count, memory_bytes|kib|mib|gib, processors",
        ),
    ];
    for (old, new, expected) in cases {
        let (message, line) = refusal(old, new);
        assert_eq!(message, expected);
        let key = expected.split([':', ' ']).next().unwrap().rsplit('.').next().unwrap();
        assert!(line.contains(key), "{message} is reported at the line {line:?}");
    }
}

#[test]
fn a_misspelled_key_or_section_is_refused_with_the_nearest_known_one() {
    let cases = [
        (
            "occupancy_ns",
            "ocupancy_ns",
            "coherence.ocupancy_ns: unknown key (did you mean \"occupancy_ns\"?)",
        ),
        ("memory_gib", "memory_gb", "nodes.memory_gb: unknown key (did you mean \"memory_gib\"?)"),
        ("[coherence]", "[coherense]", "coherense: unknown key (did you mean \"coherence\"?)"),
        ("[processor.tlb]", "[processor.tbl]", "processor.tbl: unknown key (did you mean \"tlb\"?)"),
    ];
    for (old, new, expected) in cases {
        assert_eq!(refusal(old, new).0, expected);
    }
    let (message, _) = refusal("\"hub\"", "\"hob\"");
    assert!(
        message.contains("topology \"hob\" is unknown (did you mean \"hub\"?); known: bus, full, ring"),
        "{message}"
    );
}

#[test]
fn a_missing_key_is_reported_at_its_section_with_all_its_spellings() {
    let (message, line) = refusal("clock_mhz = 350\n", "");
    assert_eq!(message, "processor.clock_hz or clock_khz or clock_mhz: missing");
    assert_eq!(line, "[processor]");
    assert_eq!(refusal("[os]", "[os.model]").0, "os.page_bytes or page_kib or page_mib or page_gib: missing");
}

#[test]
fn broken_toml_is_reported_at_its_line() {
    let (message, line) = refusal("cpi = 1.0", "cpi = = 1.0");
    assert!(message.starts_with("not valid TOML: "), "{message}");
    assert_eq!(line, "cpi = = 1.0");
}

/// Olifant's file with other nodes and network.
fn with_nodes_and_network(nodes: &str, network: &str) -> String {
    let text = catalogue::find("olifant").unwrap().to_toml();
    let (head, rest) = text.split_once("[nodes]").unwrap();
    let (_, processor) = rest.split_once("[processor]").unwrap();
    let (processor, rest) = processor.split_once("[network]").unwrap();
    let (_, os) = rest.split_once("[os]").unwrap();
    format!("{head}{nodes}\n[processor]{processor}{network}\n[os]{os}")
}

const THREE_NODES: &str = "
    node = [
        { id = 1, cpus = \"0-3,8\", memory_mib = 512 },
        { id = 4, cpus = \"\", memory_gib = 2 },
        { id = 9, cpus = \"4-7\", memory_bytes = 0 },
    ]";

#[test]
fn uneven_nodes_and_listed_links_are_read() {
    let network = "
        [network]
        topology = \"explicit\"
        latency_ns = 50
        bandwidth_mb_per_s = 1000
        link = [
            { from = \"node:1\", to = \"router:7\", both_ways = true },
            { from = \"node:4\", to = \"router:7\", latency_ns = 10.5, both_ways = true },
            { from = \"node:9\", to = \"router:7\" },
            { from = \"router:7\", to = \"node:9\", bandwidth_mb_per_s = 500 },
        ]";
    let machine = Machine::from_toml(&with_nodes_and_network(THREE_NODES, network)).unwrap();
    assert_eq!(machine.configuration(), "3N5,0,4");
    assert_eq!(machine.nodes[0].cpus.last().unwrap().0, 8);
    assert_eq!(machine.nodes[1].memory, Bytes(2 << 30));
    let links = &machine.network.links;
    assert_eq!(links.len(), 6);
    assert_eq!((links[2].from, links[2].latency), (Vertex::Node(NodeId(4)), Nanos(10.5)));
    assert_eq!((links[3].from, links[3].to), (Vertex::Router(7), Vertex::Node(NodeId(4))));
    assert_eq!((links[5].latency.0, links[5].bandwidth.0), (50.0, 500e6));
}

#[test]
fn faults_of_listed_nodes_and_links_are_named() {
    let hub = "[network]\ntopology = \"hub\"\nlatency_ns = 1\nbandwidth_mb_per_s = 1";
    let explicit =
        "[network]\ntopology = \"explicit\"\nlatency_ns = 1\nbandwidth_mb_per_s = 1\n[[network.link]]\n";
    let one = "[[node]]\nid = 0\ncpus = \"0\"\nmemory_mib = 1\n";
    let two = "[[node]]\nid = 1\ncpus = \"1\"\nmemory_mib = 1\n";
    let cases = [
        (format!("{two}{one}"), hub.to_owned(), "node[1].id = 0: node ids must ascend, each given once"),
        (format!("{one}{one}"), hub.to_owned(), "node[1].id = 0: node ids must ascend, each given once"),
        (
            format!("{one}{}", two.replace("\"1\"", "\"0-1\"")),
            hub.to_owned(),
            "node[1].cpus = \"0-1\": a cpu belongs to one node only",
        ),
        (
            one.replace("\"0\"", "\"0,x\""),
            hub.to_owned(),
            "node[0].cpus = \"0,x\": \"0,x\": character 3: expected a cpu number, found 'x'",
        ),
        (
            format!("{one}{two}"),
            format!("{explicit}from = \"node:0\"\nto = \"node:2\""),
            "network.link[0].to = \"node:2\": no such node",
        ),
        (
            format!("{one}{two}"),
            format!("{explicit}from = \"node:0\"\nto = \"node:0\""),
            "network.link[0].to = \"node:0\": a link joins two different ends",
        ),
        (
            format!("{one}{two}"),
            format!("{explicit}from = \"0\"\nto = \"node:0\""),
            "network.link[0].from = \"0\": expected node:NUMBER or router:NUMBER",
        ),
        (
            format!("{one}{two}"),
            format!("{explicit}from = \"node:0\"\nto = \"node:1\""),
            "network.topology = \"explicit\": no links lead from node 1 to node 0",
        ),
        (
            format!("{one}{two}"),
            hub.replace("hub", "twisted-ladder"),
            "network.topology = \"twisted-ladder\": topology twisted-ladder needs an even number of nodes, at least 4, and there are 2 nodes",
        ),
        (String::new(), hub.to_owned(), "describe the nodes either as [nodes] or as a list of [[node]]"),
        (
            format!("{one}[nodes]\ncount = 1\nprocessors = 1\nmemory_mib = 1"),
            hub.to_owned(),
            "describe the nodes either as [nodes] or as a list of [[node]]",
        ),
    ];
    for (nodes, network, expected) in cases {
        let error = Machine::from_toml(&with_nodes_and_network(&nodes, &network)).unwrap_err();
        assert_eq!(error.problem.to_string(), expected);
    }
}

#[test]
fn units_of_one_kind_may_be_exchanged() {
    let text = olifant_with("clock_mhz = 350", "clock_khz = 350_000")
        .replacen("latency_ns = 200", "latency_us = 0.2", 1)
        .replacen("bandwidth_mb_per_s = 262", "bandwidth_bytes_per_s = 2.62e8", 1)
        .replacen("size_mib = 1", "size_bytes = 0x100000", 1)
        .replacen("memory_gib = 1", "memory_mib = 1024.0", 1);
    let mut machine = Machine::from_toml(&text).unwrap();
    let expected = catalogue::find("olifant").unwrap();
    // The files of the catalogue are tuned; what was replaced is what is compared.
    machine.memory = expected.memory;
    assert_eq!(machine, expected);
}
