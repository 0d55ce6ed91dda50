//! Heaps on memory of one's own: malloc whose blocks lie in given mappings and nowhere else.
//!
//! mimalloc 3 does the work: an exclusive [`Arena`] is a mapping that only heaps made for it use, so that a policy put
//! on the mapping before anything touches it holds for every block. A heap serves all threads. Limits of mimalloc
//! 3.3: an arena is at least 32 MiB of addresses (not of memory), a process has at most 160 arenas, and an arena is
//! never given back, so [`Arena`] is a permanent thing to be used again. Source: mimalloc.h, "heaps" and "arenas".

use crate::Mapping;
use core::ffi::c_void;
use core::ops::Range;
use core::ptr::NonNull;
use libmimalloc_sys as mi;

/// Addresses that an arena starts at a multiple of.
pub const ARENA_ALIGNMENT: usize = 1 << 16;
/// An arena's size is a multiple of this.
pub const ARENA_UNIT: usize = 32 << 20;
/// The largest alignment of a block.
pub const LARGEST_ALIGNMENT: usize = 1 << 16;

/// A mapping that belongs to the allocator for the rest of the process.
#[derive(Debug, Clone)]
pub struct Arena {
    id: mi::mi_arena_id_t,
    range: Range<usize>,
}

// SAFETY: the id is a name within the allocator, whose arena functions serve any thread.
unsafe impl Send for Arena {}
// SAFETY: as for Send.
unsafe impl Sync for Arena {}

/// A heap whose blocks lie in one arena.
#[derive(Debug)]
pub struct Heap(NonNull<mi::mi_heap_t>);

// SAFETY: a heap of mimalloc 3 is used by any thread; each gets a local part of its own inside.
unsafe impl Send for Heap {}
// SAFETY: as for Send.
unsafe impl Sync for Heap {}

impl Arena {
    /// Gives a mapping to the allocator. A mapping that does not fit (its start and size must be multiples of
    /// [`ARENA_ALIGNMENT`] and [`ARENA_UNIT`]), or one arena too many, comes back.
    /// # Errors  The mapping, as it was.
    pub fn new(mapping: Mapping) -> Result<Arena, Mapping> {
        let range = mapping.range();
        if !range.start.is_multiple_of(ARENA_ALIGNMENT) || !range.len().is_multiple_of(ARENA_UNIT) {
            return Err(mapping);
        }
        let mut id: mi::mi_arena_id_t = core::ptr::null_mut();
        // SAFETY: the mapping is fresh memory of zeros that nobody else refers to; it is given up below, so that it
        // stays mapped as long as the allocator lives.
        let is_managed = unsafe {
            mi::mi_manage_os_memory_ex(
                mapping.as_ptr().cast(),
                range.len(),
                true,
                false,
                true,
                -1,
                true,
                &raw mut id,
            )
        };
        if !is_managed {
            return Err(mapping);
        }
        let _ = mapping.into_parts();
        Ok(Arena { id, range })
    }

    /// The addresses.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

impl Heap {
    /// A new heap in an arena; `None` if the allocator has no memory for its own records.
    pub fn in_arena(arena: &Arena) -> Option<Heap> {
        // SAFETY: the id came from the allocator and stays good.
        NonNull::new(unsafe { mi::mi_heap_new_in_arena(arena.id) }).map(Heap)
    }

    /// A block of at least `bytes` bytes at a multiple of `alignment`, a power of two up to [`LARGEST_ALIGNMENT`];
    /// `None` if the arena has no room.
    #[inline]
    pub fn allocate(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
        // SAFETY: the heap lives as long as `self`; a bad alignment gives null.
        let block = unsafe {
            match alignment {
                0..=PLAIN_ALIGNMENT => mi::mi_heap_malloc(self.0.as_ptr(), bytes),
                _ => mi::mi_heap_malloc_aligned(self.0.as_ptr(), bytes, alignment),
            }
        };
        NonNull::new(block.cast())
    }

    /// The same, filled with zeros.
    #[inline]
    pub fn allocate_zeroed(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
        // SAFETY: as above.
        let block = unsafe {
            match alignment {
                0..=PLAIN_ALIGNMENT => mi::mi_heap_zalloc(self.0.as_ptr(), bytes),
                _ => mi::mi_heap_zalloc_aligned(self.0.as_ptr(), bytes, alignment),
            }
        };
        NonNull::new(block.cast())
    }

