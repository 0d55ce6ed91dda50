//! The monitor card, and the profile model.
//!
//! `card` counts what a simulated machine's buses carry, by page or line and by accessor; `contest` keeps the lines that
//! move between caches; `collect` turns both, with the machine's own counters, into the parts of a `profile`.

mod card;
mod collect;
mod contest;
pub mod profile;

pub use card::{AccessorCounts, Card, GranuleCounts};
pub use collect::{MachineParts, collect};
pub use contest::{Contest, Contestant};
