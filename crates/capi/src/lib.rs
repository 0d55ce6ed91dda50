//! librset: the C interface of resource sets. Its contract is `include/rset.h`, which this crate follows and does not
//! repeat; here is only what turns C's pointers and numbers into calls of the crate `rset`.
//!
//! A call never unwinds into C: a panic ends the process, as the functions are `extern "C"`.
#![allow(unsafe_code)]

mod answer;
mod binding;
mod heaps;
mod levels;
mod memory;
mod monitor;
mod names;
mod replicas;
mod sets;
mod threads;
