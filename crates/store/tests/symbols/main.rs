//! Symbols of small programs that the tests compile and run: addresses to lines and back, with and without debugging
//! information, optimised, inlined, position-independent, in C and C++.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set up its test should fail it there")]

mod compile;
mod damaged;
mod frames;
mod lines;
mod table;
