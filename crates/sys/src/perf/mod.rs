//! Events of the kernel that are written down as they happen: samples of a thread's registers, mappings, new threads.
//!
//! An [`Event`] watches a thread (and, if asked, all that come of it) on one cpu; a [`Ring`] is the memory that the kernel
//! writes the records into. The records' form is told by the attributes; who reads them is one floor up.
//!
//! Source: perf_event_open(2), Linux 2.6.31; /usr/include/linux/perf_event.h.

mod attributes;
mod event;
mod ring;

pub use attributes::{BreakpointKind, EventAttributes, Flags, SampleFields};
pub use event::Event;
pub use ring::Ring;
