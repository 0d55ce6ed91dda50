//! Idle times of the engine equal closed forms from the machine file: reads between all pairs of nodes, upgrades,
//! interventions, invalidations, write-backs. `docs/simulator.md` gives the same forms with olifant's numbers.
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of processors, lines and sets of small machines"
)]

use crate::catalogued;
use crate::idle_bench::Bench;
use olifant_machine::{BytesPerSecond, Link, Nanos, NodeId, Vertex, catalogue};
use olifant_sim::Increment;

/// Servers keep fractions of a cycle, so `waits` waits are known to a cycle each.
#[track_caller]
fn assert_takes(found: u64, expected: u64, waits: u64, what: &str) {
    assert!(found.abs_diff(expected) <= waits, "{found} cycles where {expected} were expected: {what}");
}

#[test]
fn a_read_between_any_two_nodes_takes_its_closed_form() {
    for (name, configuration) in [
        ("olifant", "4N4"),
        ("opteron-4", "4N2"),
        ("x4800", "8N1"),
        ("altix-64", "32N2"),
        ("altix-512", "24N1"),
    ] {
        let mut bench = Bench::catalogued(name, configuration);
        for from in 0..bench.machine.nodes.len() {
            for home in 0..bench.machine.nodes.len() {
                let cpu = bench.cpu(from);
                let address = bench.line(home, &[cpu]);
                assert_eq!(
                    bench.read(cpu, address),
                    bench.idle_read(from, home),
                    "{name}: node {from} reads {home}"
                );
            }
        }
    }
}

#[test]
fn the_machines_own_closed_form_agrees_to_the_rounding() {
    for name in ["olifant", "opteron-4", "x4800", "altix-64"] {
        let bench = Bench::new(catalogue::find(name).unwrap());
        for from in &bench.machine.nodes {
            for home in &bench.machine.nodes {
                let idle = bench.machine.idle_read(&bench.routes, from.id, home.id);
                let exact = idle.0 * bench.machine.processor.clock.0 / 1e9;
                let is_remote = from.id != home.id;
                let on_the_bus = if is_remote { bench.address_phase() + bench.line_phase() } else { 0 };
                let cycles = bench.idle_read(from.id.index(), home.id.index()) - on_the_bus;
                // Every unit, link, length and the memory is rounded by itself.
                let parts = 1 + 2 * (3 + bench.routes.hops(from.id, home.id));
                let difference = (cycles as f64 - exact).abs();
                assert!(
                    difference <= parts as f64 / 2.0,
                    "{name}: {from:?} to {home:?}: {cycles} cycles, {exact}"
                );
            }
        }
    }
}

#[test]
fn the_slowest_link_of_a_way_sets_a_packets_length() {
    let mut machine = catalogued("olifant", "3N1");
    let link = |from: u16, to: u16, megabytes: f64| Link {
        from: Vertex::Node(NodeId(from)),
        to: Vertex::Node(NodeId(to)),
        latency: Nanos(80.0),
        bandwidth: BytesPerSecond(megabytes * 1e6),
    };
    // A chain 0 - 1 - 2, slow between 0 and 1.
    machine.network.topology = "explicit".to_owned();
    machine.network.links = vec![link(0, 1, 50.0), link(1, 0, 50.0), link(1, 2, 720.0), link(2, 1, 720.0)];
    let mut bench = Bench::new(machine);
    for (from, home) in [(0, 2), (2, 0), (0, 1), (1, 2)] {
        let address = bench.line(home, &[from]);
        assert_eq!(bench.read(from, address), bench.idle_read(from, home), "node {from} reads {home}");
    }
}

#[test]
fn hits_take_what_the_file_says() {
    for name in ["olifant", "opteron-4", "altix-64"] {
        let mut bench = Bench::catalogued(name, "1N2");
        let processor = bench.machine.processor.clone();
        let level1_way = processor.l1.size.0 / u64::from(processor.l1.ways);
        let address = bench.line(0, &[0]);
        bench.read(0, address);
        assert_eq!(bench.read(0, address), 0, "{name}: a first-level hit is part of the instruction");
        // As many other lines of its first-level set as there are ways push it out; in the second level it stays.
        for other in 1..=u64::from(processor.l1.ways) {
            bench.read(0, address + other * level1_way);
        }
        // The pages in between may have pushed its translation out; this brings it back.
        bench.read(0, address + 512);
        assert_eq!(
            bench.read(0, address),
            processor.l2.hit.0 - processor.l1.hit.0,
            "{name}: second-level hit"
        );
        let unknown_page = bench.line(0, &[1]);
        let expected = processor.tlb.miss.0 + bench.memory();
        assert_eq!(bench.read(0, unknown_page), expected, "{name}: TLB miss and local read");
    }
}

