//! Laws that relate one run to another: conservation in the network, renaming, one node, more ways, repetition.
//!
//! Conservation in the caches is checked where the plain machine runs (`agreement`).

mod counts;
mod traffic;

use counts::Counts;
use olifant_machine::{Bytes, Cache, Cycles, Machine, Nanos, NodeId, Vertex, catalogue};
use olifant_placement::MemoryPolicy;
use olifant_sim::{Engine, Increment, Random};
use traffic::{Act, MIXES, Mix, Step, Traffic, drive, seeds};

/// Bytes between addresses that the traffic takes to conflict.
const STRIDE: u64 = 4096;

fn machine(name: &str, configuration: &str) -> Machine {
    catalogue::find(name).unwrap().configure(configuration).unwrap()
}

/// The machine with first-level and second-level caches of these ways, 4 KiB each.
fn with_ways(mut machine: Machine, level1: u32, level2: u32) -> Machine {
    let line = machine.processor.l2.line;
    let cache = |ways: u32| Cache { size: Bytes(4096 * u64::from(ways)), ways, line, hit: Cycles(3) };
    machine.processor.l1 = cache(level1);
    machine.processor.l2 = cache(level2);
    machine
}

fn engine(machine: &Machine, policy: MemoryPolicy, seed: u64) -> Engine<()> {
    Engine::new(machine, policy, seed, 3, ()).unwrap()
}

fn run(machine: &Machine, policy: MemoryPolicy, seed: u64, steps: impl IntoIterator<Item = Step>) -> Engine<()> {
    let mut engine = engine(machine, policy, seed);
    for (number, step) in steps.into_iter().enumerate() {
        drive(&mut engine, step);
        if number % 1000 == 0 {
            engine.run_until(step.cpu, u64::MAX / 1024);
        }
    }
    engine
}

/// Every processor's clock, then what every bus, unit and link was busy, in cycles.
fn times(engine: &mut Engine<()>) -> Vec<u64> {
    let mut times: Vec<u64> = (0..engine.cpus()).map(|cpu| engine.now(cpu)).collect();
    for node in 0..engine.nodes() {
        let counts = engine.node_counts(node);
        times.extend([counts.bus_busy_cycles, counts.unit.busy_cycles]);
    }
    times.extend(engine.link_counts().iter().map(|link| link.busy_cycles));
    times
}

#[test]
fn what_enters_a_vertex_of_the_network_leaves_it() {
    for (name, configuration) in [("olifant", "4N4"), ("opteron-4", "4N2"), ("x4800", "8N2"), ("altix-64", "32N1")] {
        for seed in seeds(1..3) {
            let machine = machine(name, configuration);
            let cpus: usize = machine.nodes.iter().map(|node| node.cpus.len()).sum();
            let steps = Traffic::new(seed, cpus, STRIDE, &MIXES).take(10_000);
            let engine = run(&machine, MemoryPolicy::Any, seed, steps);
            let mut vertices: Vec<Vertex> =
                machine.network.links.iter().flat_map(|link| [link.from, link.to]).collect();
            vertices.sort_unstable();
            vertices.dedup();
            for vertex in vertices {
                let (mut entering, mut leaving) = (0, 0);
                for (link, counted) in machine.network.links.iter().zip(engine.link_counts()) {
                    entering += if link.to == vertex { counted.bytes } else { 0 };
                    leaving += if link.from == vertex { counted.bytes } else { 0 };
                }
                if let Vertex::Node(node) = vertex {
                    let unit = engine.node_counts(node.index()).unit;
                    assert!(unit.bytes_out > 0 && unit.bytes_in > 0, "{name}, seed {seed}: node {node} was idle");
                    entering += unit.bytes_out;
                    leaving += unit.bytes_in;
                }
                assert_eq!(entering, leaving, "{name}, seed {seed}: bytes into and out of {vertex}");
            }
        }
    }
}

/// A renaming of olifant's nodes, and of the processors within each.
struct Renaming {
    nodes: Vec<usize>,
    cpus: Vec<usize>,
}

impl Renaming {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut shuffled = |count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            for last in (1..count).rev() {
                order.swap(last, random.below(last as u64 + 1) as usize);
            }
            order
        };
        let nodes = shuffled(4);
        let cpus = nodes.iter().flat_map(|node| shuffled(4).into_iter().map(move |cpu| node * 4 + cpu)).collect();
        Self { nodes, cpus }
    }

    fn vertex(&self, vertex: Vertex) -> Vertex {
        match vertex {
            Vertex::Node(node) => Vertex::Node(NodeId(self.nodes[node.index()] as u16)),
            Vertex::Router(_) => vertex,
        }
    }

    /// Where the renamed run has the link that is `link` in the other.
    fn link(&self, machine: &Machine, link: usize) -> usize {
        let links = &machine.network.links;
        let (from, to) = (self.vertex(links[link].from), self.vertex(links[link].to));
        links.iter().position(|other| other.from == from && other.to == to).expect("a hub is symmetric")
    }
}

