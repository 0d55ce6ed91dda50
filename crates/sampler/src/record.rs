//! One record of the kernel, from its bytes: the same form in the ring of a running event and in a perf.data file.
//!
//! Source: perf_event_open(2), section "MMAP layout"; include/uapi/linux/perf_event.h. Existing readers drop the fields that
//! this is all about (data source, weights). Nothing is trusted: a record that contradicts itself is `None`.

use crate::cursor::Cursor;
use olifant_sys::perf::SampleFields;

/// What the records of an event hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// Fields of a sample.
    pub sample: SampleFields,
    /// Which values `READ` has.
    pub read_format: u64,
    /// Which parts `BRANCH_STACK` has.
    pub branches: u64,
    /// Registers of the user's code, by number.
    pub user_registers: u64,
    /// Registers at the interrupt, by number.
    pub interrupt_registers: u64,
    /// Records other than samples end with thread and time.
    pub has_sample_id: bool,
}

/// A record, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A sample.
    Sample(Sample),
    /// Memory was mapped.
    Mapped(Mapped),
    /// A thread has a new name.
    Named {
        /// The process.
        process: i32,
        /// The thread.
        thread: i32,
        /// The name.
        name: String,
        /// It came with a new program.
        is_exec: bool,
        /// When, in nanoseconds.
        time_ns: u64,
    },
    /// A thread or process began.
    Began {
        /// The process.
        process: i32,
        /// The process that it came of.
        parent: i32,
        /// The thread.
        thread: i32,
        /// When, in nanoseconds.
        time_ns: u64,
    },
    /// A thread ended.
    Ended {
        /// The process.
        process: i32,
        /// The thread.
        thread: i32,
        /// When, in nanoseconds.
        time_ns: u64,
    },
    /// So many records found no room.
    Lost(u64),
    /// Any other.
    Other,
}

impl Record {
    /// When it was made, in nanoseconds; 0 if it does not tell.
    pub fn time_ns(&self) -> u64 {
        match self {
            Record::Sample(sample) => sample.time_ns,
            Record::Mapped(mapped) => mapped.time_ns,
            Record::Named { time_ns, .. } | Record::Began { time_ns, .. } | Record::Ended { time_ns, .. } => {
                *time_ns
            }
            Record::Lost(_) | Record::Other => 0,
        }
    }
}

/// What was seen at one instant; 0 where the event does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// The event's number.
    pub id: u64,
    /// The instruction's address.
    pub code: u64,
    /// The process.
    pub process: i32,
    /// The thread.
    pub thread: i32,
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// The address that was accessed.
    pub address: u64,
    /// The cpu.
    pub cpu: u32,
    /// Events that the sample stands for.
    pub period: u64,
    /// The user's registers, in the order of their numbers.
    pub registers: Vec<u64>,
    /// What the access cost, in the processor's unit (cycles on x86).
    pub weight: u64,
    /// Where the data came from, as the kernel encodes it.
    pub data_source: u64,
    /// The physical address.
    pub physical: u64,
    /// Whether it happened in the user's code.
    pub is_user: bool,
}

/// A mapping that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// The process.
    pub process: i32,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// Where in the file it starts.
    pub offset: u64,
    /// Whether it is of code.
    pub is_code: bool,
    /// Path, or a name such as `[heap]` or `//anon`.
    pub name: String,
    /// When, in nanoseconds.
    pub time_ns: u64,
}

/// Bits of `misc` that tell where the cpu was, and the value for user code.
const CPU_MODE: u16 = 7;
const USER_MODE: u16 = 2;
/// For `COMM`: by exec. For `MMAP`: data, not code.
const SPECIAL: u16 = 1 << 13;

/// The record in `bytes`, header included.
pub fn parse(bytes: &[u8], layout: &Layout) -> Option<Record> {
    let mut cursor = Cursor(bytes);
    let kind = cursor.u32()?;
    let misc = cursor.u16()?;
    let _size = cursor.u16()?;
    let time_at_end = || trailing_time(bytes, layout).unwrap_or(0);
    Some(match kind {
        1 | 10 => {
            let process = cursor.i32()?;
            let _thread = cursor.u32()?;
            let (start, bytes, offset) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
            let mut is_code = misc & SPECIAL == 0;
            if kind == 10 {
                // Device and inode, or a build id in their place; then protection and flags.
                cursor.bytes(24)?;
                is_code = cursor.u32()? & 4 != 0;
                cursor.u32()?;
            }
            let name = cursor.text();
            Record::Mapped(Mapped { process, start, bytes, offset, is_code, name, time_ns: time_at_end() })
        }
        2 => {
            cursor.u64()?;
            Record::Lost(cursor.u64()?)
        }
        3 => {
            let (process, thread) = (cursor.i32()?, cursor.i32()?);
            let name = cursor.text();
            Record::Named { process, thread, name, is_exec: misc & SPECIAL != 0, time_ns: time_at_end() }
        }
        4 | 7 => {
            let (process, parent, thread) = (cursor.i32()?, cursor.i32()?, cursor.i32()?);
            let _parent_thread = cursor.u32()?;
            let time_ns = cursor.u64()?;
            if kind == 7 {
                Record::Began { process, parent, thread, time_ns }
            } else {
                Record::Ended { process, thread, time_ns }
            }
        }
        9 => Record::Sample(sample(cursor, misc, layout)?),
        13 => Record::Lost(cursor.u64()?),
        _ => Record::Other,
    })
}

