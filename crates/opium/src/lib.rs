//! The monitor card, and the profile model.
//!
//! `card` counts what a simulated machine's buses carry, by page or line and by accessor; `board` is its programmable part,
//! whose filters (`filter`) pass `kinds` of transactions; `contest` keeps the lines that move between caches, `phases` the
//! counts between barriers; `collect` turns all of it, with the machine's own counters, into the parts of a `profile`, whose
//! `facts` are those beside the counts by granule, and whose `map` is what a report needs of them.

mod board;
mod card;
mod collect;
mod contest;
mod error;
pub mod facts;
pub mod filter;
mod interval;
mod kinds;
pub mod map;
mod phases;
pub mod profile;
pub mod refine;

pub use board::{Board, CardModel, CardProgram};
pub use card::{AccessorCounts, Card, GranuleCounts, PageTouch};
pub use collect::{MachineParts, collect};
pub use contest::{Contest, Contestant};
pub use error::CardError;
pub use interval::share_interval;
pub use kinds::Kinds;
pub use phases::{PageTraffic, PhaseCounts};