#[test]
fn renaming_nodes_renames_results() {
    for seed in seeds(1..6) {
        let renaming = Renaming::new(seed);
        // With several readers to invalidate at once, the order of their numbers is the order of the packets, so
        // clocks are compared only without.
        for (mixes, clocks_too) in [(&MIXES[..], false), (&[Mix::Private, Mix::Migratory], true)] {
            let machine = with_ways(machine("olifant", "4N4"), 1, 2);
            let steps: Vec<Step> = Traffic::new(seed, 16, STRIDE, mixes).take(10_000).collect();
            let renamed = steps.iter().map(|&step| Step { cpu: renaming.cpus[step.cpu], ..step });
            let mut original = run(&machine, MemoryPolicy::FirstTouch, seed, steps.iter().copied());
            let mut other = run(&machine, MemoryPolicy::FirstTouch, seed, renamed);
            let (expected, found) = (Counts::of_engine(&mut original), Counts::of_engine(&mut other));
            let found = Counts {
                cpus: renaming.cpus.iter().map(|&cpu| found.cpus[cpu]).collect(),
                nodes: renaming.nodes.iter().map(|&node| found.nodes[node]).collect(),
                links: (0..found.links.len()).map(|link| found.links[renaming.link(&machine, link)]).collect(),
            };
            expected.assert_equal(&found, &format!("seed {seed}, nodes renamed {:?}", renaming.nodes));
            if clocks_too {
                let clocks: Vec<u64> = (0..16).map(|cpu| original.now(cpu)).collect();
                let renamed_clocks: Vec<u64> = renaming.cpus.iter().map(|&cpu| other.now(cpu)).collect();
                assert_eq!(clocks, renamed_clocks, "seed {seed}");
            }
        }
    }
}

#[test]
fn one_node_is_a_flat_machine() {
    for seed in seeds(1..4) {
        let flat = with_ways(machine("olifant", "1N4"), 2, 4);
        let mut far = flat.clone();
        far.coherence.latency = Nanos(5_000.0);
        far.coherence.occupancy = Nanos(9_000.0);
        let traffic = || Traffic::new(seed, 4, STRIDE, &MIXES).take(20_000);
        let mut expected = run(&flat, MemoryPolicy::FirstTouch, seed, traffic());
        for (machine, policy) in [
            (&flat, MemoryPolicy::Striped { pages: 1 }),
            (&flat, MemoryPolicy::Any),
            (&flat, MemoryPolicy::Remote),
            (&flat, MemoryPolicy::Node(NodeId(0))),
            (&far, MemoryPolicy::FirstTouch),
        ] {
            let mut found = run(machine, policy.clone(), seed, traffic());
            Counts::of_engine(&mut expected)
                .assert_equal(&Counts::of_engine(&mut found), &format!("{policy:?}, seed {seed}"));
            assert_eq!(times(&mut expected), times(&mut found), "{policy:?}, seed {seed}");
        }
        let counts = expected.node_counts(0);
        assert_eq!((counts.remote_transactions, counts.unit.bytes_out, counts.unit.busy_cycles), (0, 0, 0));
    }
}

#[test]
fn what_caches_do_does_not_depend_on_how_processors_are_dealt_to_nodes() {
    for seed in seeds(1..6) {
        for exclusive_on_read in [true, false] {
            let of = |configuration| {
                let mut machine = with_ways(machine("olifant", configuration), 2, 4);
                machine.coherence.exclusive_on_read = exclusive_on_read;
                let traffic = Traffic::new(seed, 4, STRIDE, &MIXES).take(10_000);
                Counts::of_engine(&mut run(&machine, MemoryPolicy::Any, seed, traffic)).cpus
            };
            let one_node = of("1N4");
            assert_eq!(one_node, of("2N2"), "seed {seed}");
            assert_eq!(one_node, of("4N1"), "seed {seed}");
        }
    }
}

fn total_misses(machine: &Machine, steps: impl IntoIterator<Item = Step>) -> (u64, u64) {
    let counters = run(machine, MemoryPolicy::FirstTouch, 1, steps).counters(0);
    (counters.level1_misses, counters.level2_misses)
}

#[test]
fn more_ways_of_the_first_level_never_miss_more() {
    for seed in seeds(1..5) {
        let steps = || Traffic::new(seed, 1, STRIDE, &[Mix::Private, Mix::Migratory]).take(20_000);
        let misses: Vec<u64> =
            (1..=4).map(|ways| total_misses(&with_ways(machine("olifant", "1N1"), ways, 128), steps()).0).collect();
        assert!(misses.is_sorted_by(|few, more| few >= more), "seed {seed}: {misses:?}");
        assert!(misses[0] > misses[3], "seed {seed}: {misses:?}");
    }
}