    /// The block with another size: the same if it fits, else a copy in this heap. `None` leaves the block as it was.
    ///
    /// # Safety
    /// `block` is a live block of any of the allocator's heaps; if the answer is a block, it takes its place.
    pub unsafe fn reallocate(
        &self,
        block: NonNull<u8>,
        bytes: usize,
        alignment: usize,
    ) -> Option<NonNull<u8>> {
        let old: *mut c_void = block.as_ptr().cast();
        // SAFETY: the caller vouches for the block.
        let new = unsafe {
            match alignment {
                0..=PLAIN_ALIGNMENT => mi::mi_heap_realloc(self.0.as_ptr(), old, bytes),
                _ => mi::mi_heap_realloc_aligned(self.0.as_ptr(), old, bytes, alignment),
            }
        };
        NonNull::new(new.cast())
    }

    /// Frees all blocks at once and the heap with them.
    ///
    /// # Safety
    /// Nobody uses a block of this heap any more, and no thread is inside the heap.
    pub unsafe fn destroy(self) {
        let heap = core::mem::ManuallyDrop::new(self);
        // SAFETY: the caller vouches; the heap is not dropped after.
        unsafe { mi::mi_heap_destroy(heap.0.as_ptr()) };
    }
}

impl Drop for Heap {
    /// Gives the heap up. Blocks in use stay good, and are freed like any other.
    fn drop(&mut self) {
        // SAFETY: nobody else has the heap, since it is dropped; the allocator keeps its live blocks.
        unsafe { mi::mi_heap_delete(self.0.as_ptr()) };
    }
}

/// Bytes in a heap, owned: freed when it goes out of scope, in whatever thread that is.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is owned like a boxed slice, and any thread may free it.
unsafe impl Send for Block {}
// SAFETY: shared references give shared slices of plain bytes only.
unsafe impl Sync for Block {}

impl Heap {
    /// A block of `bytes` zeros; `None` if the arena has no room.
    pub fn block(&self, bytes: usize) -> Option<Block> {
        Some(Block { start: self.allocate_zeroed(bytes, 1)?, bytes })
    }
}

impl core::ops::Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the block has this many bytes, all written (zeros at first), until it is dropped.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl core::ops::DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block is live and nobody refers to it any more.
        unsafe { free(self.start) };
    }
}

/// What every block is aligned to (max_align_t).
const PLAIN_ALIGNMENT: usize = 16;

/// Frees a block of any heap, from any thread.
///
/// # Safety
/// `block` is a live block of one of the allocator's heaps.
#[inline]
pub unsafe fn free(block: NonNull<u8>) {
    // SAFETY: the caller vouches.
    unsafe { mi::mi_free(block.as_ptr().cast()) };
}

/// How many bytes of a block may be used: at least those asked for.
///
/// # Safety
/// `block` is a live block of one of the allocator's heaps.
pub unsafe fn usable_size(block: NonNull<u8>) -> usize {
    // SAFETY: the caller vouches.
    unsafe { mi::mi_usable_size(block.as_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MappingOptions;

    fn arena() -> Arena {
        let options = MappingOptions { alignment: ARENA_ALIGNMENT, ..MappingOptions::new(ARENA_UNIT) };
        Arena::new(Mapping::anonymous(&options).unwrap()).unwrap()
    }

    #[test]
    fn blocks_lie_in_the_arena_whichever_thread_asks() {
        let arena = arena();
        let heap = Heap::in_arena(&arena).unwrap();
        let in_arena = |block: NonNull<u8>| arena.range().contains(&block.as_ptr().addr());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for bytes in [1, 100, 5000, 200_000] {
                        for alignment in [1, 64, 4096, LARGEST_ALIGNMENT] {
                            let block = heap.allocate_zeroed(bytes, alignment).unwrap();
                            assert!(in_arena(block));
                            assert_eq!(block.as_ptr().addr() % alignment, 0);
                            // SAFETY: the block is live and not used after.
                            unsafe {
                                assert_eq!(*block.as_ptr(), 0);
                                assert!(usable_size(block) >= bytes);
                                free(block);
                            }
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_block_keeps_its_contents_when_it_grows_and_a_full_arena_gives_none() {
        let heap = Heap::in_arena(&arena()).unwrap();
        let block = heap.allocate(10, 1).unwrap();
        // SAFETY: the block is live, and its successor takes its place.
        unsafe {
            block.as_ptr().write_bytes(7, 10);
            let block = heap.reallocate(block, 1 << 20, 1).unwrap();
            assert_eq!(core::slice::from_raw_parts(block.as_ptr(), 10), [7; 10]);
            assert!(heap.reallocate(block, 2 * ARENA_UNIT, 1).is_none());
            assert_eq!(*block.as_ptr(), 7);
            assert!(heap.allocate(ARENA_UNIT, 1).is_none());
            heap.destroy();
        }
    }

    #[test]
    fn a_mapping_that_does_not_fit_comes_back() {
        let small = Mapping::anonymous(&MappingOptions::new(1 << 20)).unwrap();
        assert_eq!(Arena::new(small).unwrap_err().range().len(), 1 << 20);
    }
}
