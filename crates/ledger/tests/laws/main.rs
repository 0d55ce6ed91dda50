//! Laws of the ledger, on small definitions of the tests' own and on the real ones.
#![allow(clippy::unwrap_used, reason = "helpers of tests may end them")]

mod definitions;
mod real;
mod resuming;
mod rows;