#[test]
fn more_ways_of_the_second_level_never_miss_more() {
    for seed in seeds(1..5) {
        let mut random = Random::new(seed);
        // The first level has one way, and after each access to a page's upper half another to its sweeper: the line
        // of one certain page that shares its first-level set. So everything misses the first level, and the second
        // sees one sequence whatever its ways. Sweepers lie in sets of their own.
        let addresses: Vec<u64> = (0..20_000)
            .flat_map(|_| {
                let at = 0x10_0000 + random.below(24) * 8192 + 4096 + random.below(128) * 32;
                [at, 0x8_0000 + at % 4096]
            })
            .collect();
        let misses: Vec<u64> = (1..=8)
            .map(|ways| {
                let mut machine = with_ways(machine("olifant", "1N1"), 1, ways);
                machine.processor.l2.size = Bytes(8192 * u64::from(ways));
                let steps = addresses.iter().map(|&address| Step { cpu: 0, address, act: Act::Read });
                let (level1, level2) = total_misses(&machine, steps);
                assert_eq!(level1, addresses.len() as u64, "seed {seed}: the sweepers do not sweep");
                level2
            })
            .collect();
        assert!(misses.is_sorted_by(|few, more| few >= more), "seed {seed}: {misses:?}");
        assert!(misses[0] > misses[7], "seed {seed}: {misses:?}");
    }
}

#[test]
fn the_same_input_and_seed_give_the_same_counts_and_clocks() {
    for (name, configuration) in [("olifant", "4N4"), ("x4800", "8N8")] {
        let machine = machine(name, configuration);
        let of = |seed| {
            let traffic = Traffic::new(7, 16, STRIDE, &MIXES).take(20_000);
            let mut engine = run(&machine, MemoryPolicy::Any, seed, traffic);
            (Counts::of_engine(&mut engine), times(&mut engine))
        };
        assert!(of(1) == of(1), "{name}: two runs differ");
        assert!(of(1) != of(2), "{name}: the seed decides nothing");
    }
}

#[test]
fn how_often_the_simulator_looks_at_a_lone_processor_changes_nothing() {
    for seed in seeds(1..5) {
        let machine = with_ways(machine("olifant", "1N1"), 1, 2);
        let of = |every: usize| {
            let mut engine = engine(&machine, MemoryPolicy::FirstTouch, seed);
            for (number, step) in Traffic::new(seed, 1, STRIDE, &MIXES).take(20_000).enumerate() {
                drive(&mut engine, step);
                if number % every == 0 {
                    engine.run_until(0, u64::MAX / 1024);
                }
            }
            engine.drain(0);
            (Counts::of_engine(&mut engine), times(&mut engine))
        };
        let (counts, times) = of(1);
        for every in [3, 100, 5_000] {
            let (other_counts, other_times) = of(every);
            counts.assert_equal(&other_counts, &format!("a look every {every} steps, seed {seed}"));
            assert_eq!(times, other_times, "a look every {every} steps, seed {seed}");
        }
    }
}

#[test]
fn renormalised_stamps_change_no_count() {
    for seed in seeds(1..5) {
        let machine = with_ways(machine("olifant", "1N1"), 4, 8);
        let of = |instructions: u64| {
            let mut engine = engine(&machine, MemoryPolicy::FirstTouch, seed);
            for (number, step) in Traffic::new(seed, 1, STRIDE, &MIXES).take(6_000).enumerate() {
                drive(&mut engine, step);
                if number % 2_000 == 1_999 {
                    engine.charge(0, instructions);
                }
            }
            let counted = engine.counters(0).instructions;
            (Counts::of_engine(&mut engine), counted)
        };
        let (expected, few) = of(1);
        let (found, many) = of(3 << 30);
        expected.assert_equal(&found, &format!("seed {seed}"));
        assert_eq!(many - few, 3 * ((3 << 30) - 1), "seed {seed}: instructions");
    }
}

#[test]
fn a_poll_loop_and_an_idle_wait_reach_the_same_cycle() {
    let machine = machine("olifant", "1N2");
    let mut engine = engine(&machine, MemoryPolicy::FirstTouch, 1);
    engine.access(0, 0x10_0000, Increment::read(3), 0);
    engine.idle_until(0, 100_000);
    engine.access(1, 0x10_0000, Increment::read(3), 0);
    let before = engine.counters(1).reads;
    engine.poll_until(1, 100_000, 4, 1);
    assert_eq!(engine.now(0), engine.now(1));
    let polls = engine.counters(1).reads - before;
    assert!((24_900..25_000).contains(&polls), "{polls} polls of four instructions in about 99,900 cycles");
}
