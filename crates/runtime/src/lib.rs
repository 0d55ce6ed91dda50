//! The in-process runtime: what an instrumented program is linked with.
//!
//! The program's threads become user-level contexts on one operating-system thread (`context`, `donor`, `stack`); the
//! simulated machine's scheduler says which runs (`schedule`). The compiler's hooks come in through `access` and `atomics`; the
//! program's calls of the C library through interposed functions, one concept a file: threads and their end, mutexes,
//! conditions and the rest, time, signals, memory. `heap` places and records allocations; `profile` writes what the run
//! showed.
//!
//! All of it is C ABI inside the program, hence unsafe throughout; the simulator and the profile's model are safe crates.
#![allow(unsafe_code)]
// C values have C's sizes: the casts between words, addresses and ints are the ABI's.
#![allow(clippy::cast_possible_truncation)]
// Contracts of C functions stand in their standards; what each file adds stands at the function.
#![allow(clippy::missing_safety_doc)]

mod access;
mod affinity;
mod alarm;
mod alone;
mod areas;
mod arena;
mod atomics;
mod barrier;
mod c11;
mod cancel;
mod clock;
mod cond;
mod context;
mod counters;
mod dispatch;
mod donor;
mod ending;
mod engine;
mod errno;
mod facts;
mod fault;
mod foreign;
mod futex;
mod heap;
mod io;
mod join;
mod keys;
mod layout;
mod locks;
mod mapping;
mod memory_calls;
mod modules;
mod monitor;
mod mutex;
mod once;
mod process;
mod profile;
mod real;
mod registers;
mod rset;
mod rwlock;
mod say;
mod schedule;
mod semaphore;
mod signal_calls;
mod signals;
mod spin;
mod spinlock;
mod stack;
mod start;
mod state;
mod sys;
mod thread;
mod thread_end;
