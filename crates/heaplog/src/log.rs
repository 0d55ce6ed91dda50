//! A bounded queue in a file that processes share: many append, one takes, nobody waits.
//!
//! Each slot has a sequence number that says whose turn it is: `n` for the appender of entry n, `n + 1` for its taker, and
//! `n + slots` again for the appender a round later (D. Vyukov's bounded queue). Everything in the mapping is atomic, as a
//! process may be killed at any place; one that dies between taking a turn and ending it leaves its slot to the recorder,
//! which sees nothing behind it, and the entries that then find no room are counted as lost.

use crate::entry::{Entry, WORDS};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Entries that the queue holds. It also bounds what telling may cost a program that allocates all the time: the recorder
/// looks twenty times a second, so at most 40,000 entries a second are made, of a few microseconds each.
const SLOTS: usize = 2048;
/// The header is as long as a page, so that slots are aligned.
const HEADER_WORDS: usize = 512;
const SLOT_WORDS: usize = WORDS + 1;
const FILE_BYTES: usize = (HEADER_WORDS + SLOTS * SLOT_WORDS) * size_of::<u64>();

/// Places of the header, a cache line each.
const MARK: usize = 0;
const LEAST_BYTES: usize = 1;
const HEAD: usize = 8;
const TAIL: usize = 16;
const LOST: usize = 24;

/// What the first word says: the letters `OLIFLOG1`.
const MARK_VALUE: u64 = u64::from_be_bytes(*b"OLIFLOG1");

/// The queue, mapped.
#[derive(Debug)]
pub struct Log {
    words: *const AtomicU64,
}

// SAFETY: all of the mapping is atomic words, and it stays until the value is dropped.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

