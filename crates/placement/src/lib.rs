//! Resource sets and their hierarchy, thread and memory policies, plans: the vocabulary of placement and its text forms.
//!
//! Floor 0 of the house: plain data and its notation, no files, no system. What the words mean on a machine is carried
//! out elsewhere; a plan's text form is documented in docs/plan.md.

mod assign;
mod cpu_list;
mod divide;
mod find;
mod hierarchy;
mod plan;
mod plan_read;
mod plan_write;
mod policy;
mod policy_text;
mod resource_set;
mod set_policy;
mod set_text;
mod site_text;
mod stripe;
mod toml_table;

pub use cpu_list::compact_list;
pub use divide::TooManyParts;
pub use find::{FOR_SMALL, FOR_STACKS, Place};
pub use hierarchy::{Hierarchy, HierarchyError, Level, NodeResources};
pub use plan::{AreaMatch, AreaPlan, Decision, Plan, Prediction, Run};
pub use plan_read::PlanError;
pub use policy::{MemoryPolicy, ThreadPolicy};
pub use policy_text::PolicyError;
pub use resource_set::{Resource, ResourceSet};
pub use set_policy::{Home, PolicyMisfit, SetPolicy, Spread};
pub use set_text::{DeviceKind, Lookup, NoLookup, SetReader, SetTextError};
pub use stripe::striped_node;