#[test]
fn a_store_waits_for_the_miss_register_that_is_free_first() {
    let mut machine = catalogued("olifant", "2N1");
    machine.processor.outstanding_misses = 2;
    let mut bench = Bench::new(machine);
    let (far, near, last) = (bench.line(1, &[0]), bench.line(0, &[0]), bench.line(0, &[0]));
    bench.read(0, far + 512);
    let start = bench.engine.now(0);
    for address in [far, near, last] {
        bench.engine.access(0, address, Increment::write(0), 0);
    }
    // The third store finds the registers taken by a remote and a local line; the local one comes first, though it
    // waits for the bus until the remote one's request is out.
    let expected = bench.address_phase() + bench.memory();
    assert_takes(bench.engine.now(0) - start, expected, 1, "until the third store is issued");
    bench.engine.drain(0);
    assert_takes(bench.engine.now(0) - start, bench.idle_read(0, 1), 1, "until the remote line is there");
}

#[test]
fn an_upgrade_takes_its_closed_form_whatever_the_sharers() {
    for home in [0, 1] {
        for sharer_nodes in 0..4 - home {
            let mut bench = Bench::catalogued("olifant", "4N4");
            // Requester on node 0; a second reader on its node makes the line shared; sharers from the last node down.
            let mut readers = vec![0, 1];
            readers.extend((0..sharer_nodes).map(|k| bench.cpu(3 - k)));
            let address = bench.line(home, &readers);
            for &reader in &readers {
                bench.read(reader, address);
            }
            let asked = readers.len() as u64 - 2;
            let home_knows = if home == 0 { 0 } else { bench.address_phase() + bench.request(0, home) };
            let at_home = |after: u64| if home == 0 { 0 } else { bench.passing_on(after) };
            let expected = if asked == 0 {
                let phase = bench.address_phase();
                home_knows + phase + at_home(phase) + bench.request(home, 0)
            } else {
                home_knows + at_home(0) + bench.invalidation(home, 3, 0, asked)
            };
            let what = format!("home {home}, {asked} other nodes hold copies");
            assert_takes(bench.write(0, address), expected, asked.saturating_sub(1), &what);
        }
    }
}

#[test]
fn a_write_miss_takes_its_closed_form_whatever_the_sharers() {
    for sharer_nodes in 1..=3u64 {
        let mut bench = Bench::catalogued("olifant", "4N4");
        // The requester is on the home: memory answers at once, the acknowledgements take longer.
        let readers: Vec<usize> = (0..sharer_nodes as usize).map(|k| bench.cpu(3 - k)).collect();
        let address = bench.line(0, &[&readers[..], &[0, 1]].concat());
        bench.read(1, address);
        for &reader in &readers {
            bench.read(reader, address);
        }
        let expected = bench.invalidation(0, 3, 0, sharer_nodes);
        assert_takes(bench.write(0, address), expected, sharer_nodes - 1, &format!("{sharer_nodes} sharers"));
    }
    // With the home elsewhere, the line's own way is as long as an invalidation or longer.
    let mut bench = Bench::catalogued("olifant", "4N4");
    let (home, sharer) = (1, 2);
    let users = [bench.cpu(sharer), bench.cpu(home), 0];
    let address = bench.line(home, &users);
    bench.read(users[0], address);
    bench.read(users[1], address);
    let home_knows = bench.address_phase() + bench.request(0, home);
    let expected = bench
        .idle_read(0, home)
        .max(home_knows + bench.passing_on(0) + bench.invalidation(home, sharer, 0, 1));
    assert_eq!(bench.write(0, address), expected);
}

