//! `struct perf_event_attr`: what an event counts and what its records hold.
//!
//! Source: perf_event_open(2); the layout is that of version 7 (128 bytes, Linux 5.13); a kernel that knows fewer fields
//! takes the longer form as long as the fields that it does not know are zero.

use core::ops::BitOr;

/// A set of flags of one word.
macro_rules! flag_set {
    ($(#[$meta:meta])* $set:ident { $($(#[$doc:meta])* $name:ident = $bit:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $set(pub u64);

        impl $set {
            $($(#[$doc])* pub const $name: $set = $set(1 << $bit);)*

            /// Whether all of `other` is in it.
            pub const fn has(self, other: $set) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl BitOr for $set {
            type Output = $set;
            fn bitor(self, other: $set) -> $set {
                $set(self.0 | other.0)
            }
        }
    };
}

flag_set! {
    /// What a sample holds, in the order of the bits (but for the identifier, which is first).
    SampleFields {
        /// The instruction's address.
        IP = 0;
        /// Process and thread.
        TID = 1;
        /// When.
        TIME = 2;
        /// The address that was accessed.
        ADDR = 3;
        /// The counter's value.
        READ = 4;
        /// Return addresses.
        CALLCHAIN = 5;
        /// The event's number.
        ID = 6;
        /// The cpu.
        CPU = 7;
        /// Events since the last sample.
        PERIOD = 8;
        /// The number of the event that was opened, also for those that come of it.
        STREAM_ID = 9;
        /// Data of a tracepoint or of the hardware.
        RAW = 10;
        /// The last branches.
        BRANCH_STACK = 11;
        /// The registers of the interrupted user code. Linux 3.7.
        REGS_USER = 12;
        /// A part of the user's stack. Linux 3.7.
        STACK_USER = 13;
        /// The cost of the access, in a unit of the processor. Linux 3.10.
        WEIGHT = 14;
        /// Where the data came from. Linux 3.10.
        DATA_SRC = 15;
        /// The event's number, first in each record. Linux 3.12.
        IDENTIFIER = 16;
        /// What a hardware transaction did. Linux 3.13.
        TRANSACTION = 17;
        /// The registers at the interrupt. Linux 3.19.
        REGS_INTR = 18;
        /// The physical address. Linux 4.13.
        PHYS_ADDR = 19;
        /// Data of another unit. Linux 5.5.
        AUX = 20;
        /// The control group. Linux 5.7.
        CGROUP = 21;
        /// The size of the data's page. Linux 5.11.
        DATA_PAGE_SIZE = 22;
        /// The size of the code's page. Linux 5.11.
        CODE_PAGE_SIZE = 23;
        /// Several weights in one word, in place of `WEIGHT`. Linux 5.12.
        WEIGHT_STRUCT = 24;
    }
}

flag_set! {
    /// The bit field of the attributes.
    Flags {
        /// Does not count yet.
        DISABLED = 0;
        /// Threads and processes that come of the watched one are watched, too.
        INHERIT = 1;
        /// Not what the kernel does.
        EXCLUDE_KERNEL = 5;
        /// Not what a hypervisor does.
        EXCLUDE_HYPERVISOR = 6;
        /// Tell of mappings of code.
        MMAP = 8;
        /// Tell of names.
        COMM = 9;
        /// Counts from the next exec on.
        ENABLE_ON_EXEC = 12;
        /// Tell of threads and processes that begin and end.
        TASK = 13;
        /// Tell of mappings of data, too.
        MMAP_DATA = 17;
        /// All records end with thread and time.
        SAMPLE_ID_ALL = 18;
        /// Mappings are told with their file. Linux 3.16.
        MMAP2 = 23;
        /// A name says whether it came by exec. Linux 3.16.
        COMM_EXEC = 24;
        /// Times are of the clock named. Linux 4.1.
        USE_CLOCK_ID = 25;
    }
}

/// What accesses a breakpoint stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakpointKind {
    /// Stores.
    Write,
    /// Loads and stores; x86 has none for loads alone.
    ReadWrite,
}

/// What an event counts and tells.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample: SampleFields,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_kind: u32,
    config1: u64,
    config2: u64,
    branches: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
    interrupt_registers: u64,
    aux_watermark: u32,
    max_stack: u16,
    reserved: u16,
    aux_sample: u32,
    reserved_too: u32,
    signal_data: u64,
}

const _: () = assert!(size_of::<EventAttributes>() == 128);

/// `PERF_TYPE_SOFTWARE`.
const SOFTWARE: u32 = 1;
/// `PERF_TYPE_BREAKPOINT`.
const BREAKPOINT: u32 = 5;
/// `PERF_COUNT_SW_CPU_CLOCK`.
const CPU_CLOCK: u64 = 0;
/// `PERF_COUNT_SW_PAGE_FAULTS`.
const PAGE_FAULTS: u64 = 2;
/// `PERF_COUNT_SW_DUMMY`, Linux 3.12.
const DUMMY: u64 = 9;
/// Where the two bits of `precise_ip` begin.
const PRECISE_BIT: u32 = 15;

impl EventAttributes {
    fn of(kind: u32, config: u64) -> Self {
        EventAttributes {
            kind,
            size: 128,
            config,
            period: 0,
            sample: SampleFields::default(),
            read_format: 0,
            flags: 0,
            wakeup: 0,
            breakpoint_kind: 0,
            config1: 0,
            config2: 0,
            branches: 0,
            user_registers: 0,
            user_stack: 0,
            clock: 0,
            interrupt_registers: 0,
            aux_watermark: 0,
            max_stack: 0,
            reserved: 0,
            aux_sample: 0,
            reserved_too: 0,
            signal_data: 0,
        }
    }

    /// The time that a thread runs; a period is in nanoseconds. Needs no counter of the processor.
    pub fn cpu_clock() -> Self {
        Self::of(SOFTWARE, CPU_CLOCK)
    }

    /// Page faults. A sample's address is the one that was not there.
    pub fn page_faults() -> Self {
        Self::of(SOFTWARE, PAGE_FAULTS)
    }

    /// Nothing; for the records of mappings, names and threads alone. Linux 3.12.
    pub fn nothing() -> Self {
        Self::of(SOFTWARE, DUMMY)
    }

    /// Accesses to the `bytes` (1, 2, 4 or 8) at `address`, which is a multiple of `bytes`. Linux 2.6.33.
    pub fn breakpoint(address: u64, bytes: u64, kind: BreakpointKind) -> Self {
        let breakpoint_kind = match kind {
            BreakpointKind::Write => 2,
            BreakpointKind::ReadWrite => 3,
        };
        EventAttributes { breakpoint_kind, config1: address, config2: bytes, ..Self::of(BREAKPOINT, 0) }
    }

    /// An event of a unit that /sys/bus/event_source lists: its type, and the words of its configuration.
    pub fn of_unit(kind: u32, config: u64, config1: u64) -> Self {
        EventAttributes { config1, ..Self::of(kind, config) }
    }

    /// A sample for each `period` events.
    #[must_use]
    pub fn every(self, period: u64) -> Self {
        EventAttributes { period, ..self }
    }

    /// What a sample holds.
    #[must_use]
    pub fn with(self, sample: SampleFields) -> Self {
        EventAttributes { sample, ..self }
    }

    /// More flags.
    #[must_use]
    pub fn flagged(self, flags: Flags) -> Self {
        EventAttributes { flags: self.flags | flags.0, ..self }
    }

    /// Which registers of the user's code a sample holds, by the numbers of asm/perf_regs.h.
    #[must_use]
    pub fn with_user_registers(self, mask: u64) -> Self {
        EventAttributes { user_registers: mask, ..self }
    }

    /// Times of `CLOCK_MONOTONIC`. Linux 4.1.
    #[must_use]
    pub fn on_monotonic_clock(self) -> Self {
        EventAttributes { clock: libc::CLOCK_MONOTONIC, ..self }.flagged(Flags::USE_CLOCK_ID)
    }

    /// How exact the instruction's address must be: 0 arbitrary, 3 no skid at all.
    #[must_use]
    pub fn precise(self, level: u64) -> Self {
        EventAttributes { flags: self.flags | (level & 3) << PRECISE_BIT, ..self }
    }

    /// What a sample holds.
    pub fn sample_fields(&self) -> SampleFields {
        self.sample
    }

    /// Which registers a sample holds.
    pub fn user_registers(&self) -> u64 {
        self.user_registers
    }
}
