//! The directory: for every line, which processors' caches hold it.
//!
//! Clean lines leave a cache silently, so a processor named here may have dropped its copy: the directory is an upper
//! bound, as in hardware. An entry is one word: two bits of state, and either a bit per processor (up to 62
//! processors) or, on larger machines, the owner's number or the index of a bit set in a side pool.

use std::ops::ControlFlow;

/// What the directory knows of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// No cache holds it.
    Nobody,
    /// Some caches may hold it; memory is up to date.
    Readers,
    /// One processor holds it exclusive or modified (or dropped it clean).
    Owner(u16),
}

const STATE_SHIFT: u32 = 62;
const READERS: u64 = 1 << STATE_SHIFT;
const OWNER: u64 = 2 << STATE_SHIFT;
const PAYLOAD: u64 = READERS - 1;
/// Processors that fit into an entry as bits.
const INLINE_PROCESSORS: usize = STATE_SHIFT as usize;

/// The directory of the whole machine.
pub struct Directory {
    entries: Vec<u64>,
    /// Words per side bit set; 0 where bits fit into the entry.
    set_words: usize,
    pool: Vec<u64>,
    free: Vec<u32>,
}

impl Directory {
    /// An empty directory for so many processors.
    pub fn new(processors: usize) -> Self {
        let set_words = if processors <= INLINE_PROCESSORS { 0 } else { processors.div_ceil(64) };
        Self { entries: Vec::new(), set_words, pool: Vec::new(), free: Vec::new() }
    }

    /// Makes room for lines below `lines`.
    pub fn grow(&mut self, lines: usize) {
        if lines > self.entries.len() {
            self.entries.resize(lines, 0);
        }
    }

    /// Who holds a line.
    #[allow(clippy::cast_possible_truncation)]
    pub fn holder(&self, line: u32) -> Holder {
        let entry = self.entries[line as usize];
        match entry >> STATE_SHIFT {
            0 => Holder::Nobody,
            1 => Holder::Readers,
            _ if self.set_words == 0 => Holder::Owner(entry.trailing_zeros() as u16),
            _ => Holder::Owner((entry & PAYLOAD) as u16),
        }
    }

    /// Makes one processor the owner.
    pub fn set_owner(&mut self, line: u32, processor: u16) {
        self.release(line);
        let payload = if self.set_words == 0 { 1 << processor } else { u64::from(processor) };
        self.entries[line as usize] = OWNER | payload;
    }

    /// Says that nobody holds the line.
    pub fn clear(&mut self, line: u32) {
        self.release(line);
        self.entries[line as usize] = 0;
    }

    /// Adds a reader; an owner becomes a reader too.
    pub fn add_reader(&mut self, line: u32, processor: u16) {
        let entry = self.entries[line as usize];
        if self.set_words == 0 {
            self.entries[line as usize] = READERS | entry & PAYLOAD | 1 << processor;
            return;
        }
        let set = match self.holder(line) {
            Holder::Readers => (entry & PAYLOAD) as usize,
            before => {
                let set = self.take_set();
                self.entries[line as usize] = READERS | set as u64;
                if let Holder::Owner(owner) = before {
                    self.insert(set, owner);
                }
                set
            }
        };
        self.insert(set, processor);
    }

    /// Calls `visit` for every processor that may hold the line, ascending.
    pub fn for_each(&self, line: u32, mut visit: impl FnMut(u16) -> ControlFlow<()>) {
        let entry = self.entries[line as usize];
        match entry >> STATE_SHIFT {
            0 => {}
            1 if self.set_words > 0 => {
                let first = (entry & PAYLOAD) as usize * self.set_words;
                for (index, &word) in self.pool[first..first + self.set_words].iter().enumerate() {
                    if visit_bits(word, index, &mut visit).is_break() {
                        return;
                    }
                }
            }
            2 if self.set_words > 0 => {
                #[allow(clippy::cast_possible_truncation)]
                let _ = visit((entry & PAYLOAD) as u16);
            }
            _ => {
                let _ = visit_bits(entry & PAYLOAD, 0, &mut visit);
            }
        }
    }

    fn insert(&mut self, set: usize, processor: u16) {
        self.pool[set * self.set_words + usize::from(processor) / 64] |= 1 << (processor % 64);
    }

    fn take_set(&mut self) -> usize {
        if let Some(set) = self.free.pop() {
            return set as usize;
        }
        let set = self.pool.len() / self.set_words;
        self.pool.resize(self.pool.len() + self.set_words, 0);
        set
    }

    /// Gives a side set back.
    fn release(&mut self, line: u32) {
        let entry = self.entries[line as usize];
        if self.set_words > 0 && entry >> STATE_SHIFT == 1 {
            let set = (entry & PAYLOAD) as usize;
            self.pool[set * self.set_words..(set + 1) * self.set_words].fill(0);
            self.free.push(u32::try_from(set).unwrap_or(u32::MAX));
        }
    }
}

fn visit_bits(
    mut word: u64,
    index: usize,
    visit: &mut impl FnMut(u16) -> ControlFlow<()>,
) -> ControlFlow<()> {
    while word != 0 {
        // A processor's number is below 65,536.
        #[allow(clippy::cast_possible_truncation)]
        visit((index * 64) as u16 + word.trailing_zeros() as u16)?;
        word &= word - 1;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn holders(directory: &Directory, line: u32) -> BTreeSet<u16> {
        let mut found = BTreeSet::new();
        directory.for_each(line, |processor| {
            found.insert(processor);
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn both_representations_agree_with_a_set() {
        for processors in [4u16, 62, 63, 64, 512] {
            let mut directory = Directory::new(usize::from(processors));
            directory.grow(8);
            let mut model = vec![BTreeSet::new(); 8];
            let mut random = crate::random::Random::new(u64::from(processors));
            for _ in 0..5000 {
                let line = random.below(8) as u32;
                let processor = random.below(u64::from(processors)) as u16;
                match random.below(5) {
                    0 => {
                        directory.set_owner(line, processor);
                        model[line as usize] = BTreeSet::from([processor]);
                        assert_eq!(directory.holder(line), Holder::Owner(processor));
                    }
                    1 => {
                        directory.clear(line);
                        model[line as usize].clear();
                        assert_eq!(directory.holder(line), Holder::Nobody);
                    }
                    _ => {
                        directory.add_reader(line, processor);
                        model[line as usize].insert(processor);
                        assert_eq!(directory.holder(line), Holder::Readers);
                    }
                }
                assert_eq!(holders(&directory, line), model[line as usize], "{processors} processors");
            }
            assert!(directory.pool.len() <= 8 * directory.set_words, "sets leak");
        }
    }
}
