//! The profile file from outside: what is stored comes back, what cannot be stored or read says why, and the queries
//! of the documentation give what it says.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set up its test should fail it there")]
#![allow(clippy::cast_possible_truncation, reason = "the lists made here have a handful of members")]

mod any_facts;
mod arbitrary;
mod bad_files;
mod fixed;
mod full_disk;
mod killed;
mod older;
mod queries;
mod round_trip;
