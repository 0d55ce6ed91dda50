//! Allocations that are nobody's business: before the runtime starts, and from inside of it. A header in front of the block
//! holds its layout.

use core::alloc::Layout;

/// Bytes in front of a block, at least; more if its alignment is larger.
const HEADER: usize = 16;

fn layout(bytes: usize, alignment: usize) -> Option<(Layout, usize)> {
    let alignment = alignment.max(HEADER);
    let layout = Layout::from_size_align(bytes.checked_add(alignment)?, alignment).ok()?;
    Some((layout, alignment))
}

/// Allocates zeroed memory; null without memory.
pub fn allocate(bytes: usize, alignment: usize) -> usize {
    let Some((layout, offset)) = layout(bytes, alignment) else { return 0 };
    // SAFETY: the layout is not empty; the header fits in front of the block because the offset is at least its size.
    unsafe {
        let start = std::alloc::alloc_zeroed(layout);
        if start.is_null() {
            return 0;
        }
        let block = start.add(offset).cast::<usize>();
        block.sub(1).write(bytes);
        block.sub(2).write(offset);
        block as usize
    }
}

/// Size of a block.
///
/// # Safety
/// `address` must come from `allocate`.
pub unsafe fn usable_bytes(address: usize) -> usize {
    // SAFETY: the header stands in front of the block.
    unsafe { (address as *const usize).sub(1).read() }
}

/// Releases a block.
///
/// # Safety
/// `address` must come from `allocate` and not be used any more.
pub unsafe fn release(address: usize) {
    // SAFETY: the header stands in front of the block and gives the layout that it was made with.
    unsafe {
        let bytes = usable_bytes(address);
        let offset = (address as *const usize).sub(2).read();
        if let Some((layout, _)) = layout(bytes, offset) {
            std::alloc::dealloc((address - offset) as *mut u8, layout);
        }
    }
}
