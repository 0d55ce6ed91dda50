//! The profile file and what makes its addresses readable.
//!
//! One profile is one SQLite file: [`write()`] stores it atomically, [`read`] loads it back equal. The schema is in
//! `schema.rs` and explained, with example queries, in docs/profile.md. [`symbols`] turns the code addresses of a
//! profile into functions, files and lines, and finds the addresses of a line again for the next run.
//!
//! Floor 2: the only floor below the faces that opens files. What a profile means is defined in `olifant-opium`;
//! what is made of it, in `olifant-advisor` and `olifant-report`.

mod atomic;
mod error;
mod facts_read;
mod facts_write;
mod header;
mod laws;
mod map;
mod read;
mod rows;
mod schema;
pub mod symbols;
mod words;
mod write;

pub use error::StoreError;
pub use read::{read, read_map};
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use write::write;
