//! The memory that the kernel writes an event's records into, and that we read them from, both without waiting.
//!
//! The kernel moves `data_head` forward when a record is whole, we move `data_tail` when we are done with it; a record that
//! finds no room is dropped and counted in a later one. Source: perf_event_open(2), section "MMAP layout".

use super::Event;
use crate::{Errno, SysError, page_size};
use core::sync::atomic::{AtomicU64, Ordering};

/// Where the two positions are in the first page: `data_head`, and 8 bytes on `data_tail`.
const HEAD_OFFSET: usize = 1024;

/// The ring of an event, unmapped when dropped.
#[derive(Debug)]
pub struct Ring {
    start: *mut u8,
    /// Bytes of records; a power of two.
    bytes: usize,
    /// A record that goes over the end of the memory is put together here.
    whole: Vec<u8>,
}

// SAFETY: the mapping belongs to this value alone, whichever thread holds it.
unsafe impl Send for Ring {}

impl Ring {
    /// Memory of `pages` (a power of two) pages for the records of `event`.
    /// # Errors  `EPERM`: more locked memory than /proc/sys/kernel/perf_event_mlock_kb allows; `EINVAL`: `pages` is no
    /// power of two, or the event watches more than a thread without naming a cpu.
    pub fn map(event: &Event, pages: usize) -> Result<Ring, SysError> {
        let bytes = pages * page_size();
        // SAFETY: a new mapping where the kernel likes; nothing of ours is there.
        let start = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                bytes + page_size(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.descriptor(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(SysError {
                call: "mmap",
                object: format!("an event's ring of {pages} pages"),
                errno: Errno::last(),
            });
        }
        Ok(Ring { start: start.cast(), bytes, whole: Vec::new() })
    }

    /// Shows each new record, header included, in the order of the ring.
    pub fn drain(&mut self, mut visit: impl FnMut(&[u8])) {
        let mask = self.bytes as u64 - 1;
        let head = self.position(HEAD_OFFSET).load(Ordering::Acquire);
        let mut tail = self.position(HEAD_OFFSET + 8).load(Ordering::Relaxed);
        while head.wrapping_sub(tail) >= 8 {
            // Truncation cannot happen: the offset is below the size of the mapping.
            let at = usize::try_from(tail & mask).unwrap_or(0);
            // Records begin at multiples of 8, so a header is never cut in two.
            let size = usize::from(u16::from_ne_bytes([self.byte(at + 6), self.byte(at + 7)]));
            if size < 8 || size as u64 > head.wrapping_sub(tail) {
                // Only a kernel that breaks its own rule gets here; what is left cannot be told apart.
                tail = head;
                break;
            }
            if at + size <= self.bytes {
                // SAFETY: the bytes are within the mapping, and the kernel does not touch them until the tail has passed.
                visit(unsafe { core::slice::from_raw_parts(self.records().add(at), size) });
            } else {
                let first = self.bytes - at;
                self.whole.clear();
                // SAFETY: as above, in two pieces.
                unsafe {
                    self.whole.extend_from_slice(core::slice::from_raw_parts(self.records().add(at), first));
                    self.whole.extend_from_slice(core::slice::from_raw_parts(self.records(), size - first));
                }
                visit(&self.whole);
            }
            tail = tail.wrapping_add(size as u64);
        }
        self.position(HEAD_OFFSET + 8).store(tail, Ordering::Release);
    }

    fn records(&self) -> *const u8 {
        // SAFETY: the records begin one page into the mapping, which is one page longer than they are.
        unsafe { self.start.add(page_size()) }
    }

    fn byte(&self, at: usize) -> u8 {
        // SAFETY: the offset is taken modulo the size of the records.
        unsafe { *self.records().add(at & (self.bytes - 1)) }
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both positions are aligned words of the first page, which stays mapped as long as `self`.
        unsafe { &*self.start.add(offset).cast::<AtomicU64>() }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map`, and nothing of it is borrowed any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes + page_size()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EventAttributes, Flags, SampleFields};
    use super::*;
    use crate::Tid;

    #[test]
    fn a_thread_that_runs_is_sampled_with_its_registers() {
        let attributes = EventAttributes::cpu_clock()
            .every(100_000)
            .with(SampleFields::IP | SampleFields::TID)
            .flagged(Flags::EXCLUDE_KERNEL | Flags::EXCLUDE_HYPERVISOR)
            .on_monotonic_clock();
        let event = match Event::open(&attributes, Tid::CALLING, None) {
            Ok(event) => event,
            Err(error) => {
                eprintln!("skipped: {error}; needs /proc/sys/kernel/perf_event_paranoid of 2 or less");
                return;
            }
        };
        let mut ring = Ring::map(&event, 8).unwrap();
        let (mut samples, mut sum) = (0, 0_u64);
        let begun = std::time::Instant::now();
        while samples < 5 && begun.elapsed().as_secs() < 30 {
            for number in 0..1_000_000_u64 {
                sum = std::hint::black_box(sum ^ number);
            }
            ring.drain(|record| {
                // PERF_RECORD_SAMPLE with an address, a process and a thread.
                assert_eq!((record[0], record.len()), (9, 24));
                assert_eq!(&record[20..24], &Tid::own().0.to_ne_bytes());
                samples += 1;
            });
        }
        assert!(samples >= 5, "{samples} samples");
    }
}
