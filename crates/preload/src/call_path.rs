//! The calls that led to an allocation, as return addresses, without frame pointers.
//!
//! libgcc walks by the tables that every object has for exceptions; finding a table takes no lock (glibc 2.35,
//! _dl_find_object). It costs about a microsecond, so callers ask only where the answer decides something.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ops::Range;

/// Return addresses kept: as many as a profile keeps, and those in libraries around them.
const DEPTH: usize = 24;

/// Return addresses, innermost first, without this library's own.
#[derive(Debug, Clone, Copy)]
pub struct CallPath {
    addresses: [usize; DEPTH],
    length: usize,
    /// The function of this library that was called from outside.
    entry: usize,
}

thread_local! {
    static IS_WALKING: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" {
    fn _Unwind_Backtrace(step: extern "C" fn(*mut c_void, *mut c_void) -> c_int, path: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetRegionStart(context: *mut c_void) -> usize;
}

const GO_ON: c_int = 0;
const STOP: c_int = 4;

struct Walk<'w> {
    path: CallPath,
    own: &'w Range<usize>,
}

extern "C" fn step(context: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: `walk` is the record that `of_caller` gave, which nobody else uses meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    // SAFETY: the context is libgcc's own.
    let address = unsafe { _Unwind_GetIP(context) };
    if address == 0 {
        return STOP;
    }
    if walk.own.contains(&address) {
        if walk.path.length == 0 {
            // SAFETY: as above.
            walk.path.entry = unsafe { _Unwind_GetRegionStart(context) };
        }
        return GO_ON;
    }
    walk.path.addresses[walk.path.length] = address;
    walk.path.length += 1;
    if walk.path.length == DEPTH { STOP } else { GO_ON }
}

impl CallPath {
    /// The path of the call that this library serves; `own` is where its code lies. `None` within a walk, whose own
    /// allocations are nobody's.
    pub fn of_caller(own: &Range<usize>) -> Option<CallPath> {
        if IS_WALKING.replace(true) {
            return None;
        }
        let mut walk = Walk { path: CallPath { addresses: [0; DEPTH], length: 0, entry: 0 }, own };
        // SAFETY: libgcc calls `step` with the record, for each frame of this thread's stack.
        unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
        IS_WALKING.set(false);
        Some(walk.path)
    }

    /// Whether the function of this library that was called from outside is the one at this address. What the library
    /// calls by itself enters by another.
    pub fn enters_by(&self, function: usize) -> bool {
        self.entry == function
    }

    /// Return addresses, innermost first.
    pub fn addresses(&self) -> &[usize] {
        &self.addresses[..self.length]
    }
}

/// Where the object with this very code is loaded.
pub fn own_range() -> Range<usize> {
    struct Search {
        code: usize,
        found: Range<usize>,
    }
    extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader gives a valid record with its headers, and the pointer is ours.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
        // SAFETY: as above.
        let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            let range = start..start + header.p_memsz as usize;
            if range.contains(&search.code) {
                search.found = range;
                return 1;
            }
        }
        0
    }
    let mut search = Search { code: own_range as *const () as usize, found: 0..0 };
    // SAFETY: the callback has the right type, and the record outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn inner() -> CallPath {
        CallPath::of_caller(&(0..0)).unwrap()
    }

    #[test]
    fn two_calls_from_one_place_have_one_path_and_from_two_places_two() {
        let same: Vec<CallPath> = (0..2).map(|_| inner()).collect();
        assert_eq!(same[0].addresses(), same[1].addresses());
        assert_ne!(same[0].addresses(), inner().addresses());
        assert!(same[0].addresses().len() > 3);
    }
}