#[test]
fn an_intervention_takes_its_closed_form() {
    for owner_writes in [true, false] {
        for requester_writes in [true, false] {
            for (requester, home, owner) in [(0, 1, 2), (0, 0, 2), (0, 2, 2), (3, 1, 0)] {
                let mut bench = Bench::catalogued("olifant", "4N4");
                let (asks, owns) = (bench.cpu(requester), bench.cpu(owner));
                let address = bench.line(home, &[asks, owns]);
                bench.access(owns, address, owner_writes);
                let passes_home = requester != home && home != owner;
                let expected = bench.address_phase()
                    + bench.request(requester, home)
                    + if passes_home { bench.passing_on(0) } else { 0 }
                    + bench.request(home, owner)
                    + bench.intervention()
                    + bench.response(owner, requester)
                    + bench.line_phase();
                let found = bench.access(asks, address, requester_writes);
                assert_eq!(found, expected, "node {requester} asks home {home} for a line of node {owner}");
            }
            for home in [0, 1] {
                let mut bench = Bench::catalogued("olifant", "4N4");
                let address = bench.line(home, &[0, 1]);
                bench.access(1, address, owner_writes);
                let found = bench.access(0, address, requester_writes);
                assert_eq!(found, bench.intervention(), "from the owner on the same bus, home {home}");
            }
        }
    }
}

#[test]
fn asking_an_owner_that_is_gone_takes_its_closed_form() {
    for (requester, home, owner) in [(0, 1, 2), (0, 0, 2), (0, 2, 2)] {
        let mut bench = Bench::catalogued("olifant", "4N4");
        let (asks, owned_once) = (bench.cpu(requester), bench.cpu(owner));
        let address = bench.line(home, &[asks, owned_once]);
        bench.read(owned_once, address);
        let level2 = bench.machine.processor.l2;
        for other in 1..=u64::from(level2.ways) {
            bench.read(owned_once, address + other * level2.size.0 / u64::from(level2.ways));
        }
        let passes_home = requester != home && home != owner;
        let expected = bench.address_phase()
            + bench.request(requester, home)
            + if passes_home { bench.passing_on(0) } else { 0 }
            + bench.request(home, owner)
            + if owner != home { bench.passing_on(0) } else { 0 }
            + bench.request(owner, home)
            + bench.memory()
            + bench.response(home, requester)
            + if requester == home { 0 } else { bench.line_phase() };
        assert_eq!(
            bench.read(asks, address),
            expected,
            "node {requester}, home {home}, owner was on {owner}"
        );
    }
}

#[test]
fn a_write_back_costs_its_processor_nothing_and_each_bus_a_line() {
    for home in [0, 1] {
        let mut bench = Bench::catalogued("olifant", "2N1");
        let level2 = bench.machine.processor.l2;
        // Pages a way apart have one colour; with two nodes they also have one home.
        let way = level2.size.0 / u64::from(level2.ways);
        let address = bench.line(home, &[]);
        bench.write(0, address);
        for other in 1..u64::from(level2.ways) {
            bench.read(0, address + other * way);
        }
        let last = address + u64::from(level2.ways) * way;
        bench.read(0, last + 2048);
        let busy = |bench: &Bench, node| bench.engine.node_counts(node).bus_busy_cycles;
        let before = [busy(&bench, 0), busy(&bench, 1)];
        let bytes_before = bench.engine.node_counts(0).unit.bytes_out;
        let found = bench.read(0, last);
        assert_eq!(bench.engine.counters(0).write_backs, 1);
        assert_eq!(found, bench.idle_read(0, home), "home {home}: the read that drops the line");
        let on_buses = [busy(&bench, 0) - before[0], busy(&bench, 1) - before[1]];
        let line = bench.line_phase();
        let address_phase = bench.address_phase();
        // The read and the write-back, each a line; fractions of a cycle are carried over.
        let expected = if home == 0 { [2 * line, 0] } else { [address_phase + 2 * line, 2 * line] };
        for (found, expected) in on_buses.into_iter().zip(expected) {
            assert!(found.abs_diff(expected) <= 2, "home {home}: busy {on_buses:?}, expected {expected}");
        }
        let bytes = bench.engine.node_counts(0).unit.bytes_out - bytes_before;
        let coherence = &bench.machine.coherence;
        assert_eq!(bytes, if home == 0 { 0 } else { coherence.request.0 + coherence.response.0 });
    }
}
