//! The simulated machine as the runtime holds it.

pub use olifant_sim::{Next, Options, Placement, ThreadId};

/// The system, watched by Opium's card.
pub type System = olifant_sim::System<olifant_opium::Card>;
