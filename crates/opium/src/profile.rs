//! The profile: what one run showed. Plain data; written by a front end, stored by `store`, read by `advisor` and
//! `report`. Every list is in a fixed order, so the same run gives the same profile byte for byte (all but the
//! `host_*` fields).

use crate::facts::Facts;
use serde::{Deserialize, Serialize};

/// How a number was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Every access was seen on the real machine.
    Exact,
    /// A sample stands for the accesses.
    Sampled,
    /// Every access was seen by a simulated machine.
    Simulated,
}

/// What one run showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What was run, where and how.
    pub run: RunInfo,
    /// Sums over the machine.
    pub totals: Totals,
    /// Per cpu, ascending.
    pub cpus: Vec<CpuTotals>,
    /// Per node, ascending.
    pub nodes: Vec<NodeTotals>,
    /// Per link, in the machine's order.
    pub links: Vec<LinkTotals>,
    /// Threads in the order of their creation; index = thread number, 0 = main.
    pub threads: Vec<Thread>,
    /// Loaded objects, for resolving code addresses.
    pub modules: Vec<Module>,
    /// Allocation sites; index = site id.
    pub sites: Vec<Site>,
    /// Areas in the order of their birth; index = area id.
    pub areas: Vec<Area>,
    /// Bytes per granule of `granules`.
    pub granule_bytes: u64,
    /// Granules with at least one transaction, ascending by (area, index).
    pub granules: Vec<Granule>,
    /// Lines that moved between caches because of writes, most contested first.
    pub contested: Vec<ContestedLine>,
    /// What is known beside: filters, phases, locks, first touches.
    pub facts: Facts,
}

/// What was run, where and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Path of the program as given.
    pub program: String,
    /// Its arguments without the program itself.
    pub args: Vec<String>,
    /// Name of the machine.
    pub machine: String,
    /// The machine as machine TOML, after `--config` was applied.
    pub machine_toml: String,
    /// The configuration, as `4N4`.
    pub configuration: String,
    /// Thread policy, in the form of `--threads`.
    pub thread_policy: String,
    /// Memory policy, in the form of `--memory`.
    pub memory_policy: String,
    /// Text of the plan that was applied, if any.
    pub plan: Option<String>,
    /// The seed.
    pub seed: u64,
    /// How the numbers were obtained.
    pub evidence: Evidence,
    /// True if the program ran to its end; false for a crash, a signal or a checkpoint.
    pub is_complete: bool,
    /// The program's exit code; 128 + n for a signal n.
    pub exit_code: i32,
    /// Version of Olifant that wrote this.
    pub version: String,
}

/// Sums over the machine.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Simulated (or real) seconds from start to end.
    pub seconds: f64,
    /// Instructions counted.
    pub instructions: u64,
    /// Loads that reached the first-level cache.
    pub reads: u64,
    /// Stores that reached the first-level cache.
    pub writes: u64,
    /// TLB misses.
    pub tlb_misses: u64,
    /// First-level misses.
    pub l1_misses: u64,
    /// Second-level misses: transactions that fetched a line.
    pub l2_misses: u64,
    /// Transactions that only obtained permission to write a line already held.
    pub upgrades: u64,
    /// Dirty lines written back to memory.
    pub write_backs: u64,
    /// Transactions whose home is another node.
    pub remote_transactions: u64,
    /// Request packets on the network (every packet without a line of data, and write-backs).
    pub request_packets: u64,
    /// Response packets on the network (packets that bring a line).
    pub response_packets: u64,
    /// Bytes that entered links' first hop.
    pub network_bytes: u64,
    /// Seconds of host time.
    pub host_seconds: f64,
    /// Hash over every counter and clock, for comparing runs; 16 hex digits.
    pub digest: String,
}

/// What one cpu did.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuTotals {
    /// The cpu.
    pub cpu: u16,
    /// Its node.
    pub node: u16,
    /// Its clock at the end, in cycles.
    pub cycles: u64,
    /// Cycles with nothing to run.
    pub idle_cycles: u64,
    /// Instructions.
    pub instructions: u64,
    /// Loads.
    pub reads: u64,
    /// Stores.
    pub writes: u64,
    /// TLB misses.
    pub tlb_misses: u64,
    /// First-level misses.
    pub l1_misses: u64,
    /// Second-level misses.
    pub l2_misses: u64,
    /// Upgrades.
    pub upgrades: u64,
    /// Write-backs.
    pub write_backs: u64,
}

/// What passed a node.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeTotals {
    /// The node.
    pub node: u16,
    /// Transactions of the node's own processors.
    pub transactions: u64,
    /// Of those, the ones whose home is another node.
    pub remote_transactions: u64,
    /// Request packets sent.
    pub requests_out: u64,
    /// Request packets received.
    pub requests_in: u64,
    /// Response packets sent.
    pub responses_out: u64,
    /// Response packets received.
    pub responses_in: u64,
    /// Share of the run in which the bus was busy, 0 to 1.
    pub bus_utilisation: f64,
    /// Share of the run in which the coherence unit was busy, 0 to 1.
    pub unit_utilisation: f64,
    /// Pages that live here.
    pub pages: u64,
}

