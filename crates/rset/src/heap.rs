//! Heaps whose blocks lie on the nodes of a set, for malloc, free, realloc and aligned forms from any thread.
//!
//! A heap has arenas: ranges of addresses placed before first touch, which the allocator fills page by page. When one is
//! full the next, twice as large, is added; addresses cost nothing until they are touched. Arenas outlive their heap,
//! since the allocator cannot give them up, and serve the next heap of the same spread. Finding the arena of an
//! allocation takes no lock and writes no shared line.

use crate::System;
use crate::error::{Cause, Error, Result};
use crate::place::exact_pages;
use crate::read_back::ReadBack;
use crate::region::RegionOptions;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};
use olifant_placement::{ResourceSet, SetPolicy, Spread};
use olifant_sys::heap::{self, ARENA_ALIGNMENT, ARENA_UNIT, Arena, Block};
use olifant_sys::{HugePages, Pid, page_size};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A heap on the nodes of a set.
#[derive(Debug)]
pub struct Heap {
    system: System,
    spread: Spread,
    parts: [OnceLock<Part>; MOST_PARTS],
    /// The place of the part that allocations try first: the newest.
    newest: AtomicUsize,
    /// Held while a part is added.
    growing: Mutex<()>,
}

/// A heap that does not grow as long as this lives.
#[derive(Debug)]
pub struct Growing<'h>(#[expect(dead_code, reason = "it is the lock that counts")] MutexGuard<'h, ()>);

#[derive(Debug)]
struct Part {
    spread: Spread,
    arena: Arena,
    heap: heap::Heap,
}

/// Arenas of a heap: from 1 GiB of addresses up to 16 GiB each, 271 GiB in all.
const MOST_PARTS: usize = 21;
const FIRST_BYTES: usize = 1 << 30;
const LARGEST_BYTES: usize = 16 << 30;
/// The allocator takes no more from an arena at once (its option arena_max_object_size).
const LARGEST_BLOCK: usize = 2 << 30;

/// Arenas of heaps that are gone, by spread.
static RETIRED: Mutex<Vec<(Spread, Arena)>> = Mutex::new(Vec::new());

impl Heap {
    /// A heap under a set by a policy. "Local" is where the calling thread is now.
    /// # Errors  [`Error::Policy`] or [`Error::Refused`] with the cause.
    pub fn new(system: &System, set: &ResourceSet, policy: &SetPolicy) -> Result<Heap> {
        Heap::with_spread(system, system.spread(set, policy)?)
    }

    /// A heap as a spread says.
    /// # Errors  [`Error::Refused`] with the cause.
    pub fn with_spread(system: &System, spread: Spread) -> Result<Heap> {
        let heap = Heap {
            system: system.clone(),
            spread,
            parts: [const { OnceLock::new() }; MOST_PARTS],
            newest: AtomicUsize::new(0),
            growing: Mutex::new(()),
        };
        let part = heap.new_part(FIRST_BYTES.min(heap.most_bytes()))?;
        let _ = heap.parts[0].set(part);
        Ok(heap)
    }

    /// A block of at least `bytes` bytes at a multiple of `alignment` (a power of two up to 64 KiB); `None` if there is
    /// no memory, or the alignment is not possible. The largest block is a little below 2 GiB, a limit of the allocator.
    #[inline]
    pub fn allocate(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
        // The way of nearly all calls, kept short; everything else is out of line.
        let newest = self.parts[self.newest.load(Ordering::Acquire)].get();
        match newest.and_then(|part| part.heap.allocate(bytes, alignment)) {
            None => self.allocate_elsewhere(bytes, alignment),
            found => found,
        }
    }

    #[cold]
    fn allocate_elsewhere(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
        self.first_that_can(bytes, alignment, |part| part.heap.allocate(bytes, alignment))
    }

    /// The same, filled with zeros.
    pub fn allocate_zeroed(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
        self.first_that_can(bytes, alignment, |part| part.heap.allocate_zeroed(bytes, alignment))
    }

    /// An owned block of `bytes` zeros; `None` if there is no memory.
    pub fn block(&self, bytes: usize) -> Option<Block> {
        self.first_that_can(bytes, 1, |part| part.heap.block(bytes))
    }

    /// Does what `ask` says on the first of the heap's parts that can: the way to
    /// [`olifant_sys::heap::Heap::reallocate`], which is unsafe, for callers behind the fence.
    pub fn on_part(
        &self,
        bytes: usize,
        alignment: usize,
        ask: impl Fn(&heap::Heap) -> Option<NonNull<u8>>,
    ) -> Option<NonNull<u8>> {
        self.first_that_can(bytes, alignment, |part| ask(&part.heap))
    }

    /// Whether a block is one of this heap's.
    pub fn contains(&self, block: NonNull<u8>) -> bool {
        let address = block.as_ptr().addr();
        self.parts().any(|part| part.arena.range().contains(&address))
    }

    /// How its pages are spread.
    pub fn spread(&self) -> &Spread {
        &self.spread
    }

