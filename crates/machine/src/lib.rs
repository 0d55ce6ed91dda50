//! Machines as data: ids, units, sets of cpus and nodes, the machine tree, and the text forms that go in and out.
//!
//! Floor 0 of the house: no files, no environment, no clock, no threads, no unsafe. Whoever has a text hands it over;
//! whoever wants a file writes the text that comes back.

pub mod catalogue;
mod check;
mod configure;
mod cpulist;
mod cpumask;
mod graph;
mod hwloc;
mod idle;
mod ids;
mod model;
mod nearest;
mod routes;
mod set;
mod structure;
mod toml_form;
mod topology;
mod units;

pub use catalogue::CatalogueError;
pub use check::LawBroken;
pub use configure::{Configuration, ConfigurationError};
pub use cpulist::SetSyntaxError;
pub use hwloc::HwlocError;
pub use ids::{CpuId, NodeId};
pub use model::*;
pub use nearest::{did_you_mean, nearest};
pub use routes::{Routes, Unreachable};
pub use set::{CpuSet, IdSet, Members, NodeSet, SetMember};
pub use structure::{CacheShape, Structure};
pub use toml_form::{TomlError, TomlProblem};
pub use topology::{Topology, TopologyError};
pub use units::{Bytes, BytesPerSecond, Cycles, Hertz, Nanos};
