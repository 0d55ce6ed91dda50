//! The advisor: from a profile to a plan, with a reason and a predicted gain for each decision, or the advice to leave
//! the program alone.
//!
//! Floor 1 of the house: pure. It reads a profile and a machine, never the program; the same input gives the same
//! advice. What it weighs and how it predicts is told in docs/plan.md. Left out: time. A profile sums up the whole
//! run, so data that change hands between phases are placed for the sum.
//!
//! The way of the data: `demand` gathers counters by page, `teams` and `layout` say who can sit where,
//! `order` finds seats and homes together, `decide` puts homes into the shortest words, `planner` puts it
//! together, `forecast` applies the plan to the counters and `advise` judges whether it is worth it.

mod advice;
mod advise;
mod affinity;
mod capacity;
mod case;
mod decide;
mod demand;
mod exchange;
mod findings;
mod forecast;
mod groups;
mod homes;
mod layout;
mod load;
pub mod options;
mod order;
mod patterns;
mod planner;
mod queue;
mod reason;
mod replicate;
mod runs;
mod teams;

pub use advice::{Advice, Contention, Effect, Finding, LineUser, Verdict};
pub use advise::advise;
pub use options::Options;
pub use patterns::{Pattern, PatternKind, patterns};