    /// Where the pages of the heap are, unused ones included; one that was never touched is absent. Cost: one system
    /// call per 1,024 pages of addresses, a quarter of a million pages for the smallest heap.
    /// # Errors  [`Error::Refused`] under a seccomp filter.
    pub fn read_back(&self) -> Result<ReadBack> {
        let mut found = ReadBack::default();
        for part in self.parts() {
            found.add(self.system.query(Pid::CALLING, part.arena.range(), Some(&self.spread))?);
        }
        Ok(found)
    }

    /// Keeps other threads from adding to the heap until the answer is dropped: for a process that forks, whose child must
    /// not find a part half made.
    pub fn hold(&self) -> Growing<'_> {
        Growing(self.growing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Addresses of a part at most: wide stripes and weights take a mapping for each run of pages, and where those are too
    /// many, all of the part would have to be filled with pages.
    fn most_bytes(&self) -> usize {
        let exact =
            usize::try_from(exact_pages(&self.spread)).unwrap_or(usize::MAX).saturating_mul(page_size());
        (exact / ARENA_UNIT * ARENA_UNIT).clamp(ARENA_UNIT, LARGEST_BYTES)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().map_while(OnceLock::get)
    }

    /// Asks the newest part, then the older ones, then a new one.
    fn first_that_can<B>(
        &self,
        bytes: usize,
        alignment: usize,
        ask: impl Fn(&Part) -> Option<B>,
    ) -> Option<B> {
        let newest = self.newest.load(Ordering::Acquire);
        let found = self.parts[newest].get().and_then(&ask);
        if found.is_some() || alignment > heap::LARGEST_ALIGNMENT || bytes > LARGEST_BLOCK {
            return found;
        }
        // Not the fast path: what was freed in older arenas is used before addresses are.
        let older = self.parts[..newest].iter().rev().filter_map(OnceLock::get).find_map(&ask);
        older.or_else(|| self.grow(newest, bytes, &ask))
    }

    fn grow<B>(&self, full: usize, bytes: usize, ask: &impl Fn(&Part) -> Option<B>) -> Option<B> {
        let _held = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = self.newest.load(Ordering::Acquire);
        // Another thread may have added one meanwhile.
        if newest != full
            && let Some(found) = self.parts[newest].get().and_then(ask)
        {
            return Some(found);
        }
        let next = newest + 1;
        let wanted = (FIRST_BYTES << next.min(8)).max(bytes.checked_mul(2)?).min(self.most_bytes());
        let place = self.parts.get(next)?;
        let part = self.new_part(wanted.next_multiple_of(ARENA_UNIT)).ok()?;
        // A block that not even a fresh arena holds leaves the heap as it was; the arena waits for its next use.
        let found = ask(&part)?;
        let _ = place.set(part);
        self.newest.store(next, Ordering::Release);
        Some(found)
    }

    /// A part of so many bytes of addresses, or of fewer where the limits of address space do not allow them.
    fn new_part(&self, bytes: usize) -> Result<Part> {
        let action = || format!("make a heap on nodes {}", self.spread.nodes());
        if let Some(arena) = take_retired(&self.spread, bytes) {
            return self.part_in(arena);
        }
        let mut bytes = bytes;
        loop {
            let options = RegionOptions {
                alignment: ARENA_ALIGNMENT,
                huge_pages: HugePages::System,
                ..Default::default()
            };
            match self.system.allocate_spread(bytes, self.spread.clone(), &options) {
                Ok((region, _)) => {
                    let Ok(arena) = Arena::new(region.into_mapping()) else {
                        let needs = "fewer heaps: the allocator has 160 arenas in a process";
                        return Err(Error::refused(
                            action(),
                            Cause::Unsupported { what: "one more arena", needs },
                        ));
                    };
                    return self.part_in(arena);
                }
                Err(error) if matches!(error.cause(), Some(Cause::Limit { .. })) && bytes > ARENA_UNIT => {
                    bytes = (bytes / 2).next_multiple_of(ARENA_UNIT);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn part_in(&self, arena: Arena) -> Result<Part> {
        match heap::Heap::in_arena(&arena) {
            Some(heap) => Ok(Part { spread: self.spread.clone(), arena, heap }),
            None => {
                let what = "memory for the allocator's own records (ulimit -v)";
                Err(Error::refused(
                    format!("make a heap on nodes {}", self.spread.nodes()),
                    Cause::Limit { what },
                ))
            }
        }
    }
}

impl Drop for Part {
    /// The arena goes to the next heap of this spread; blocks that are still in use stay good.
    fn drop(&mut self) {
        let retired = (self.spread.clone(), self.arena.clone());
        RETIRED.lock().unwrap_or_else(PoisonError::into_inner).push(retired);
    }
}

fn take_retired(spread: &Spread, bytes: usize) -> Option<Arena> {
    let mut retired = RETIRED.lock().unwrap_or_else(PoisonError::into_inner);
    let fitting = retired
        .iter()
        .enumerate()
        .filter(|(_, (known, arena))| known == spread && arena.range().len() >= bytes);
    let (place, _) = fitting.min_by_key(|(_, (_, arena))| arena.range().len())?;
    Some(retired.swap_remove(place).1)
}
