//! The library that `olifant record` preloads into a program that it starts: it tells the recorder of each large allocation
//! with the call path that made it, and of its end. It changes nothing: every call goes on to the allocator that the
//! program would have had, and where the log cannot be opened nothing is told.
//!
//! `allocator.rs` finds that allocator, `tell.rs` writes the log, `calls.rs` holds the functions that interpose. What it
//! does not see: programs that are linked statically, are setuid, or bring an allocator of their own in the executable.
#![allow(unsafe_code)]

mod allocator;
mod calls;
mod tell;

/// Runs when the program starts, before its own code and while there is one thread.
extern "C" fn begin() {
    allocator::find();
    tell::begin();
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
