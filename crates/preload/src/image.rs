//! The program's own data, placed by the plan before `main`: addresses of the executable are those of its file, raised by
//! where the kernel put it.

use crate::areas::Areas;
use core::ffi::{c_int, c_void};
use core::ops::Range;
use olifant_frontend::spec::{AreaKey, AreaRule};
use olifant_sys::{Advice, advise, page_size};

/// The executable in memory.
#[derive(Debug, Default)]
pub struct Image {
    /// What its addresses are raised by.
    pub bias: usize,
    /// Where what is in the file of its writable data lies.
    file_data: Vec<Range<usize>>,
}

impl Image {
    /// The executable: the first object that the loader lists.
    pub fn of_program() -> Image {
        extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, image: *mut c_void) -> c_int {
            // SAFETY: the loader gives a valid record with its headers, and the pointer is ours.
            let (info, image) = unsafe { (&*info, &mut *image.cast::<Image>()) };
            // SAFETY: as above.
            let headers =
                unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
            image.bias = info.dlpi_addr as usize;
            let writable = |header: &&libc::Elf64_Phdr| {
                header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0
            };
            image.file_data = headers
                .iter()
                .filter(writable)
                .map(|header| {
                    let start = image.bias + header.p_vaddr as usize;
                    start..start + header.p_filesz as usize
                })
                .collect();
            1
        }
        let mut image = Image::default();
        // SAFETY: the callback has the right type, and the record outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut image).cast()) };
        image
    }

    /// Places what the rules by address are for.
    pub fn place(&self, areas: &Areas, rules: &[AreaRule]) {
        for (index, rule) in rules.iter().enumerate() {
            let AreaKey::Range { start, bytes } = rule.area else { continue };
            let start = start as usize + self.bias;
            let range = start..start + bytes as usize;
            self.make_own(&range);
            areas.place_image(index, range);
        }
    }

    /// Initialised data is the file's pages until it is written, and those are where the file was read first: each is made
    /// a page of the process's own, which a policy can move.
    fn make_own(&self, range: &Range<usize>) {
        let page = page_size();
        for data in &self.file_data {
            let (start, end) = (range.start.max(data.start), range.end.min(data.end));
            if start < end {
                // A kernel before 5.14 cannot; the read-back then counts what stayed.
                let _ = advise(start / page * page..end.next_multiple_of(page), Advice::PopulateWrite);
            }
        }
    }
}
