//! Call paths of allocations, each stored once.
//!
//! A path is walked along frame pointers, which `olifant cc` keeps. A link that leaves the stack or does not go up ends it,
//! and so does a return address outside of any object's code, so memory that only looks like frames is harmless.

use crate::modules;
use crate::state::Runtime;
use olifant_opium::profile::Site;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Return addresses kept per path.
pub const DEPTH: usize = 12;

/// A call path, innermost first.
pub type Path = ([u64; DEPTH], usize);

/// Walks the path of a call of the running thread.
pub fn walk_from(runtime: &Runtime, return_address: u64, frame: u64) -> Path {
    let stack = match runtime.threads[runtime.current].stack {
        Some(stack) => stack.start() as u64..stack.end() as u64,
        None => 0..0,
    };
    walk(return_address, frame, stack)
}

/// Walks the path of a call: its return address, then the frames that `frame` links, within the stack's bounds.
fn walk(return_address: u64, frame: u64, stack: core::ops::Range<u64>) -> Path {
    let mut path = [0; DEPTH];
    let mut length = 0;
    let mut address = return_address;
    let mut frame = frame;
    while let Some(translated) = modules::translate(address) {
        path[length] = translated;
        length += 1;
        if length == DEPTH
            || !frame.is_multiple_of(8)
            || !(stack.start..stack.end.saturating_sub(16)).contains(&frame)
        {
            break;
        }
        // SAFETY: both words lie inside the thread's stack, which is mapped and readable.
        let (link, next) = unsafe { ((frame as *const u64).read(), (frame as *const u64).add(1).read()) };
        // The outermost frame, which a context's start called, links to zero.
        if link == 0 || next == 0 {
            break;
        }
        address = next;
        frame = if link > frame { link } else { 0 };
    }
    (path, length)
}

/// A hash over words that is the same in each run.
#[derive(Default)]
pub struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_ne_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }
}

/// A map that iterates and behaves the same in each run.
pub type FixedMap<K, V> = HashMap<K, V, BuildHasherDefault<Fold>>;

/// All paths seen.
#[derive(Default)]
pub struct Sites {
    numbers: FixedMap<Vec<u64>, u32>,
    /// By number.
    pub list: Vec<Site>,
}

impl Sites {
    /// The number of a path.
    pub fn number(&mut self, path: &[u64]) -> u32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let number = self.list.len() as u32;
        self.numbers.insert(path.to_vec(), number);
        self.list.push(Site { path: path.to_vec(), frames: Vec::new() });
        number
    }
}
