//! What a running program accesses, sampled on the computer in front of us: for any program, unmodified, without a counter
//! of the processor and, for one's own processes, without being root.
//!
//! The way of a sample: the kernel interrupts each thread as often as asked and writes down where it is and what its
//! registers hold (`events.rs`, `record.rs`); the instructions from there on are followed to an access that the thread
//! is about to make (`walk.rs`, `registers.rs`); the address is given to an area (`space.rs`, `modules.rs`), of which a
//! program that we started tells by itself (crate `sites`); all of it in the order of time (`recorder.rs`), summed up
//! (`hotdeck.rs`) and made a profile (`profile.rs`). Nothing in the program's memory is touched, so there is nothing to
//! put back when we end or are killed, and its system calls meet nothing unusual.
//!
//! A perf.data file of another recorder goes the same way from its records on (`perf_data.rs`, `data_source.rs`, `import.rs`).
//!
//! Floor 3. docs/host.md tells what each way of sampling needs, costs and cannot see.

mod cursor;
mod data_source;
mod error;
mod events;
mod hotdeck;
mod import;
mod modules;
mod perf_data;
mod probe;
mod process;
mod profile;
mod random;
mod record;
mod recorder;
mod recording;
mod registers;
mod space;
mod walk;

pub use data_source::Level;
pub use error::SamplerError;
pub use import::{Imported, SourceRow, import};
pub use perf_data::PerfDataError;
pub use probe::hardware_sampling;
pub use recording::{Options, Outcome, Quality, record_process, record_program};
