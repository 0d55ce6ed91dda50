//! A synthetic ocean on four nodes of four processors, untuned (pages striped) and tuned, with its plan.

use olifant_machine::{CpuId, NodeId};
use olifant_opium::facts::*;
use olifant_opium::filter::By;
use olifant_opium::profile::*;
use olifant_placement::{AreaMatch, AreaPlan, Decision, MemoryPolicy, Plan, Prediction, Run};

/// Pages of each of the two grids.
const PAGES: u64 = 64;

/// Where the pages of the grids live.
#[derive(Clone, Copy, PartialEq)]
pub enum Placed {
    /// Page i on node i modulo 4.
    Striped,
    /// A quarter on each node.
    InQuarters,
}

pub fn untuned() -> Profile {
    profile(Placed::Striped)
}

pub fn tuned() -> Profile {
    let mut profile = profile(Placed::InQuarters);
    profile.run.plan = Some(plan().to_toml());
    profile.totals = Totals {
        seconds: 1.734_2,
        request_packets: 312_345,
        response_packets: 198_765,
        network_bytes: 21_234_567,
        digest: "fedcba9876543210".into(),
        remote_transactions: 98_304,
        ..profile.totals
    };
    for node in &mut profile.nodes {
        node.remote_transactions = 24_576;
        node.bus_utilisation = 0.31;
        node.unit_utilisation = 0.04;
    }
    for link in &mut profile.links {
        link.utilisation /= 12.0;
    }
    profile
}

/// The same program on one processor.
pub fn single() -> Profile {
    let mut profile = profile(Placed::InQuarters);
    profile.run.configuration = "1N1".into();
    profile.totals.seconds = 21.25;
    profile
}

pub fn plan() -> Plan {
    let site = |line, ordinal| AreaMatch::Site {
        function: "make_grids".into(),
        file: "/home/ada/ocean/grids.c".into(),
        line,
        bytes: Some(PAGES * 4096),
        ordinal,
    };
    let quarters = (0..4).map(|node| Run { pages: PAGES / 4, node: NodeId(node) }).collect();
    let reason = "each quarter is used by one node for 98 % of its transactions";
    Plan {
        program: "ocean".into(),
        machine: "olifant".into(),
        configuration: "4N4".into(),
        threads: (0..16).map(CpuId).collect(),
        areas: vec![
            AreaPlan {
                area: site(41, None),
                decision: Decision::Blocks(quarters),
                reason: reason.into(),
                remote_before: 1_000_000,
                remote_after: 20_000,
            },
            AreaPlan {
                area: AreaMatch::Symbol("boundary_table".into()),
                decision: Decision::Policy(MemoryPolicy::Striped { pages: 1 }),
                reason: "all nodes use it alike".into(),
                remote_before: 300,
                remote_after: 300,
            },
            AreaPlan {
                area: AreaMatch::Symbol("locks".into()),
                decision: Decision::Pad,
                reason: "threads 0-15 write different words of 4 lines".into(),
                remote_before: 9_000,
                remote_after: 0,
            },
        ],
        predicted: Some(Prediction { remote_before: 1_009_300, remote_after: 29_300, time_ratio: 0.45 }),
    }
}

/// The text of a line of source.
pub fn source_line(file: &str, line: u32) -> Option<String> {
    let is_grids = file.ends_with("grids.c") && line == 41;
    is_grids.then(|| {
        "    double *grid = malloc((size_t)rows * columns * sizeof(double)); /* one of psi, vorticity */"
            .into()
    })
}

/// The source of a code address.
pub fn locate(code: u64) -> Option<Frame> {
    (code == 0x40_1500).then(|| frame("take_lock", "/home/ada/ocean/locks.c", 17))
}

fn profile(placed: Placed) -> Profile {
    let granules = granules(placed);
    Profile {
        run: run(),
        totals: totals(),
        cpus: (0..16)
            .map(|cpu| CpuTotals { cpu, node: cpu / 4, cycles: 1_400_000_000, ..CpuTotals::default() })
            .collect(),
        nodes: (0..4).map(node).collect(),
        links: (0..4).flat_map(links).collect(),
        threads: (0..16).map(thread).collect(),
        modules: Vec::new(),
        sites: vec![Site {
            path: vec![0x40_1234, 0x40_2345],
            frames: vec![
                frame("make_grids", "/home/ada/ocean/grids.c", 41),
                frame("main", "/home/ada/ocean/main.c", 101),
            ],
        }],
        areas: areas(),
        granule_bytes: 4096,
        granules,
        contested: vec![contested(0, Sharing::False, 51_234), contested(32, Sharing::Mixed, 412)],
        facts: facts(),
    }
}

fn run() -> RunInfo {
    RunInfo {
        program: "build/bin/ocean".into(),
        args: ["-n", "514", "-p", "16"].map(String::from).to_vec(),
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
        version: "0.1.0".into(),
    }
}

fn totals() -> Totals {
    Totals {
        seconds: 4.012_5,
        instructions: 2_345_678_901,
        reads: 612_345_678,
        writes: 131_234_567,
        tlb_misses: 1_234_567,
        l1_misses: 71_234_567,
        l2_misses: 9_345_678,
        upgrades: 312_345,
        write_backs: 2_345_678,
        remote_transactions: 7_234_567,
        request_packets: 7_234_567,
        response_packets: 6_912_345,
        network_bytes: 456_789_012,
        host_seconds: 12.345,
        digest: "0123456789abcdef".into(),
    }
}

