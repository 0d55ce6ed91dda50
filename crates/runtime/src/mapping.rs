//! Memory that the program maps itself: `mmap` and its like at fixed addresses, each mapping an area; and its break.
//!
//! Addresses are never used twice, so what the card counts for a mapping stays its own. A mapping at an address that the
//! program demands stays there, without an area if it replaces part of another.

use crate::errno;
use crate::heap;
use crate::layout::{BREAK, HOST_PAGE, MAPPINGS, round_up};
use crate::state::{is_free, with};
use crate::sys;
use core::sync::atomic::{AtomicUsize, Ordering};
use olifant_opium::profile::{Area, AreaKind};

/// Next free address of the span.
static NEXT: AtomicUsize = AtomicUsize::new(MAPPINGS.start);
/// The program's break.
static BREAK_END: AtomicUsize = AtomicUsize::new(0);

/// Maps at the next fixed address; the kernel's result.
unsafe fn map(arguments: [usize; 6], return_address: u64, frame: u64) -> isize {
    let [wanted, bytes, protection, flags, fd, offset] = arguments;
    let is_demanded = flags as i32 & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) != 0;
    // SAFETY: the program's own call, at an address where nothing is unless it demanded another.
    unsafe {
        if !is_free() || is_demanded || bytes == 0 {
            return sys::call(libc::SYS_mmap, [wanted, bytes, protection, flags, fd, offset]);
        }
        let huge = 2 << 20;
        let start = round_up(NEXT.load(Ordering::Relaxed), if bytes >= huge { huge } else { HOST_PAGE });
        let Some(end) = start.checked_add(round_up(bytes, HOST_PAGE)).filter(|&end| end <= MAPPINGS.end)
        else {
            return -(libc::ENOMEM as isize);
        };
        let flags = flags | libc::MAP_FIXED_NOREPLACE as usize;
        let address = sys::call(libc::SYS_mmap, [start, bytes, protection, flags, fd, offset]);
        if address < 0 {
            return address;
        }
        // A page between mappings stays free, so that running over an end faults.
        NEXT.store(end + HOST_PAGE, Ordering::Relaxed);
        heap::record_mapping(start, bytes, return_address, frame);
        address
    }
}

extern "C" fn map_entry(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    return_address: u64,
    frame: u64,
) -> isize {
    // SAFETY: the program's own call.
    errno::from_kernel(unsafe { map([a, b, c, d, e, f], return_address, frame) })
}

macro_rules! maps {
    ($($name:ident),*) => { $(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov rax, [rsp]",
                "sub rsp, 8",
                "push rbp",
                "push rax",
                "call {entry}",
                "add rsp, 24",
                "ret",
                entry = sym map_entry,
            )
        }
    )* };
}

maps!(mmap, mmap64);

/// `munmap`.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: usize, bytes: usize) -> i32 {
    // SAFETY: the program's own call.
    let result = unsafe { sys::unmap(address, bytes) };
    if result == 0 && is_free() && MAPPINGS.contains(address) {
        with(|runtime| {
            let now = runtime.system.now_cycles();
            let end = (address + round_up(bytes, HOST_PAGE)) as u64;
            let covers = |area: &&mut Area| {
                area.kind == AreaKind::Mapping
                    && area.start >= address as u64
                    && area.start + area.bytes <= end
            };
            for area in runtime.areas.list.iter_mut().filter(covers) {
                area.freed = Some(now);
            }
            runtime.system.unmap(address as u64, bytes as u64);
        });
    }
    errno::from_kernel(result) as i32
}

/// `mremap`: in place if it fits, else a new mapping of ours that the pages move to.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(old: usize, old_bytes: usize, bytes: usize, flags: i32, wanted: usize) -> isize {
    // SAFETY: the program's own call; the new place is free.
    unsafe {
        let in_place = sys::call(libc::SYS_mremap, [old, old_bytes, bytes, 0, 0, 0]);
        if in_place >= 0 && flags & libc::MREMAP_FIXED == 0 {
            return in_place;
        }
        if flags & libc::MREMAP_FIXED != 0 || flags & libc::MREMAP_MAYMOVE == 0 {
            let arguments = [old, old_bytes, bytes, flags as usize, wanted, 0];
            return errno::from_kernel(sys::call(libc::SYS_mremap, arguments));
        }
        let start = NEXT.load(Ordering::Relaxed);
        let flags = flags | libc::MREMAP_FIXED;
        let moved = sys::call(libc::SYS_mremap, [old, old_bytes, bytes, flags as usize, start, 0]);
        if moved >= 0 {
            NEXT.store(start + round_up(bytes, HOST_PAGE) + HOST_PAGE, Ordering::Relaxed);
            heap::record_mapping(start, bytes, 0, 0);
        }
        errno::from_kernel(moved)
    }
}

/// `brk`.
#[unsafe(no_mangle)]
extern "C" fn brk(end: usize) -> i32 {
    if move_break(end) { 0 } else { errno::fail(libc::ENOMEM) }
}

/// `sbrk`: the old end.
#[unsafe(no_mangle)]
extern "C" fn sbrk(increment: isize) -> isize {
    let old = break_end();
    match old.checked_add_signed(increment) {
        Some(end) if move_break(end) => old as isize,
        _ => errno::fail::<i64>(libc::ENOMEM) as isize,
    }
}

fn break_end() -> usize {
    match BREAK_END.load(Ordering::Relaxed) {
        0 => BREAK.start,
        end => end,
    }
}

fn move_break(end: usize) -> bool {
    if !(BREAK.start..=BREAK.end).contains(&end) {
        return false;
    }
    let mapped = round_up(break_end(), HOST_PAGE);
    let needed = round_up(end, HOST_PAGE);
    if needed > mapped {
        if sys::map_memory(mapped, needed - mapped, libc::PROT_READ | libc::PROT_WRITE) < 0 {
            return false;
        }
        heap::record_mapping(mapped, needed - mapped, 0, 0);
    } else if needed < mapped {
        // SAFETY: the program gives this memory up.
        unsafe { sys::unmap(needed, mapped - needed) };
    }
    BREAK_END.store(end, Ordering::Relaxed);
    true
}
