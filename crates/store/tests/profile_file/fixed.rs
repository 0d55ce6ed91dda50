//! A small profile with known sums: a grid that node 1 reads remotely, and a table where two threads contend.

use olifant_opium::facts::*;
use olifant_opium::filter::By;
use olifant_opium::profile::*;

/// Two nodes, two threads, two areas.
pub fn profile() -> Profile {
    Profile {
        run: RunInfo {
            program: "bin/grid".into(),
            args: vec!["-n".into(), "64".into()],
            machine: "olifant".into(),
            machine_toml: "name = \"olifant\"\n".into(),
            configuration: "2N1".into(),
            thread_policy: "fill".into(),
            memory_policy: "striped:1".into(),
            plan: None,
            seed: 1,
            evidence: Evidence::Simulated,
            is_complete: true,
            exit_code: 0,
            version: "0.1.0".into(),
        },
        totals: Totals {
            seconds: 0.25,
            reads: 4_000,
            writes: 1_000,
            l1_misses: 400,
            l2_misses: 190,
            upgrades: 30,
            write_backs: 12,
            remote_transactions: 112,
            request_packets: 112,
            response_packets: 90,
            network_bytes: 5_000,
            host_seconds: 0.01,
            digest: "00112233aabbccdd".into(),
            ..Totals::default()
        },
        cpus: vec![CpuTotals { cpu: 0, ..cpu() }, CpuTotals { cpu: 4, node: 1, ..cpu() }],
        nodes: vec![NodeTotals { node: 0, ..node() }, NodeTotals { node: 1, ..node() }],
        links: vec![LinkTotals {
            from: "node0".into(),
            to: "router0".into(),
            packets: 90,
            bytes: 2_500,
            utilisation: 0.125,
        }],
        threads: vec![thread("main", 0, 0), thread("worker", 4, 1)],
        modules: vec![Module {
            path: "bin/grid".into(),
            bias: 0x5555_0000,
            start: 0x5555_0000,
            end: 0x5555_9000,
        }],
        sites: vec![Site {
            path: vec![0x5555_1234, 0x5555_2000],
            frames: vec![frame("make_grid", "src/grid.c", 42), frame("main", "src/main.c", 7)],
        }],
        areas: vec![
            Area {
                kind: AreaKind::Heap,
                name: "make_grid (grid.c:42)".into(),
                site: Some(0),
                ..area(0x1000, 8192)
            },
            Area { kind: AreaKind::Global, name: "table".into(), ..area(0x8000, 4096) },
        ],
        granule_bytes: 4096,
        granules: vec![
            Granule { area: 0, index: 0, home: 0, by: vec![by(0, 0, 60, 20, 10, 5), by(1, 1, 40, 0, 0, 0)] },
            Granule { area: 0, index: 1, home: 0, by: vec![by(1, 1, 50, 0, 10, 7)] },
            Granule { area: 1, index: 0, home: 1, by: vec![by(0, 0, 5, 0, 0, 0), by(1, 1, 15, 0, 10, 0)] },
        ],
        contested: vec![ContestedLine {
            area: 1,
            offset: 64,
            bytes: 32,
            transfers: 21,
            sharing: Sharing::False,
            fields: vec![LineField { name: "table[2].hits".into(), offset: -8, bytes: 16 }],
            by: vec![
                LineAccesses {
                    thread: 0,
                    reads: 5,
                    writes: 6,
                    read_mask: 1,
                    write_mask: 1,
                    code: 0x5555_1300,
                },
                LineAccesses {
                    thread: 1,
                    reads: 5,
                    writes: 5,
                    read_mask: 1 << 63,
                    write_mask: 1 << 63,
                    code: 0x5555_1310,
                },
            ],
        }],
        facts: facts(),
    }
}

fn facts() -> Facts {
    Facts {
        filters: vec![FilterRecord {
            name: "tables".into(),
            text: "table,granule=page,name=tables".into(),
            granule_bytes: 4096,
            kinds: "read+local+outbound".into(),
            by: By::Node,
            ranges: vec![(0x8000, 4096)],
            total: 25,
            lost: 0,
            refused: None,
            counts: vec![FilterCount { address: 0x8000, accessor: 1, count: 25 }],
        }],
        phases: vec![Phase { name: "solve".into(), begin: 5, end: 87_500_000, stretches: 3 }],
        phase_cells: vec![PhaseCell { area: 1, node: 1, granules: 2, remote: 25, ..PhaseCell::default() }],
        locks: vec![Lock {
            kind: LockKind::Mutex,
            address: 0x8040,
            area: Some(1),
            offset: 64,
            home: 1,
            acquisitions: 30,
            contended: 20,
            wait_cycles: 4000,
            transfers: 9,
            by_node: vec![(0, 10), (1, 20)],
        }],
        first_touches: vec![FirstTouches { area: 0, thread: 1, code: 0x5555_1300, pages: 2 }],
        places: vec![Place { code: 0x5555_1300, frame: frame("main", "grid.c", 12) }],
        ..Facts::default()
    }
}

fn cpu() -> CpuTotals {
    CpuTotals { cycles: 87_500_000, reads: 2_000, writes: 500, l1_misses: 200, ..CpuTotals::default() }
}

fn node() -> NodeTotals {
    NodeTotals { bus_utilisation: 0.5, unit_utilisation: 0.25, pages: 2, ..NodeTotals::default() }
}

fn thread(name: &str, cpu: u16, node: u16) -> Thread {
    Thread { name: name.into(), cpu, node, ended: 87_500_000, ..Thread::default() }
}

fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame { function: function.into(), file: file.into(), line }
}

fn area(start: u64, bytes: u64) -> Area {
    Area {
        kind: AreaKind::Heap,
        name: String::new(),
        start,
        bytes,
        site: None,
        ordinal: 0,
        thread: 0,
        born: 0,
        freed: None,
    }
}

fn by(thread: u16, node: u16, reads: u64, writes: u64, upgrades: u64, write_backs: u64) -> Accesses {
    Accesses { thread, node, reads, writes, upgrades, write_backs }
}