fn node(node: u16) -> NodeTotals {
    NodeTotals {
        node,
        transactions: 2_414_505,
        remote_transactions: 1_808_641 + u64::from(node),
        requests_out: 1_808_641,
        requests_in: 1_808_641,
        responses_out: 1_728_086,
        responses_in: 1_728_086,
        bus_utilisation: 0.62 + 0.01 * f64::from(node % 3),
        unit_utilisation: 0.41,
        pages: 3_456,
    }
}

fn links(node: u16) -> [LinkTotals; 2] {
    let (node, router) = (format!("node{node}"), "router0".to_owned());
    let link = |from: &String, to: &String, utilisation| LinkTotals {
        from: from.clone(),
        to: to.clone(),
        packets: 3_536_728,
        bytes: 114_197_253,
        utilisation,
    };
    [link(&node, &router, 0.211), link(&router, &node, 0.214)]
}

fn thread(cpu: u16) -> Thread {
    Thread {
        name: String::new(),
        cpu,
        node: cpu / 4,
        started: u64::from(cpu) * 1_000,
        ended: 1_400_000_000,
        routine: if cpu == 0 { 0 } else { 0x40_1500 },
    }
}

fn areas() -> Vec<Area> {
    let area = |kind, name: &str, start, bytes, site, ordinal| Area {
        kind,
        name: name.into(),
        start,
        bytes,
        site,
        ordinal,
        thread: 0,
        born: 0,
        freed: None,
    };
    let grid = PAGES * 4096;
    vec![
        area(AreaKind::Heap, "make_grids (grids.c:41)", 0x10_0000, grid, Some(0), 0),
        area(AreaKind::Heap, "make_grids (grids.c:41)", 0x20_0000, grid, Some(0), 1),
        area(AreaKind::Global, "boundary_table", 0x60_0000, 4096, None, 0),
        area(AreaKind::Global, "locks", 0x60_1000, 128, None, 0),
        area(AreaKind::Stack, "stack of thread 3", 0x7f_0000, 1 << 20, None, 0),
        area(AreaKind::Other, "never used", 0x80_0000, 1 << 20, None, 0),
    ]
}

fn granules(placed: Placed) -> Vec<Granule> {
    let mut granules = Vec::new();
    for area in 0..2 {
        for page in 0..PAGES {
            let quarter = u16::try_from(page * 4 / PAGES).unwrap();
            let home = if placed == Placed::InQuarters { quarter } else { u16::try_from(page % 4).unwrap() };
            let by = (0..4).map(|lane| accesses(quarter * 4 + lane, 1_500, 500, 40)).collect();
            granules.push(Granule { area, index: page, home, by });
        }
    }
    let all =
        |reads, writes, upgrades| (0..16).map(|thread| accesses(thread, reads, writes, upgrades)).collect();
    granules.push(Granule { area: 2, index: 0, home: 0, by: all(25, 0, 0) });
    granules.push(Granule { area: 3, index: 0, home: 1, by: all(300, 400, 50) });
    granules.push(Granule { area: 4, index: 0, home: 0, by: vec![accesses(3, 77, 12, 0)] });
    granules
}

fn accesses(thread: u16, reads: u64, writes: u64, upgrades: u64) -> Accesses {
    Accesses { thread, node: thread / 4, reads, writes, upgrades, write_backs: writes / 4 }
}

fn contested(offset: i64, sharing: Sharing, transfers: u64) -> ContestedLine {
    let by = |thread: u16| LineAccesses {
        thread,
        reads: 300,
        writes: if thread < 8 { 400 } else { 0 },
        read_mask: 0xf << (thread % 8 * 4),
        write_mask: 0xf << (thread % 8 * 4),
        code: 0x40_1500,
    };
    ContestedLine {
        area: 3,
        offset,
        bytes: 32,
        transfers,
        sharing,
        fields: Vec::new(),
        by: (0..16).map(by).collect(),
    }
}

/// A filter with two counters, two phases, a lock, and who touched the first area first.
fn facts() -> Facts {
    let count = |address, accessor, count| FilterCount { address, accessor, count };
    let cell = |phase, node, local, remote| PhaseCell {
        phase,
        area: 0,
        granule: 0,
        granules: 4,
        node,
        local,
        remote,
    };
    let phase = |begin, end, stretches| Phase { name: String::new(), begin, end, stretches };
    Facts {
        filters: vec![FilterRecord {
            name: "grids".into(),
            text: "make_grids,granule=4096,threshold=900,name=grids".into(),
            granule_bytes: 4096,
            kinds: "read+write+upgrade+write-back+local+outbound".into(),
            by: By::Node,
            ranges: vec![(0x1000_0000, 8192)],
            total: 1450,
            lost: 0,
            refused: None,
            counts: vec![count(0x1000_0000, 0, 950), count(0x1000_1000, 3, 500)],
        }],
        secondaries: vec![SecondaryRecord {
            name: "reads".into(),
            text: "reads=grids,kinds=read".into(),
            count: 700,
        }],
        events: vec![CardEvent { filter: 0, address: 0x1000_0000, accessor: 0, count: 900, time: 123_456 }],
        phases: vec![phase(0, 400_000, 1), phase(400_000, 9_000_000, 30)],
        phase_cells: vec![cell(0, 0, 800, 0), cell(1, 0, 900, 0), cell(1, 3, 0, 40_000)],
        locks: vec![Lock {
            kind: LockKind::Mutex,
            address: 0x1000_0040,
            area: Some(0),
            offset: 64,
            home: 0,
            acquisitions: 1600,
            contended: 1200,
            wait_cycles: 900_000,
            transfers: 1100,
            by_node: vec![(0, 400), (1, 400), (2, 400), (3, 400)],
        }],
        first_touches: vec![FirstTouches { area: 0, thread: 0, code: 0x40_1500, pages: 512 }],
        ..Facts::default()
    }
}

fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame { function: function.into(), file: file.into(), line }
}
