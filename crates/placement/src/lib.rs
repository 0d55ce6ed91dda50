//! Resource sets, thread and memory policies, plans: the vocabulary of placement and its text forms.
//!
//! Floor 0 of the house: plain data and its notation, no files, no system. What the words mean on a machine is carried
//! out elsewhere; a plan's text form is documented in docs/plan.md.

mod assign;
mod cpu_list;
mod find;
mod plan;
mod plan_read;
mod plan_write;
mod policy;
mod policy_text;
mod site_text;
mod stripe;
mod toml_table;

pub use cpu_list::compact_list;
pub use find::{FOR_SMALL, FOR_STACKS, Place};
pub use plan::{AreaMatch, AreaPlan, Decision, Plan, Prediction, Run};
pub use plan_read::PlanError;
pub use policy::{MemoryPolicy, ThreadPolicy};
pub use policy_text::PolicyError;
pub use stripe::striped_node;
