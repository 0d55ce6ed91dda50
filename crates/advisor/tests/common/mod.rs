//! Small machines and profiles made by hand, for the advisor's laws.
#![allow(dead_code, reason = "each test file uses a part")]

use olifant_machine::*;
use olifant_opium::profile::*;

/// Bytes per page of the machines here.
pub const PAGE: u64 = 4096;

/// A machine of the prototype's kind: so many nodes at one router, with so many cpus each.
pub fn hub(nodes: u16, cpus_per_node: u16) -> Machine {
    let cache = |size, ways, hit| Cache { size: Bytes(size), ways, line: Bytes(32), hit: Cycles(hit) };
    let link = |from, to| Link { from, to, latency: Nanos(100.0), bandwidth: BytesPerSecond(720e6) };
    let ends = (0..nodes).flat_map(|node| {
        let node = Vertex::Node(NodeId(node));
        [link(node, Vertex::Router(0)), link(Vertex::Router(0), node)]
    });
    Machine {
        name: "hub".into(),
        description: "nodes around one router".into(),
        nodes: (0..nodes)
            .map(|id| Node {
                id: NodeId(id),
                cpus: (id * cpus_per_node..(id + 1) * cpus_per_node).map(CpuId).collect(),
                memory: Bytes(1 << 30),
            })
            .collect(),
        processor: Processor {
            clock: Hertz(350e6),
            cpi: 1.0,
            window_instructions: 0,
            outstanding_misses: 4,
            l1: cache(16 << 10, 4, 3),
            l2: cache(1 << 20, 4, 14),
            l3: None,
            tlb: Tlb { entries: 64, ways: 4, miss: Cycles(30) },
        },
        memory: MemoryBus {
            latency: Nanos(200.0),
            bandwidth: BytesPerSecond(400e6),
            address_only: Nanos(20.0),
            intervention: Nanos(200.0),
        },
        coherence: CoherenceUnit {
            latency: Nanos(100.0),
            occupancy: Nanos(60.0),
            request: Bytes(16),
            response: Bytes(48),
            exclusive_on_read: true,
        },
        network: Network { topology: "hub".into(), links: ends.collect() },
        os: OsModel { page: Bytes(PAGE), frames: FramePolicy::Coloured, time_slice: Nanos(1e7) },
    }
}

/// A profile under construction: threads on cpus in order, pages homed by striping.
pub struct Builder {
    pub profile: Profile,
    nodes: u16,
    next_start: u64,
}

impl Builder {
    /// Threads 0, 1, ... on these cpus of a hub machine.
    pub fn new(machine: &Machine, cpus: &[u16]) -> Builder {
        let node_of = |cpu: u16| {
            machine
                .nodes
                .iter()
                .find(|node| node.cpus.contains(&CpuId(cpu)))
                .expect("a cpu of the machine")
                .id
                .0
        };
        let thread = |&cpu: &u16| Thread { cpu, node: node_of(cpu), ..Thread::default() };
        let totals = |&cpu: &u16| CpuTotals {
            cpu,
            node: node_of(cpu),
            instructions: 1_000_000,
            ..CpuTotals::default()
        };
        let mut distinct = cpus.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let run = RunInfo {
            program: "bin/test".into(),
            args: vec![],
            machine: machine.name.clone(),
            machine_toml: String::new(),
            configuration: String::new(),
            thread_policy: "fill".into(),
            memory_policy: "striped:1".into(),
            plan: None,
            seed: 1,
            evidence: Evidence::Simulated,
            is_complete: true,
            exit_code: 0,
            version: String::new(),
        };
        let profile = Profile {
            run,
            totals: Totals::default(),
            cpus: distinct.iter().map(totals).collect(),
            nodes: vec![],
            links: vec![],
            threads: cpus.iter().map(thread).collect(),
            modules: vec![],
            sites: vec![],
            areas: vec![],
            granule_bytes: PAGE,
            granules: vec![],
            contested: vec![],
            facts: olifant_opium::facts::Facts::default(),
        };
        Builder {
            profile,
            nodes: u16::try_from(machine.nodes.len()).expect("few nodes"),
            next_start: 1 << 30,
        }
    }

    /// A site with one frame.
    pub fn site(&mut self, function: &str, line: u32) -> u32 {
        let frame = Frame { function: function.into(), file: "test.c".into(), line };
        self.profile.sites.push(Site { path: vec![u64::from(line)], frames: vec![frame] });
        u32::try_from(self.profile.sites.len() - 1).expect("few sites")
    }

    /// A heap area of so many pages, allocated by a thread.
    pub fn area(&mut self, site: u32, pages: u64, thread: u16) -> usize {
        let bytes = pages * PAGE;
        let same = |area: &&Area| area.site == Some(site) && area.bytes == bytes;
        let ordinal = u32::try_from(self.profile.areas.iter().filter(same).count()).expect("few areas");
        let frame = &self.profile.sites[site as usize].frames[0];
        self.profile.areas.push(Area {
            kind: AreaKind::Heap,
            name: format!("{} ({}:{})", frame.function, frame.file, frame.line),
            start: self.next_start,
            bytes,
            site: Some(site),
            ordinal,
            thread,
            born: 0,
            freed: None,
        });
        self.next_start += bytes;
        self.profile.areas.len() - 1
    }

    /// Counters of a page: who fetched how many lines to read and to write. The page is homed by striping.
    pub fn page(&mut self, area: usize, index: u64, by: &[(u16, u64, u64)]) {
        let mut by: Vec<Accesses> = by
            .iter()
            .map(|&(thread, reads, writes)| Accesses {
                thread,
                node: self.profile.threads[usize::from(thread)].node,
                reads,
                writes,
                write_backs: writes,
                ..Accesses::default()
            })
            .collect();
        by.sort_by_key(|accesses| accesses.thread);
        let home = u16::try_from(index % u64::from(self.nodes)).expect("a node");
        self.profile.granules.push(Granule {
            area: u32::try_from(area).expect("few areas"),
            index,
            home,
            by,
        });
    }

    /// The profile, with totals that agree with its counters.
    pub fn finish(mut self) -> Profile {
        self.profile.granules.sort_by_key(|granule| (granule.area, granule.index));
        let all = || self.profile.granules.iter().flat_map(|granule| &granule.by);
        let totals = Totals {
            l2_misses: all().map(|by| by.reads + by.writes).sum(),
            upgrades: all().map(|by| by.upgrades).sum(),
            write_backs: all().map(|by| by.write_backs).sum(),
            ..Totals::default()
        };
        self.profile.totals = totals;
        self.profile
    }
}

/// Consecutive cpus.
pub fn cpus(count: u16) -> Vec<u16> {
    (0..count).collect()
}

/// The node of each thread in a plan for a hub with so many cpus per node.
pub fn plan_nodes(plan: &olifant_placement::Plan, cpus_per_node: u16) -> Vec<u16> {
    plan.threads.iter().map(|cpu| cpu.0 / cpus_per_node).collect()
}
