//! Small allocations: pools per place of the call, size class and donor slot of the allocating thread.
//!
//! A pool takes chunks of 64 KiB and more, an area of kind `Small` each, and gives out blocks from the newest chunk and from
//! its free list. A freed block goes back to its pool, whoever frees it. The pool's site is the path of its first
//! allocation; pools tell calls apart by their two innermost return addresses.

use super::site::FixedMap;
use crate::layout::{SMALL, round_up};
use crate::state::Runtime;
use crate::sys;
use olifant_opium::profile::{Area, AreaKind};

/// Unit in which chunks are cut.
const CHUNK: usize = 64 << 10;
/// Largest chunk.
const LARGEST_CHUNK: usize = 1 << 20;
/// Host memory is reserved in steps of this many bytes.
const STEP: usize = 64 << 20;

type Key = (u64, u64, usize, usize);

struct Pool {
    block_bytes: usize,
    next: usize,
    end: usize,
    /// First free block; each holds the address of the next in its first word.
    free: usize,
    next_chunk: usize,
    chunks: u32,
    path: Vec<u64>,
}

/// All pools.
#[derive(Default)]
pub struct Pools {
    numbers: FixedMap<Key, u32>,
    pools: Vec<Pool>,
    /// Pool of each 64 KiB of addresses, plus one; 0 for none.
    owners: Vec<u32>,
    reserved: usize,
    /// Addresses in use, one bit per 16 bytes, to know a double free.
    live: Vec<u64>,
}

/// Size class: steps of 16 bytes up to 256, then four per doubling. A strict alignment needs a power of two.
fn block_bytes(bytes: usize, alignment: usize) -> usize {
    if alignment > 16 {
        return bytes.max(alignment).next_power_of_two();
    }
    let bytes = bytes.max(1);
    if bytes <= 256 { round_up(bytes, 16) } else { round_up(bytes, bytes.next_power_of_two() / 8) }
}

impl Pools {
    fn owner(&self, address: usize) -> Option<usize> {
        let owner = self.owners.get((address - SMALL.start) / CHUNK).copied().unwrap_or(0);
        (owner != 0).then(|| owner as usize - 1)
    }

    fn bit(address: usize) -> (usize, u64) {
        let granule = (address - SMALL.start) / 16;
        (granule / 64, 1 << (granule % 64))
    }

    fn is_live(&self, address: usize) -> bool {
        let (word, bit) = Self::bit(address);
        address.is_multiple_of(16) && self.live.get(word).is_some_and(|live| live & bit != 0)
    }

    pub fn usable_bytes(&self, address: usize) -> Option<usize> {
        self.is_live(address).then(|| self.owner(address)).flatten().map(|pool| self.pools[pool].block_bytes)
    }

    /// Cuts a chunk for a pool; false if addresses or memory ran out.
    fn grow(&mut self, number: usize) -> bool {
        let bytes = self.pools[number].next_chunk;
        let start = SMALL.start + self.owners.len() * CHUNK;
        if start + bytes > SMALL.end {
            return false;
        }
        let mapped = self.reserved.max(SMALL.start);
        if start + bytes > mapped {
            if sys::map_memory(mapped, STEP, libc::PROT_READ | libc::PROT_WRITE) < 0 {
                return false;
            }
            self.reserved = mapped + STEP;
        }
        self.owners.resize(self.owners.len() + bytes / CHUNK, number as u32 + 1);
        self.live.resize(self.owners.len() * CHUNK / 16 / 64, 0);
        let pool = &mut self.pools[number];
        pool.next = start;
        pool.end = start + bytes;
        pool.next_chunk = (bytes * 2).min(LARGEST_CHUNK);
        pool.chunks += 1;
        true
    }
}

/// Allocates from the pool of this call, size and thread.
pub fn allocate(runtime: &mut Runtime, bytes: usize, alignment: usize, path: &[u64]) -> usize {
    let block_bytes = block_bytes(bytes, alignment);
    let slot = runtime.threads[runtime.current].donor.as_ref().map_or(0, |donor| donor.1);
    let call = |depth: usize| path.get(depth).copied().unwrap_or(0);
    let key = (call(0), call(1), block_bytes, slot);
    let small = &mut runtime.heap.small;
    let number = match small.numbers.get(&key) {
        Some(&number) => number as usize,
        None => {
            let path = path.to_vec();
            small.pools.push(Pool {
                block_bytes,
                next: 0,
                end: 0,
                free: 0,
                next_chunk: CHUNK,
                chunks: 0,
                path,
            });
            small.numbers.insert(key, small.pools.len() as u32 - 1);
            small.pools.len() - 1
        }
    };
    let pool = &mut small.pools[number];
    let address = if pool.free != 0 {
        let address = pool.free;
        // SAFETY: a free block is ours and its first word is the next one.
        pool.free = unsafe { *(address as *const usize) };
        address
    } else {
        if pool.next + block_bytes > pool.end && !add_chunk(runtime, number) {
            return 0;
        }
        let pool = &mut runtime.heap.small.pools[number];
        pool.next += block_bytes;
        pool.next - block_bytes
    };
    let (word, bit) = Pools::bit(address);
    runtime.heap.small.live[word] |= bit;
    address
}

/// Gives a pool a new chunk, which is a new area.
fn add_chunk(runtime: &mut Runtime, number: usize) -> bool {
    if !runtime.heap.small.grow(number) {
        return false;
    }
    let pool = &runtime.heap.small.pools[number];
    let (start, bytes, ordinal) = (pool.next as u64, (pool.end - pool.next) as u64, pool.chunks - 1);
    let path = pool.path.clone();
    let area = Area {
        kind: AreaKind::Small,
        name: String::new(),
        start,
        bytes,
        site: Some(runtime.heap.sites.number(&path)),
        ordinal,
        thread: runtime.current as u16,
        born: runtime.system.now_cycles(),
        freed: None,
    };
    runtime.areas.add(area);
    let place = runtime.areas.place_small(&path, bytes, ordinal);
    runtime.system.map(start, bytes, place);
    runtime.watch(&path, bytes, ordinal, start);
    super::lock(runtime, start, bytes);
    true
}

/// Releases a block; false if none is alive at the address.
pub fn release(runtime: &mut Runtime, address: usize) -> bool {
    let small = &mut runtime.heap.small;
    if !small.is_live(address) {
        return false;
    }
    let Some(number) = small.owner(address) else { return false };
    let (word, bit) = Pools::bit(address);
    small.live[word] &= !bit;
    // SAFETY: the program has given the block up; it is at least 16 bytes.
    unsafe { *(address as *mut usize) = small.pools[number].free };
    small.pools[number].free = address;
    true
}
