//! What an instrumented program does when nobody started it with a specification: it runs by itself on a small machine and
//! leaves no profile, so that `configure` probes and `ctest` of build systems work.

use olifant_frontend::spec::RunSpec;
use olifant_machine::{
    Bytes, BytesPerSecond, Cache, CoherenceUnit, CpuId, Cycles, FramePolicy, Hertz, Machine, MemoryBus,
    Nanos, Network, Node, NodeId, OsModel, Processor, Tlb,
};
use olifant_placement::{MemoryPolicy, ThreadPolicy};

/// Processors of the machine: enough for any test suite, few enough to be cheap.
const CPUS: u16 = 16;

/// One node with 16 processors; its times are round numbers (assumed), since nobody looks at them.
fn machine() -> Machine {
    let cache = |size, ways, hit| Cache { size: Bytes(size), ways, line: Bytes(32), hit: Cycles(hit) };
    Machine {
        name: "alone".into(),
        description: "one node of 16 processors".into(),
        nodes: vec![Node { id: NodeId(0), cpus: (0..CPUS).map(CpuId).collect(), memory: Bytes(64 << 30) }],
        processor: Processor {
            clock: Hertz(1e9),
            cpi: 1.0,
            window_instructions: 0,
            outstanding_misses: 1,
            l1: cache(16 << 10, 4, 1),
            l2: cache(1 << 20, 4, 10),
            l3: None,
            tlb: Tlb { entries: 64, ways: 4, miss: Cycles(30) },
        },
        memory: MemoryBus {
            latency: Nanos(100.0),
            bandwidth: BytesPerSecond(10e9),
            address_only: Nanos(5.0),
            intervention: Nanos(100.0),
        },
        coherence: CoherenceUnit {
            latency: Nanos(10.0),
            occupancy: Nanos(5.0),
            request: Bytes(16),
            response: Bytes(48),
            exclusive_on_read: true,
        },
        network: Network { topology: "bus".into(), links: Vec::new() },
        os: OsModel { page: Bytes(4096), frames: FramePolicy::Coloured, time_slice: Nanos(1e6) },
    }
}

/// The specification of such a run.
pub fn spec() -> RunSpec {
    RunSpec {
        machine: machine(),
        machine_toml: String::new(),
        configuration: "1N16".into(),
        seed: 1,
        threads: ThreadPolicy::Fill,
        threads_text: "fill".into(),
        memory: MemoryPolicy::FirstTouch,
        memory_text: "first-touch".into(),
        quantum_cycles: 1000,
        granule_bytes: 4096,
        program: String::new(),
        args: Vec::new(),
        dump: None,
        checkpoint_seconds: 0,
        plan_text: None,
        rules: Vec::new(),
        globals: Vec::new(),
        is_locked: false,
        allow_oversubscription: true,
        card: Default::default(),
        watches: Vec::new(),
    }
}
