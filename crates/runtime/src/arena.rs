//! The runtime's own memory: the global allocator of its Rust code.
//!
//! The program's `malloc` is ours and records what it does, so the runtime must not use it. Blocks come in powers of two
//! from mapped arenas and return to a free list of their size; blocks of 256 KiB and more are mappings of their own. Used by
//! one operating-system thread at a time: the program's threads are contexts on one, and donors call nothing of ours.

use crate::layout::{HOST_PAGE, round_up};
use crate::sys;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;

const SMALLEST_SHIFT: usize = 4;
const LARGE: usize = 256 << 10;
const CLASSES: usize = LARGE.trailing_zeros() as usize - SMALLEST_SHIFT;
const ARENA: usize = 4 << 20;
/// Mappings from this size on may lie in huge pages.
const HUGE: usize = 2 << 20;

/// The allocator's state: the current arena and one free list per power of two.
pub struct Arenas(UnsafeCell<State>);

struct State {
    next: usize,
    end: usize,
    free: [usize; CLASSES],
}

// SAFETY: only the one operating-system thread that runs the program's contexts allocates (see the head of the file).
unsafe impl Sync for Arenas {}

impl Arenas {
    /// No memory yet.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(State { next: 0, end: 0, free: [0; CLASSES] }))
    }
}

/// Power of two that holds the layout, at least 16; alignment included because blocks are aligned to their size.
fn block_bytes(layout: Layout) -> usize {
    layout.size().max(layout.align()).max(1 << SMALLEST_SHIFT).next_power_of_two()
}

/// New memory from the kernel, or a negative errno.
fn map(bytes: usize) -> isize {
    let address = sys::map_memory(0, bytes, libc::PROT_READ | libc::PROT_WRITE);
    if address > 0 && bytes >= HUGE {
        sys::prefer_huge_pages(address as usize, bytes);
    }
    address
}

// SAFETY: blocks are disjoint: each is cut once from a fresh mapping and handed out again only after it was freed.
unsafe impl GlobalAlloc for Arenas {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let bytes = block_bytes(layout);
        if bytes >= LARGE {
            // Mappings are page aligned, enough for every layout in Rust's own collections.
            let address = map(round_up(layout.size(), HOST_PAGE));
            return if address < 0 || layout.align() > HOST_PAGE {
                core::ptr::null_mut()
            } else {
                address as *mut u8
            };
        }
        // SAFETY: one thread, and nothing below calls back into the allocator.
        let state = unsafe { &mut *self.0.get() };
        let class = bytes.trailing_zeros() as usize - SMALLEST_SHIFT;
        let head = state.free[class];
        if head != 0 {
            // SAFETY: a free block's first word holds the next free block.
            state.free[class] = unsafe { *(head as *const usize) };
            return head as *mut u8;
        }
        let mut start = round_up(state.next, bytes);
        if start + bytes > state.end {
            let arena = map(ARENA);
            if arena < 0 {
                return core::ptr::null_mut();
            }
            start = round_up(arena as usize, bytes);
            state.end = arena as usize + ARENA;
        }
        state.next = start + bytes;
        start as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let bytes = block_bytes(layout);
        if bytes >= LARGE {
            // SAFETY: the block was a mapping of this size and its owner has given it up.
            unsafe { sys::unmap(block as usize, round_up(layout.size(), HOST_PAGE)) };
            return;
        }
        let class = bytes.trailing_zeros() as usize - SMALLEST_SHIFT;
        // SAFETY: one thread; the freed block is at least a word and unused from now on.
        unsafe {
            let state = &mut *self.0.get();
            *block.cast::<usize>() = state.free[class];
            state.free[class] = block as usize;
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout is passed on; a block has at least the layout's size.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() && block_bytes(layout) < LARGE {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`: a valid non-zero layout results.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let (old, new) = (block_bytes(layout), block_bytes(new_layout));
        if old == new && new < LARGE {
            return block;
        }
        if old >= LARGE && new >= LARGE {
            let sizes = (round_up(layout.size(), HOST_PAGE), round_up(new_size, HOST_PAGE));
            // SAFETY: the block is a mapping of the old size; the kernel moves it whole.
            let moved = unsafe {
                let flags = libc::MREMAP_MAYMOVE as usize;
                sys::call(libc::SYS_mremap, [block as usize, sizes.0, sizes.1, flags, 0, 0])
            };
            return if moved < 0 { core::ptr::null_mut() } else { moved as *mut u8 };
        }
        // SAFETY: fresh and old block are disjoint and both hold the smaller size.
        unsafe {
            let fresh = self.alloc(new_layout);
            if !fresh.is_null() {
                fresh.copy_from_nonoverlapping(block, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            fresh
        }
    }
}

#[global_allocator]
static ARENAS: Arenas = Arenas::new();
