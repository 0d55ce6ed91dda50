//! Where the data of a sampled access came from, as hardware tells it and the kernel encodes it.
//!
//! Source: `union perf_mem_data_src` in include/uapi/linux/perf_event.h; perf_event_open(2), PERF_SAMPLE_DATA_SRC. The newer
//! field with the level's number comes first, the older one-hot levels stand in where it says nothing; what neither
//! knows is "other", so that newer processors do no harm.

/// What the instruction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// It read.
    Load,
    /// It wrote.
    Store,
    /// It asked for data ahead of time, fetched code, or nobody knows.
    Other,
}

/// Where the data was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// First-level cache.
    L1,
    /// A line that was already on its way to the first level.
    LineFillBuffer,
    /// Second-level cache.
    L2,
    /// Third-level cache.
    L3,
    /// Fourth-level cache.
    L4,
    /// Memory.
    Memory,
    /// Another processor's cache.
    AnyCache,
    /// Memory of an expander or of persistent kind.
    FarMemory,
    /// Input and output, or memory that is not cached.
    Uncached,
    /// Not told, or told in a way that is not known.
    Other,
}

/// A decoded word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSource {
    /// What was done.
    pub operation: Operation,
    /// Where the data was.
    pub level: Level,
    /// It was on another node.
    pub is_remote: bool,
    /// The access missed the level, rather than hit it.
    pub is_miss: bool,
    /// Another cache had a changed copy.
    pub was_modified: bool,
    /// It was a locked instruction.
    pub is_locked: bool,
}

impl DataSource {
    /// Takes the word apart.
    pub fn decode(word: u64) -> DataSource {
        let field = |shift: u32, bits: u32| word >> shift & ((1 << bits) - 1);
        let operation = match field(0, 5) {
            bits if bits & 4 != 0 => Operation::Store,
            bits if bits & 2 != 0 => Operation::Load,
            _ => Operation::Other,
        };
        // One bit each: not available, hit, miss, L1, line-fill buffer, L2, L3, local RAM, remote RAM one and two hops
        // away, remote cache one and two hops away, I/O, uncached.
        let old = field(5, 14);
        let has = |bit: u32| old >> bit & 1 == 1;
        let level = match field(33, 4) {
            1 => Level::L1,
            2 => Level::L2,
            3 => Level::L3,
            4 => Level::L4,
            9 | 14 => Level::FarMemory,
            8 | 10 => Level::Uncached,
            11 => Level::AnyCache,
            12 => Level::LineFillBuffer,
            13 => Level::Memory,
            _ if has(3) => Level::L1,
            _ if has(4) => Level::LineFillBuffer,
            _ if has(5) => Level::L2,
            _ if has(6) => Level::L3,
            _ if has(7) || has(8) || has(9) => Level::Memory,
            _ if has(10) || has(11) => Level::AnyCache,
            _ if has(12) || has(13) => Level::Uncached,
            _ => Level::Other,
        };
        DataSource {
            operation,
            level,
            is_remote: field(37, 1) == 1 || has(8) || has(9) || has(10) || has(11),
            is_miss: has(2),
            // Snoops: not available, none, hit, miss, hit modified.
            was_modified: field(19, 5) >> 4 & 1 == 1,
            is_locked: field(24, 2) & 2 != 0,
        }
    }
}

impl Level {
    /// For a person and for programs.
    pub fn word(self) -> &'static str {
        match self {
            Level::L1 => "L1",
            Level::LineFillBuffer => "line-fill buffer",
            Level::L2 => "L2",
            Level::L3 => "L3",
            Level::L4 => "L4",
            Level::Memory => "memory",
            Level::AnyCache => "other cache",
            Level::FarMemory => "far memory",
            Level::Uncached => "uncached",
            Level::Other => "not told",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_real_processors_are_read_as_perf_reads_them() {
        let load = |level| DataSource {
            operation: Operation::Load,
            level,
            is_remote: false,
            is_miss: false,
            was_modified: false,
            is_locked: false,
        };
        assert_eq!(DataSource::decode(0x118_6810_0242).level, Level::LineFillBuffer);
        assert_eq!(DataSource::decode(0x106_6810_0842), load(Level::L3));
        assert_eq!(DataSource::decode(0x102_6810_0142), load(Level::L1));
        let locked = DataSource { is_locked: true, ..load(Level::L1) };
        assert_eq!(DataSource::decode(0x102_6a10_0142), locked);
        assert_eq!(DataSource::decode(0x106_5010_0842), load(Level::L3));
    }

    #[test]
    fn every_word_is_some_source() {
        let mut random = crate::random::Random::new(11);
        for _ in 0..10_000 {
            let source = DataSource::decode(random.next());
            assert!(!source.level.word().is_empty());
        }
        assert_eq!(DataSource::decode(0).operation, Operation::Other);
        assert_eq!(DataSource::decode(0).level, Level::Other);
    }
}
