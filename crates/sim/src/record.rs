//! The block of memory that a simulated processor shares with the hooks compiled into the program.
//!
//! A hook serves a first-level hit without a call: it compares tags, adds to the counters and stores the LRU stamp, all
//! in this block. The layout is a contract with the hooks (`runtime/hooks`): record 0 is the header; the record of
//! address `a` stands at byte `64 + (a & set_mask) * 2`, so that one mask serves every geometry.

/// Bytes per record, one cache line of the host.
pub const RECORD_BYTES: usize = 64;
/// Ways that one record holds, and that hooks look at.
pub const WAYS: usize = 4;
/// A tag is the address without its lowest bits; addresses that agree modulo 4 TiB must not both be used.
pub const TAG_SHIFT: u32 = 10;

/// A header, or four ways of one first-level set.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Record {
    /// Ways that may be read: their tags, 0 if none. In the header: stamp, accesses, limit, `set_mask`.
    pub readable: [u32; WAYS],
    /// Ways that may be written: their tags, else 0. In the header: `default_n`, then spare.
    pub writable: [u32; WAYS],
    /// LRU stamps.
    pub stamps: [u32; WAYS],
    /// Unused; makes the record one line of the host.
    pub spare: [u32; WAYS],
}

const _: () = assert!(size_of::<Record>() == RECORD_BYTES);

/// The tag that stands for an address in a record; never 0 for an address of the program.
#[allow(clippy::cast_possible_truncation)]
pub const fn tag(address: u64) -> u32 {
    (address >> TAG_SHIFT) as u32
}

/// What one access adds to the header's counters: instructions in the low half, one read or one write above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Increment(pub u64);

impl Increment {
    /// `instructions` and one read.
    pub const fn read(instructions: u32) -> Self {
        Self(instructions as u64 | 1 << 32)
    }

    /// `instructions` and one write.
    pub const fn write(instructions: u32) -> Self {
        Self(instructions as u64 | 1 << 48)
    }

    /// Whether it is a write.
    pub const fn is_write(self) -> bool {
        self.0 >> 48 != 0
    }

    /// Reads in it.
    pub const fn reads(self) -> u64 {
        (self.0 >> 32) & 0xffff
    }

    /// Instructions in it.
    #[allow(clippy::cast_possible_truncation)]
    pub const fn instructions(self) -> u32 {
        self.0 as u32
    }
}

impl Record {
    /// The header's instruction stamp.
    pub const fn stamp(&self) -> u32 {
        self.readable[0]
    }

    /// Reads and writes that hooks counted since the last call of `clear_accesses`.
    pub const fn accesses(&self) -> (u64, u64) {
        ((self.readable[1] & 0xffff) as u64, (self.readable[1] >> 16) as u64)
    }

    /// Resets the access counts.
    pub fn clear_accesses(&mut self) {
        self.readable[1] = 0;
    }

    /// Counts an access as a hook would.
    pub fn count(&mut self, increment: Increment) {
        let word = u64::from(self.readable[0]) | u64::from(self.readable[1]) << 32;
        let sum = word.wrapping_add(increment.0);
        #[allow(clippy::cast_possible_truncation)]
        {
            self.readable[0] = sum as u32;
            self.readable[1] = (sum >> 32) as u32;
        }
    }

    /// Adds instructions.
    pub fn add_instructions(&mut self, instructions: u32) {
        self.readable[0] = self.readable[0].wrapping_add(instructions);
    }

    /// Sets the stamp, when the simulator renormalises.
    pub fn set_stamp(&mut self, stamp: u32) {
        self.readable[0] = stamp;
    }

    /// The stamp at which hooks must call.
    pub const fn limit(&self) -> u32 {
        self.readable[2]
    }

    /// Sets the stamp at which hooks must call.
    pub fn set_limit(&mut self, limit: u32) {
        self.readable[2] = limit;
    }

    /// A header for sets selected by `set_mask`.
    pub fn header(set_mask: u32, default_instructions: u32) -> Self {
        let mut record = Self::default();
        record.readable[3] = set_mask;
        record.writable[0] = default_instructions;
        record
    }
}
