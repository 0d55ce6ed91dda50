//! Loaded objects, and code addresses that do not depend on where the kernel put them.
//!
//! The program itself has fixed addresses. Shared libraries move from run to run, so a profile gives each a fixed place of
//! its own, in the order of loading, and call paths are translated: `address - bias` is what it is in the file.

use core::ffi::{CStr, c_void};
use olifant_frontend::spec::CodeRange;
use olifant_opium::profile::Module;
use std::cell::UnsafeCell;

/// Addresses from here on stand for shared libraries in a profile; no program has code there.
const LIBRARIES: u64 = 0x7000_0000_0000;
/// Room per library.
const LIBRARY_ROOM: u64 = 1 << 36;

struct Loaded {
    path: String,
    bias: u64,
    start: u64,
    end: u64,
    code: Vec<(u64, u64)>,
}

struct List(UnsafeCell<Vec<Loaded>>);

// SAFETY: only the operating-system thread that runs the contexts reads or refreshes the list.
unsafe impl Sync for List {}

static LIST: List = List(UnsafeCell::new(Vec::new()));

fn list() -> &'static [Loaded] {
    // SAFETY: `refresh` only appends, outside of any use of this slice.
    unsafe { &*LIST.0.get() }
}

extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> i32 {
    // SAFETY: the loader passes a valid record with its program headers and a C string.
    let (info, headers, path) = unsafe {
        let info = &*info;
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (info, headers, CStr::from_ptr(info.dlpi_name).to_string_lossy().into_owned())
    };
    let loads: Vec<_> = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).collect();
    let span = |header: &libc::Elf64_Phdr| {
        let start = info.dlpi_addr + header.p_vaddr;
        (start, start + header.p_memsz)
    };
    let start = loads.iter().map(|header| span(header).0).min().unwrap_or(0);
    let end = loads.iter().map(|header| span(header).1).max().unwrap_or(0);
    let code =
        loads.iter().filter(|header| header.p_flags & libc::PF_X != 0).map(|header| span(header)).collect();
    // SAFETY: one thread, and nobody holds the slice during a refresh.
    let list = unsafe { &mut *LIST.0.get() };
    if !list.iter().any(|known| known.start == start && known.path == path) {
        list.push(Loaded { path, bias: info.dlpi_addr, start, end, code });
    }
    0
}

/// Looks for objects loaded since the last time. Must not be called while the runtime's state is borrowed.
pub fn refresh() {
    // SAFETY: the callback has the right type and needs no data.
    unsafe { libc::dl_iterate_phdr(Some(note), core::ptr::null_mut()) };
}

/// A code address as it stands in profiles; `None` if no object has code there.
pub fn translate(address: u64) -> Option<u64> {
    let modules = list();
    let index = modules
        .iter()
        .position(|module| module.code.iter().any(|&(start, end)| (start..end).contains(&address)))?;
    Some(address - modules[index].start + fixed_start(index, &modules[index]))
}

/// Where the object's first address stands in profiles.
fn fixed_start(index: usize, module: &Loaded) -> u64 {
    if module.bias == 0 { module.start } else { LIBRARIES + index as u64 * LIBRARY_ROOM }
}

/// Whether an address in the form of profiles lies in a range of a plan.
pub fn is_within(range: &CodeRange, address: u64) -> bool {
    if range.module.is_empty() {
        return (range.start..range.end).contains(&address);
    }
    let found = list().iter().enumerate().find(|(index, module)| {
        let start = fixed_start(*index, module);
        (start..start + (module.end - module.start)).contains(&address)
    });
    found.is_some_and(|(index, module)| {
        let in_file = address - fixed_start(index, module) + (module.start - module.bias);
        module.path.ends_with(range.module.as_str()) && (range.start..range.end).contains(&in_file)
    })
}

/// The objects in the form of profiles. The kernel's own page of code is left out.
pub fn for_profile(program: &str) -> Vec<Module> {
    list()
        .iter()
        .enumerate()
        .filter(|(index, module)| *index == 0 || module.path.contains('/'))
        .map(|(index, module)| {
            let start = fixed_start(index, module);
            Module {
                path: if index == 0 { program.to_string() } else { module.path.clone() },
                bias: start - (module.start - module.bias),
                start,
                end: start + (module.end - module.start),
            }
        })
        .collect()
}
