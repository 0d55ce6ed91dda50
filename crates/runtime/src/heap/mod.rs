//! The program's allocations: `malloc` and its like, at fixed addresses and with a record of who allocated what.
//!
//! - Requests of a page or more have pages of their own, page aligned, and an area each (`large`).
//! - Smaller ones come from pools per site, size class and thread, so pages are shared only by what one thread allocates
//!   at one place (`small`).
//! - Requests before the runtime starts, or from inside of it (the C library allocates when it makes threads), come from the
//!   runtime's own memory and are not recorded (`quiet`).
//!
//! No allocation switches contexts: the C library allocates with locks held. Their cost in instructions is a constant.

mod entries;
mod large;
mod quiet;
mod site;
mod small;

pub use site::{FixedMap, Sites};

use crate::layout::{LARGE, SMALL};
use crate::state::Runtime;
use olifant_machine::NodeId;
use olifant_opium::profile::{Area, AreaKind};
use olifant_placement::MemoryPolicy;
use olifant_sim::Placement;

/// Requests from this size on have pages of their own.
const PAGE: usize = 4096;
/// Cost of an allocation or a release.
const INSTRUCTIONS: u64 = 60;

/// All of the program's allocations.
#[derive(Default)]
pub struct Heap {
    /// Call paths.
    pub sites: Sites,
    small: small::Pools,
    large: large::Blocks,
}

/// Allocates for the running thread; null if addresses or memory ran out.
fn allocate(runtime: &mut Runtime, bytes: usize, alignment: usize, path: &[u64]) -> usize {
    runtime.system.charge(INSTRUCTIONS);
    if bytes < PAGE && alignment <= PAGE / 2 {
        return small::allocate(runtime, bytes, alignment, path);
    }
    let address = large::allocate(runtime, bytes, alignment, path);
    if address != 0 {
        lock(runtime, address as u64, bytes as u64);
    }
    address
}

/// Takes the pages of new memory at once, if the run wants it so.
fn lock(runtime: &mut Runtime, start: u64, bytes: u64) {
    if runtime.spec.is_locked {
        runtime.system.lock(start, bytes);
    }
}

/// Allocates with every page on one node, whatever the run's policies say; 0 if addresses or memory ran out.
pub fn allocate_on_node(runtime: &mut Runtime, bytes: usize, node: u16) -> usize {
    let address = large::allocate(runtime, bytes, PAGE, &[]);
    if address != 0 {
        let place = Placement::Policy(MemoryPolicy::Node(NodeId(node)));
        runtime.system.map(address as u64, bytes as u64, place);
        lock(runtime, address as u64, bytes as u64);
        if let Some(area) = runtime.areas.list.iter_mut().rfind(|area| area.start == address as u64) {
            area.name = format!("replica on node {node}");
        }
    }
    address
}

/// Releases an allocation of ours; unknown addresses are an error of the program.
fn release(runtime: &mut Runtime, address: usize) -> bool {
    runtime.system.charge(INSTRUCTIONS);
    if LARGE.contains(address) { large::release(runtime, address) } else { small::release(runtime, address) }
}

/// Bytes that may be used at an address; `None` if it is no allocation.
fn usable_bytes(runtime: &Runtime, address: usize) -> Option<usize> {
    if LARGE.contains(address) {
        runtime.heap.large.usable_bytes(address)
    } else {
        runtime.heap.small.usable_bytes(address)
    }
}

/// Whether an address is one of the recorded allocations'.
fn is_recorded(address: usize) -> bool {
    LARGE.contains(address) || SMALL.contains(address)
}

/// Records a mapping that the program made. Parts of a break that grows again are the same area.
pub fn record_mapping(start: usize, bytes: usize, return_address: u64, frame: u64) {
    if !crate::state::is_free() {
        return;
    }
    crate::state::with(|runtime| {
        let (path, length) = site::walk_from(runtime, return_address, frame);
        let site = runtime.heap.sites.number(&path[..length]);
        let (start, bytes) = (start as u64, bytes as u64);
        let alike = runtime.areas.list.iter();
        let ordinal = alike.filter(|area| area.site == Some(site) && area.bytes == bytes).count() as u32;
        let area = Area {
            kind: AreaKind::Mapping,
            name: String::new(),
            start,
            bytes,
            site: Some(site),
            ordinal,
            thread: runtime.current as u16,
            born: runtime.system.now_cycles(),
            freed: None,
        };
        let known =
            runtime.areas.list.iter_mut().find(|area| area.kind == AreaKind::Mapping && area.start == start);
        match known {
            Some(known) => {
                known.bytes = known.bytes.max(bytes);
                known.freed = None;
            }
            None => {
                runtime.areas.add(area);
            }
        }
        let place = runtime.areas.place(&path[..length], bytes, ordinal);
        runtime.system.map(start, bytes, place);
        runtime.watch(&path[..length], bytes, ordinal, start);
        lock(runtime, start, bytes);
    });
}
