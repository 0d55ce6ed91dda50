//! Reports of a small synthetic ocean: what a person, a program and a spreadsheet get, as snapshots; and the laws that
//! hold for any profile.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set up its test should fail it there")]

mod csv_tables;
mod laws;
mod page;
mod profile;
mod run;
mod synthetic;
mod tune;