impl Log {
    /// A new queue in the new file `path`, which only this user may open. Allocations of fewer than `least_bytes` bytes
    /// are not to be told.
    /// # Errors  As the system says; `AlreadyExists` if there is such a file.
    pub fn create(path: &Path, least_bytes: u64) -> io::Result<Log> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        file.set_len(FILE_BYTES as u64)?;
        let log = Log::map(&file)?;
        for slot in 0..SLOTS {
            log.slot(slot as u64)[0].store(slot as u64, Ordering::Relaxed);
        }
        log.word(LEAST_BYTES).store(least_bytes, Ordering::Relaxed);
        log.word(MARK).store(MARK_VALUE, Ordering::Release);
        Ok(log)
    }

    /// The queue in an existing file.
    /// # Errors  `InvalidData` if it is something else.
    pub fn open(path: &Path) -> io::Result<Log> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() != FILE_BYTES as u64 {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let log = Log::map(&file)?;
        if log.word(MARK).load(Ordering::Acquire) != MARK_VALUE {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        Ok(log)
    }

    fn map(file: &File) -> io::Result<Log> {
        // SAFETY: a new shared mapping of the file, where the kernel likes.
        let start = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                FILE_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Log { words: start.cast_const().cast() })
    }

    /// Appends an entry; false if there is no room, which is counted.
    pub fn append(&self, entry: &Entry) -> bool {
        let mut turn = self.word(HEAD).load(Ordering::Relaxed);
        loop {
            let slot = self.slot(turn);
            let sequence = slot[0].load(Ordering::Acquire);
            if sequence == turn {
                match self.word(HEAD).compare_exchange_weak(
                    turn,
                    turn + 1,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        for (word, value) in slot[1..].iter().zip(entry.to_words()) {
                            word.store(value, Ordering::Relaxed);
                        }
                        slot[0].store(turn + 1, Ordering::Release);
                        return true;
                    }
                    Err(now) => turn = now,
                }
            } else if sequence < turn {
                self.word(LOST).fetch_add(1, Ordering::Relaxed);
                return false;
            } else {
                turn = self.word(HEAD).load(Ordering::Relaxed);
            }
        }
    }

    /// Whether an entry would find room at this moment; if not, one is counted as lost. Asked before an entry is made, as
    /// making one costs much more than this.
    pub fn has_room(&self) -> bool {
        let turn = self.word(HEAD).load(Ordering::Relaxed);
        let has_room = self.slot(turn)[0].load(Ordering::Acquire) >= turn;
        if !has_room {
            self.word(LOST).fetch_add(1, Ordering::Relaxed);
        }
        has_room
    }

    /// Takes the oldest entry. Only one taker at a time.
    pub fn take(&self) -> Option<Entry> {
        loop {
            let turn = self.word(TAIL).load(Ordering::Relaxed);
            let slot = self.slot(turn);
            if slot[0].load(Ordering::Acquire) != turn + 1 {
                return None;
            }
            let words = core::array::from_fn(|index| slot[index + 1].load(Ordering::Relaxed));
            slot[0].store(turn + SLOTS as u64, Ordering::Release);
            self.word(TAIL).store(turn + 1, Ordering::Relaxed);
            if let Some(entry) = Entry::from_words(&words) {
                return Some(entry);
            }
        }
    }

    /// Entries that found no room.
    pub fn lost(&self) -> u64 {
        self.word(LOST).load(Ordering::Relaxed)
    }

    /// The size from which on allocations are told.
    pub fn least_bytes(&self) -> u64 {
        self.word(LEAST_BYTES).load(Ordering::Relaxed)
    }

    fn slot(&self, turn: u64) -> &[AtomicU64] {
        let slot = usize::try_from(turn % SLOTS as u64).unwrap_or(0);
        // SAFETY: the slot's words are within the mapping, which has the size that `FILE_BYTES` tells.
        unsafe { core::slice::from_raw_parts(self.words.add(HEADER_WORDS + slot * SLOT_WORDS), SLOT_WORDS) }
    }

    fn word(&self, place: usize) -> &AtomicU64 {
        // SAFETY: the places are constants below the header's length.
        unsafe { &*self.words.add(place) }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length; nothing of it is borrowed any more.
        unsafe { libc::munmap(self.words.cast_mut().cast(), FILE_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, LONGEST_PATH};

    fn entry(thread: i32, address: u64) -> Entry {
        let mut path = [0; LONGEST_PATH];
        path[..2].copy_from_slice(&[0x1000 + address, 0x2000]);
        Entry { kind: Kind::Allocated, process: 1, thread, time_ns: 5, address, bytes: 9, path, depth: 2 }
    }

    #[test]
    fn every_entry_of_every_thread_is_taken_once_and_in_its_threads_order() {
        let folder = tempfile::tempdir().unwrap();
        let taker = Log::create(&folder.path().join("log"), 4096).unwrap();
        let (threads, each) = (4, 20_000_u64);
        let mut next = vec![0; threads];
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let path = folder.path().join("log");
                scope.spawn(move || {
                    let log = Log::open(&path).unwrap();
                    for number in 0..each {
                        while !log.append(&entry(i32::try_from(thread).unwrap(), number)) {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            while next.iter().any(|next| *next < each) {
                let Some(taken) = taker.take() else { continue };
                let thread = usize::try_from(taken.thread).unwrap();
                assert_eq!(taken, entry(taken.thread, next[thread]));
                next[thread] += 1;
            }
        });
        assert_eq!(taker.take(), None);
    }

    #[test]
    fn a_full_queue_counts_what_it_loses_and_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::create(&folder.path().join("log"), 1).unwrap();
        let appended = (0..SLOTS as u64 + 7).filter(|number| log.append(&entry(0, *number))).count();
        assert_eq!((appended, log.lost()), (SLOTS, 7));
        assert!(!log.has_room());
        assert_eq!(log.lost(), 8);
        let taken: Vec<u64> = std::iter::from_fn(|| log.take()).map(|entry| entry.address).collect();
        assert!(taken.iter().copied().eq(0..SLOTS as u64));
        assert!(log.has_room() && log.append(&entry(0, 0)));
    }

    #[test]
    fn a_file_that_is_no_log_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, vec![0; FILE_BYTES]).unwrap();
        assert_eq!(Log::open(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        std::fs::write(&path, b"short").unwrap();
        assert_eq!(Log::open(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
