//! A machine for a reader: as a picture, as tables of every property, as JSON.
//!
//! Distances are idle read times in closed form from the machine's numbers (`Machine::idle_read_matrix`), so they need
//! no simulation. The picture fits 100 columns and shows nodes one by one up to eight, above that one of each kind.

mod json;
mod links;
mod node_boxes;
mod picture;
mod table;
mod values;

pub use json::json;
pub use picture::picture;
pub use table::table;
