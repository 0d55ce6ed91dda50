//! Random machines that obey every law, for property tests.

use olifant_machine::{
    Bytes, BytesPerSecond, Cache, CoherenceUnit, CpuId, Cycles, FramePolicy, Hertz, Link, Machine, MemoryBus,
    Nanos, Network, Node, NodeId, OsModel, Processor, Tlb, Topology, Vertex,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Machines of up to eight nodes: dense and equal, or sparse and uneven, of any lawful network.
pub fn machine() -> impl Strategy<Value = Machine> {
    let os = (
        12_u32..20,
        select(vec![FramePolicy::Coloured, FramePolicy::Sequential, FramePolicy::Random]),
        rate(),
    );
    let head = ("[^ ].{0,20}", ".{0,60}");
    (head, nodes(), processor(), timings(), os).prop_flat_map(
        |((name, description), nodes, processor, (memory, unit), os)| {
            let ids: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
            network(ids).prop_map(move |network| Machine {
                // A name of characters that print as nothing but space is none.
                name: if name.trim().is_empty() { "x".to_owned() } else { name.clone() },
                description: description.clone(),
                nodes: nodes.clone(),
                processor: processor.clone(),
                memory,
                coherence: CoherenceUnit { response: Bytes(unit.response.0 + processor.l2.line.0), ..unit },
                network,
                os: OsModel { page: Bytes(1 << os.0), frames: os.1, time_slice: Nanos(os.2) },
            })
        },
    )
}

/// Machines whose nodes are all alike and numbered from 0 without gaps, and whose cpus are too.
pub fn even_machine() -> impl Strategy<Value = Machine> {
    machine().prop_map(|mut machine| {
        let memory = Bytes(machine.nodes.iter().map(|node| node.memory.0).max().unwrap());
        let processors = machine.nodes.iter().map(|node| node.cpus.len()).max().unwrap();
        let number = |number: usize| u16::try_from(number).unwrap();
        let ids: Vec<NodeId> = (0..machine.nodes.len()).map(|index| NodeId(number(index))).collect();
        machine.nodes = ids
            .iter()
            .enumerate()
            .map(|(index, &id)| {
                let cpus = index * processors..(index + 1) * processors;
                Node { id, cpus: cpus.map(|cpu| CpuId(number(cpu))).collect(), memory }
            })
            .collect();
        let links = Topology::Hub.links(&ids, Nanos(10.0), BytesPerSecond(1e9)).unwrap();
        machine.network = Network { topology: "hub".to_owned(), links };
        machine
    })
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let equal = (1..9_usize, 1..6_usize, 1..4096_u64).prop_map(|(count, processors, memory)| {
        let ids: Vec<u16> = (0..).take(count).collect();
        let cpus: Vec<u16> = (0..).take(count * processors).collect();
        let nodes = ids.iter().zip(cpus.chunks(processors));
        nodes.map(|(&id, cpus)| node(id, cpus.iter().copied(), memory << 20)).collect()
    });
    let uneven = (
        btree_set(0..300_u16, 1..9),
        btree_set(0..2000_u16, 1..40),
        vec(any::<u8>(), 40),
        vec(0..1_u64 << 42, 9),
    );
    let uneven = uneven.prop_map(|(ids, cpus, owners, memories)| {
        let count = ids.len();
        let mut nodes: Vec<Node> =
            ids.into_iter().zip(memories).map(|(id, memory)| node(id, [], memory)).collect();
        for (cpu, owner) in cpus.into_iter().zip(owners) {
            nodes[usize::from(owner) % count].cpus.push(CpuId(cpu));
        }
        nodes[count / 2].memory.0 += 4096;
        nodes
    });
    prop_oneof![equal, uneven]
}

fn node(id: u16, cpus: impl IntoIterator<Item = u16>, memory: u64) -> Node {
    Node { id: NodeId(id), cpus: cpus.into_iter().map(CpuId).collect(), memory: Bytes(memory) }
}

fn processor() -> impl Strategy<Value = Processor> {
    let core = (1..10_000_000_000_u64, rate(), any::<u32>(), 1..1000_u32);
    let geometry = (4..8_u32, 0..3_u32, 1..17_u32, 0..8_u32, 1..25_u32, 0..6_u32);
    let hits = (0..9_u64, 0..99_u64, any::<u64>());
    let l3 = proptest::option::of((1..40_u64, 1..17_u32));
    let tlb = (1..65_u32, 0..8_u32, any::<u64>());
    (core, geometry, hits, l3, tlb).prop_map(|(core, geometry, hits, l3, tlb)| {
        let (line1, line_step, ways1, sets1, ways2, sets2_step) = geometry;
        let cache = |line: u32, ways: u32, sets: u32, hit| Cache {
            size: Bytes(u64::from(ways) << (line + sets)),
            ways,
            line: Bytes(1 << line),
            hit: Cycles(hit),
        };
        let l1 = cache(line1, ways1, sets1, hits.0);
        // Enough sets that the second level is no smaller than the first, whatever its associativity.
        let l2 = cache(line1 + line_step, ways2, sets1 + 5 + sets2_step, hits.1);
        let (slices, ways3) = l3.unwrap_or((1, 1));
        let l3 = l3.map(|_| Cache {
            size: Bytes(slices * u64::from(ways3) * l2.line.0),
            ways: ways3,
            ..cache(line1 + line_step, 1, 0, hits.2)
        });
        Processor {
            clock: Hertz(core.0 as f64),
            cpi: core.1,
            window_instructions: core.2,
            outstanding_misses: core.3,
            l1,
            l2,
            l3,
            tlb: Tlb { entries: tlb.0 << tlb.1, ways: tlb.0, miss: Cycles(tlb.2) },
        }
    })
}

fn timings() -> impl Strategy<Value = (MemoryBus, CoherenceUnit)> {
    let times = (time(), time(), time(), time(), time());
    (times, rate(), 1..100_u64, 0..100_u64, any::<bool>()).prop_map(
        |(times, bandwidth, request, response, exclusive_on_read)| {
            let memory = MemoryBus {
                latency: times.0,
                bandwidth: BytesPerSecond(bandwidth),
                address_only: times.1,
                intervention: times.2,
            };
            let unit = CoherenceUnit {
                latency: times.3,
                occupancy: times.4,
                request: Bytes(request),
                response: Bytes(response),
                exclusive_on_read,
            };
            (memory, unit)
        },
    )
}

fn network(ids: Vec<NodeId>) -> impl Strategy<Value = Network> {
    let count = ids.len();
    let topologies: Vec<Topology> = topologies()
        .into_iter()
        .filter(|topology| topology.links(&ids, Nanos(1.0), BytesPerSecond(1.0)).is_ok())
        .collect();
    let ends = ids.clone();
    let named =
        (select(topologies), time(), rate()).prop_map(move |(topology, latency, bandwidth)| Network {
            topology: topology.to_string(),
            links: topology.links(&ids, latency, BytesPerSecond(bandwidth)).unwrap(),
        });
    let speeds = vec((time(), rate()), 2 * count);
    let listed =
        (subsequence((0..count).collect::<Vec<_>>(), 0..=count), speeds).prop_map(move |(closer, speeds)| {
            // A ring of one direction joins all; some nodes have a router of their own besides.
            let mut speeds = speeds.into_iter();
            let mut link = |from, to| {
                let (latency, bandwidth) = speeds.next().unwrap();
                Link { from, to, latency, bandwidth: BytesPerSecond(bandwidth) }
            };
            let vertex = |index: usize| Vertex::Node(ends[index % count]);
            let mut links = Vec::new();
            if count > 1 {
                links.extend((0..count).map(|index| link(vertex(index), vertex(index + 1))));
            }
            links.extend(
                closer
                    .iter()
                    .map(|&index| link(vertex(index), Vertex::Router(u16::try_from(index).unwrap()))),
            );
            Network { topology: "explicit".to_owned(), links }
        });
    prop_oneof![named, listed]
}

/// Every topology that generates links.
pub fn topologies() -> Vec<Topology> {
    vec![
        Topology::Bus,
        Topology::Full,
        Topology::Ring,
        Topology::Square,
        Topology::TwistedLadder,
        Topology::Hub,
        Topology::FatTree { radix: 2 },
        Topology::FatTree { radix: 3 },
        Topology::FatTree { radix: 4 },
    ]
}

/// Times that people write, and any other.
fn time() -> impl Strategy<Value = Nanos> {
    prop_oneof![(0..5000_u32).prop_map(f64::from), 0.0..1e9, Just(0.0)].prop_map(Nanos)
}

/// Finite numbers above 0 that people write, and any other.
fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1..100_000_u32).prop_map(|number| f64::from(number) * 1e6),
        (1..1000_u32).prop_map(|number| f64::from(number) / 10.0),
        prop::num::f64::POSITIVE
            .prop_filter("finite and above 0", |number| *number > 0.0 && number.is_finite()),
    ]
}
