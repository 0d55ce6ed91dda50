//! What a program under study tells of its large allocations, through memory that it shares with the recorder.
//!
//! Any thread of any process of the program appends without waiting, one recorder takes; what finds no room is counted, so
//! that a recorder that was killed stops nobody. `entry.rs` is what is told, `log.rs` the queue. Floor 2, and apart from
//! `sys`, because the library that enters the program (`sites`) must bring as little with it as it can.
#![allow(unsafe_code)]

mod entry;
mod log;

pub use entry::{Entry, Kind, LONGEST_PATH};
pub use log::Log;

/// The environment variable that names the log's file to the program.
pub const LOG_VARIABLE: &str = "OLIFANT_SITES";