/// The time at the end of a record that is no sample: the fields there are those of a sample that tell who and when.
fn trailing_time(bytes: &[u8], layout: &Layout) -> Option<u64> {
    use SampleFields as Field;
    if !layout.has_sample_id || !layout.sample.has(Field::TIME) {
        return None;
    }
    let after = [Field::ID, Field::STREAM_ID, Field::CPU, Field::IDENTIFIER];
    let words = 1 + after.into_iter().filter(|field| layout.sample.has(*field)).count();
    let at = bytes.len().checked_sub(words * 8)?;
    Cursor(bytes.get(at..)?).u64()
}

fn sample(mut cursor: Cursor, misc: u16, layout: &Layout) -> Option<Sample> {
    use SampleFields as Field;
    let has = |field| layout.sample.has(field);
    let mut sample = Sample { is_user: misc & CPU_MODE == USER_MODE, ..Sample::default() };
    let word = |field: Field, cursor: &mut Cursor| if has(field) { cursor.u64() } else { Some(0) };
    let identifier = word(Field::IDENTIFIER, &mut cursor)?;
    sample.code = word(Field::IP, &mut cursor)?;
    if has(Field::TID) {
        (sample.process, sample.thread) = (cursor.i32()?, cursor.i32()?);
    }
    sample.time_ns = word(Field::TIME, &mut cursor)?;
    sample.address = word(Field::ADDR, &mut cursor)?;
    sample.id = identifier.max(word(Field::ID, &mut cursor)?);
    word(Field::STREAM_ID, &mut cursor)?;
    if has(Field::CPU) {
        sample.cpu = cursor.u32()?;
        cursor.u32()?;
    }
    sample.period = word(Field::PERIOD, &mut cursor)?;
    if has(Field::READ) {
        skip_values(&mut cursor, layout.read_format)?;
    }
    if has(Field::CALLCHAIN) {
        let count = cursor.u64()?;
        cursor.skip_words(count)?;
    }
    if has(Field::RAW) {
        let bytes = cursor.u32()?;
        cursor.bytes(usize::try_from(bytes).ok()?)?;
    }
    if has(Field::BRANCH_STACK) {
        let count = cursor.u64()?;
        // The index of the hardware's newest entry, if asked for.
        cursor.skip_words(layout.branches >> 17 & 1)?;
        cursor.skip_words(count.checked_mul(3)?)?;
    }
    if has(Field::REGS_USER) && cursor.u64()? != 0 {
        for _ in 0..layout.user_registers.count_ones() {
            sample.registers.push(cursor.u64()?);
        }
    }
    if has(Field::STACK_USER) {
        let bytes = cursor.u64()?;
        cursor.bytes(usize::try_from(bytes).ok()?)?;
        if bytes != 0 {
            cursor.u64()?;
        }
    }
    if has(Field::WEIGHT) {
        sample.weight = cursor.u64()?;
    } else if has(Field::WEIGHT_STRUCT) {
        // The first of three weights is the latency of the access.
        sample.weight = cursor.u64()? & 0xffff_ffff;
    }
    let word = |field: Field, cursor: &mut Cursor| if has(field) { cursor.u64() } else { Some(0) };
    sample.data_source = word(Field::DATA_SRC, &mut cursor)?;
    word(Field::TRANSACTION, &mut cursor)?;
    if has(Field::REGS_INTR) && cursor.u64()? != 0 {
        cursor.skip_words(u64::from(layout.interrupt_registers.count_ones()))?;
    }
    sample.physical = if has(Field::PHYS_ADDR) { cursor.u64()? } else { 0 };
    Some(sample)
}

/// Passes over the values of `READ`.
fn skip_values(cursor: &mut Cursor, format: u64) -> Option<()> {
    const TIME_ENABLED: u64 = 1;
    const TIME_RUNNING: u64 = 2;
    const ID: u64 = 4;
    const GROUP: u64 = 8;
    const LOST: u64 = 16;
    let count = |bits: u64| u64::from((format & bits).count_ones());
    if format & GROUP == 0 {
        return cursor.skip_words(1 + count(TIME_ENABLED | TIME_RUNNING | ID | LOST));
    }
    let members = cursor.u64()?;
    cursor.skip_words(count(TIME_ENABLED | TIME_RUNNING))?;
    cursor.skip_words(members.checked_mul(1 + count(ID | LOST))?)
}
