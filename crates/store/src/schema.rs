//! The schema of a profile file: its marks and its tables.
//!
//! `APPLICATION_ID` says that a SQLite file is a profile, `SCHEMA_VERSION` which one. A release reads every version up
//! to its own. What may change without a new version: nothing but additional views. A new table or column raises it.

/// The mark in the header of the file: the letters `OLIF`.
pub const APPLICATION_ID: u32 = u32::from_be_bytes(*b"OLIF");

/// The version of the schema that this release writes, and the newest that it reads.
pub const SCHEMA_VERSION: u32 = 2;

/// The tables and views, as statements of SQL.
pub(crate) const STATEMENTS: &str = include_str!("schema.sql");

/// The tables and views that version 2 added.
pub(crate) const STATEMENTS_2: &str = include_str!("schema_2.sql");
