//! One thing told: an allocation with the call path that made it, or its end.

/// The most return addresses that are kept of a call path.
pub const LONGEST_PATH: usize = 24;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Memory was allocated.
    Allocated,
    /// It is about to be freed.
    Freed,
}

/// One thing told, without pointers, so that processes can share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What happened.
    pub kind: Kind,
    /// The process.
    pub process: i32,
    /// The thread.
    pub thread: i32,
    /// When, by `CLOCK_MONOTONIC`, in nanoseconds.
    pub time_ns: u64,
    /// First address.
    pub address: u64,
    /// Bytes asked for; 0 for an end.
    pub bytes: u64,
    /// Return addresses, innermost first; the first `depth` of them count.
    pub path: [u64; LONGEST_PATH],
    /// Length of the path.
    pub depth: u8,
}

impl Entry {
    /// The call path.
    pub fn path(&self) -> &[u64] {
        &self.path[..usize::from(self.depth).min(LONGEST_PATH)]
    }
}

/// Words of a slot after its sequence number.
pub(crate) const WORDS: usize = 31;

impl Entry {
    /// As words of a slot.
    pub(crate) fn to_words(self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let kind: u64 = match self.kind {
            Kind::Allocated => 1,
            Kind::Freed => 2,
        };
        words[0] = kind | u64::from(self.depth) << 8;
        words[1] = u64::from(self.process.cast_unsigned()) | u64::from(self.thread.cast_unsigned()) << 32;
        words[2] = self.time_ns;
        words[3] = self.address;
        words[4] = self.bytes;
        words[5..5 + LONGEST_PATH].copy_from_slice(&self.path);
        words
    }

    /// From words of a slot; nothing if they are of no known kind.
    pub(crate) fn from_words(words: &[u64; WORDS]) -> Option<Entry> {
        let kind = match words[0] & 0xff {
            1 => Kind::Allocated,
            2 => Kind::Freed,
            _ => return None,
        };
        let half = |word: u64| u32::try_from(word & 0xffff_ffff).map_or(0, u32::cast_signed);
        let mut path = [0; LONGEST_PATH];
        path.copy_from_slice(&words[5..5 + LONGEST_PATH]);
        Some(Entry {
            kind,
            process: half(words[1]),
            thread: half(words[1] >> 32),
            time_ns: words[2],
            address: words[3],
            bytes: words[4],
            path,
            depth: u8::try_from(words[0] >> 8 & 0xff).unwrap_or(0),
        })
    }
}
