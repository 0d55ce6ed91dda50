//! The numbers that threads take: in this process alone, or in all processes of a run where children are placed too.
//!
//! The shared counters are the first page of the specification's file. All zeros is their start, and they are only ever
//! raised, so that no process has to be the first.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use olifant_frontend::inside::SPEC_OFFSET;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Processes that are remembered: more than run at once, as the oldest are forgotten.
const PROCESSES: usize = 900;

/// The page.
#[repr(C)]
pub struct Counters {
    threads: AtomicU32,
    places: AtomicU32,
    process_count: AtomicUsize,
    processes: [AtomicU32; PROCESSES],
}

const _: () = assert!(size_of::<Counters>() <= SPEC_OFFSET);

static OWN: Counters = Counters {
    threads: AtomicU32::new(0),
    places: AtomicU32::new(0),
    process_count: AtomicUsize::new(0),
    processes: [const { AtomicU32::new(0) }; PROCESSES],
};

static CURRENT: AtomicPtr<Counters> = AtomicPtr::new((&raw const OWN).cast_mut());

/// The counters in force.
pub fn current() -> &'static Counters {
    // SAFETY: the pointer is that of a static or of a mapping that stays; all of it is atomic.
    unsafe { &*CURRENT.load(Ordering::Acquire) }
}

/// Uses the counters in a file's first page from now on; keeps the own ones where it cannot be mapped.
pub fn share(file: BorrowedFd) {
    // SAFETY: a new shared mapping at a place of the kernel's choice, of a file that has this many bytes.
    let page = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(core::ptr::null_mut(), SPEC_OFFSET, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if page != libc::MAP_FAILED {
        CURRENT.store(page.cast(), Ordering::Release);
    }
}

impl Counters {
    /// The number of the next thread.
    pub fn next_thread(&self) -> u32 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    /// The place of the next thread that takes one.
    pub fn next_place(&self) -> u32 {
        self.places.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether a process has its number already, from the time before it became this program.
    pub fn knows(&self, process: u32) -> bool {
        self.processes.iter().any(|known| known.load(Ordering::Relaxed) == process)
    }

    /// Notes that a process has its number.
    pub fn note(&self, process: u32) {
        let place = self.process_count.fetch_add(1, Ordering::Relaxed) % PROCESSES;
        self.processes[place].store(process, Ordering::Relaxed);
    }
}
