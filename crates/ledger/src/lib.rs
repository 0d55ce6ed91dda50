//! The ledger of reproduced evaluations: definitions of published tables and figures, the runs that they need, and each
//! published value with the reproduced one and the error beside it.
//!
//! The way: [`Library`] reads the definitions; [`Plan`] expands them into cells and distinct runs, equal ones once;
//! [`execute`] makes the runs that [`Records`] lacks, on all cores, and keeps each by itself; [`Ledger`] computes rows
//! from records alone. So a ledger can be printed without running anything, an interrupted evaluation goes on where it was,
//! and two evaluations that made the same records print the same ledger.
//!
//! Leaves out: how a run is made (a [`Runner`] does it; [`Olifant`] calls the command) and how a ledger is shown (`report`).

mod definition;
mod error;
mod execute;
mod expression;
mod layout;
mod ledger;
mod machines;
mod olifant;
mod pattern;
mod plan;
mod profile;
mod published;
mod record;
mod rows;
mod run;
mod shapes;
mod summary;

pub use definition::{Application, Choose, Experiment, Library, Use};
pub use error::LedgerError;
pub use execute::{Event, Failure, Runner, execute};
pub use ledger::{Extent, Ledger, Row, RowState};
pub use machines::Machines;
pub use olifant::Olifant;
pub use pattern::RowPattern;
pub use plan::{Cell, Plan};
pub use published::{Published, read_published};
pub use record::{Counters, Provenance, Record, Records};
pub use run::{LayoutPart, RunDefinition, StepRun};
pub use shapes::{ShapeOutcome, Verdict};
pub use summary::{Quantiles, Summary};