/// What crossed a link.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkTotals {
    /// For example `node0`.
    pub from: String,
    /// For example `router0`.
    pub to: String,
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// Share of the run in which the link was busy, 0 to 1.
    pub utilisation: f64,
}

/// A thread of the program.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its name, if the program set one.
    pub name: String,
    /// The cpu it ran on last.
    pub cpu: u16,
    /// That cpu's node.
    pub node: u16,
    /// Simulated time of its start, in cycles.
    pub started: u64,
    /// Simulated time of its end, in cycles.
    pub ended: u64,
    /// Code address of its start routine; 0 for main.
    pub routine: u64,
}

/// A loaded object.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// Path of the file.
    pub path: String,
    /// Load bias: run-time address minus address in the file.
    pub bias: u64,
    /// First address.
    pub start: u64,
    /// End address.
    pub end: u64,
}

/// Where an allocation was made.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Return addresses, innermost first.
    pub path: Vec<u64>,
    /// The path resolved, innermost first, inlined frames included; empty until resolved.
    pub frames: Vec<Frame>,
}

/// One resolved frame of a call path.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Function name, demangled; `object+0x1234` if unknown.
    pub function: String,
    /// Source file; empty if unknown.
    pub file: String,
    /// Line; 0 if unknown.
    pub line: u32,
}

/// What kind of memory an area is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AreaKind {
    /// An allocation (malloc and friends).
    Heap,
    /// A global symbol.
    Global,
    /// A thread's stack.
    Stack,
    /// A mapping the program made.
    Mapping,
    /// All small allocations that share pages and have no area of their own.
    Small,
    /// Anything else: libraries, thread-local storage.
    Other,
}

/// A named run of addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// What kind of memory.
    pub kind: AreaKind,
    /// Symbol of a global, `stack of thread 3`, or the site's `function (file:line)`.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Index into `sites`, for heap areas and mappings.
    pub site: Option<u32>,
    /// 0-based ordinal among the allocations of the same site and size.
    pub ordinal: u32,
    /// Thread that allocated it.
    pub thread: u16,
    /// Simulated time of its birth, in cycles.
    pub born: u64,
    /// Simulated time of its end; `None` if it lived to the end.
    pub freed: Option<u64>,
}

/// Transactions on one granule of an area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Granule {
    /// Index into `areas`.
    pub area: u32,
    /// Number of the granule within the area: counted in steps of `granule_bytes` from the area's start rounded down to
    /// a granule.
    pub index: u64,
    /// Node where it lives.
    pub home: u16,
    /// Who reached it, ascending by (thread, node).
    pub by: Vec<Accesses>,
}

/// Transactions of one thread, from one node, on one granule. Local ones (node = home) are counted beside remote ones.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accesses {
    /// The thread.
    pub thread: u16,
    /// The node it ran on.
    pub node: u16,
    /// Lines fetched to read.
    pub reads: u64,
    /// Lines fetched to write.
    pub writes: u64,
    /// Permissions to write a line already held.
    pub upgrades: u64,
    /// Dirty lines written back.
    pub write_backs: u64,
}

/// Why a line moved between caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Several threads use the same words and at least one writes them.
    True,
    /// The threads use different words of the line: padding would end it.
    False,
    /// Both occur.
    Mixed,
    /// Threads in turn read and write the same words: the data moves along with the work.
    Migratory,
    /// Some threads write the words that others only read.
    ProducerConsumer,
    /// No thread was seen to write it.
    ReadOnly,
}

/// A line that moved between caches because of writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContestedLine {
    /// Index into `areas`.
    pub area: u32,
    /// Offset of the line's first byte from the area's start (negative if the line begins before it).
    pub offset: i64,
    /// Line size in bytes.
    pub bytes: u32,
    /// Times a copy was invalidated or fetched out of another cache.
    pub transfers: u64,
    /// The class.
    pub sharing: Sharing,
    /// The fields of the line that the threads use, each with its offset in the line; empty where the type is unknown.
    pub fields: Vec<LineField>,
    /// Who, ascending by thread.
    pub by: Vec<LineAccesses>,
}

/// A variable or a member of one that lies in a contested line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineField {
    /// As in the source: `stats[3].hits`.
    pub name: String,
    /// Offset of its first byte in the line (negative if it begins before).
    pub offset: i32,
    /// Bytes.
    pub bytes: u32,
}

/// One thread's part in a contested line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LineAccesses {
    /// The thread.
    pub thread: u16,
    /// Transactions that read.
    pub reads: u64,
    /// Transactions that wrote.
    pub writes: u64,
    /// Bytes read, bit i = byte group i of `line / 64` (at least 1) bytes.
    pub read_mask: u64,
    /// Bytes written, likewise.
    pub write_mask: u64,
    /// A code address of such an access.
    pub code: u64,
}
