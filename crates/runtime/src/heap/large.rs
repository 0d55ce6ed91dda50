//! Allocations with pages of their own: an area each, page aligned.
//!
//! An area is known by site, size and ordinal: the lowest that is not alive when it is allocated. A temporary that is made
//! and freed in a loop is therefore one area at one address. Freed pages go back to the host, and the simulated machine
//! forgets where they were.

use super::site::FixedMap;
use crate::layout::{HOST_PAGE, LARGE, round_up};
use crate::state::Runtime;
use crate::sys;
use olifant_opium::profile::{Area, AreaKind};
use std::collections::{BTreeMap, BTreeSet};

/// Host memory is reserved in steps of this many bytes.
const STEP: usize = 64 << 20;
/// Freed blocks up to this size keep their host memory.
const KEPT_BYTES: usize = 256 << 10;
/// A site with more distinct sizes than this has its sizes rounded up, so that growing buffers do not use up
/// addresses.
const EXACT_SIZES: u32 = 256;

#[derive(Default)]
struct Siblings {
    /// Addresses by ordinal.
    addresses: Vec<usize>,
    /// Ordinals that are not alive.
    idle: BTreeSet<u32>,
}

struct Block {
    /// Bytes reserved, a multiple of the page.
    room: usize,
    bytes: usize,
    area: u32,
    ordinal: u32,
    key: (u32, usize),
    is_alive: bool,
    /// Whether its memory may hold something else than zeros.
    is_dirty: bool,
}

/// All blocks with pages of their own.
#[derive(Default)]
pub struct Blocks {
    siblings: FixedMap<(u32, usize), Siblings>,
    sizes_of_site: FixedMap<u32, u32>,
    blocks: BTreeMap<usize, Block>,
    next: usize,
    reserved: usize,
}

impl Blocks {
    pub fn usable_bytes(&self, address: usize) -> Option<usize> {
        self.blocks.get(&address).filter(|block| block.is_alive).map(|block| block.room)
    }

    /// The size by which a request is grouped with others of its site.
    fn key(&mut self, site: u32, bytes: usize) -> (u32, usize) {
        if self.siblings.contains_key(&(site, bytes)) {
            return (site, bytes);
        }
        let sizes = self.sizes_of_site.entry(site).or_default();
        if *sizes >= EXACT_SIZES {
            return (site, round_up(bytes, (bytes.next_power_of_two() / 8).max(HOST_PAGE)));
        }
        *sizes += 1;
        (site, bytes)
    }

    fn reserve(&mut self, room: usize, alignment: usize) -> Option<usize> {
        let first = if self.next == 0 { LARGE.start } else { self.next };
        let address = round_up(first, alignment.max(HOST_PAGE));
        let end = address.checked_add(room).filter(|&end| end <= LARGE.end)?;
        let mapped = if self.reserved == 0 { LARGE.start } else { self.reserved };
        if end > mapped {
            let bytes = round_up(end - mapped, STEP).min(LARGE.end - mapped);
            if sys::map_memory(mapped, bytes, libc::PROT_READ | libc::PROT_WRITE) < 0 {
                return None;
            }
            self.reserved = mapped + bytes;
        }
        self.next = end;
        Some(address)
    }
}

/// Allocates; the memory reads as zero unless `is_dirty` says otherwise.
pub fn allocate(runtime: &mut Runtime, bytes: usize, alignment: usize, path: &[u64]) -> usize {
    if bytes > LARGE.bytes() || alignment > STEP {
        return 0;
    }
    let page = alignment.max(runtime.spec.machine.os.page.0 as usize).max(HOST_PAGE);
    let site = runtime.heap.sites.number(path);
    let large = &mut runtime.heap.large;
    let key = large.key(site, bytes.max(1));
    let siblings = large.siblings.entry(key).or_default();
    let ordinal = siblings.idle.pop_first().unwrap_or(siblings.addresses.len() as u32);
    let known = siblings.addresses.get(ordinal as usize).copied();
    let now = runtime.system.now_cycles();
    let address = match known {
        Some(address) if address % alignment.max(1) == 0 => address,
        _ => {
            let room = round_up(key.1, page);
            let Some(address) = large.reserve(room, page) else { return 0 };
            let area = runtime.areas.add(Area {
                kind: AreaKind::Heap,
                name: String::new(),
                start: address as u64,
                bytes: bytes as u64,
                site: Some(site),
                ordinal,
                thread: runtime.current as u16,
                born: now,
                freed: None,
            });
            let addresses = &mut large.siblings.entry(key).or_default().addresses;
            match addresses.get_mut(ordinal as usize) {
                Some(entry) => *entry = address,
                None => addresses.push(address),
            }
            large
                .blocks
                .insert(address, Block { room, bytes, area, ordinal, key, is_alive: false, is_dirty: false });
            address
        }
    };
    let Some(block) = large.blocks.get_mut(&address) else { return 0 };
    block.is_alive = true;
    block.bytes = bytes;
    let area = &mut runtime.areas.list[block.area as usize];
    area.freed = None;
    area.bytes = area.bytes.max(bytes as u64);
    let (room, ordinal) = (block.room as u64, block.ordinal);
    let place = runtime.areas.place(path, bytes as u64, ordinal);
    runtime.system.map(address as u64, room, place);
    runtime.watch(path, bytes as u64, ordinal, address as u64);
    address
}

/// Releases a block; false if there is none alive at the address.
pub fn release(runtime: &mut Runtime, address: usize) -> bool {
    let large = &mut runtime.heap.large;
    let Some(block) = large.blocks.get_mut(&address).filter(|block| block.is_alive) else { return false };
    block.is_alive = false;
    block.is_dirty = block.room <= KEPT_BYTES;
    if !block.is_dirty {
        // SAFETY: the program has given the block up.
        unsafe { sys::discard(address, block.room) };
    }
    large.siblings.entry(block.key).or_default().idle.insert(block.ordinal);
    runtime.areas.list[block.area as usize].freed = Some(runtime.system.now_cycles());
    runtime.system.unmap(address as u64, block.room as u64);
    true
}

/// Whether the memory of a block must be cleared for `calloc`.
pub fn is_dirty(runtime: &Runtime, address: usize) -> bool {
    runtime.heap.large.blocks.get(&address).is_none_or(|block| block.is_dirty)
}
