//! The preload library: thread and memory placement inside unmodified programs, put there by LD_PRELOAD.
//!
//! `olifant exec` and `olifant run --on host` write down what is wanted (`olifant_frontend::inside`) and start the program
//! with this library in front of all others. Its versions of pthread_create, malloc, mmap and their kin do what the
//! specification says and else what the C library's do. Four rules hold throughout:
//!
//! - Without a specification the program runs as if the library were not there, on mimalloc.
//! - Nothing is written to the program's own files. What was done goes to a report file, if one is asked for.
//! - Neither the library nor a thread's binding gets into programs that this one starts, unless asked (`leaving.rs`).
//! - No frame of Rust is on the stack below the program's code: threads are cancelled and left by unwinding.
//!
//! The order of reading: `start` (what happens before `main`), `threads`, `malloc` with `heaps` and `areas`, `report`.
#![allow(unsafe_code)]
// Addresses come as u64 and usize, which are the same on the systems that this is for.
#![allow(clippy::cast_possible_truncation)]

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
compile_error!("the preload library is for x86-64 Linux with the GNU C library");

mod areas;
mod call_path;
mod counters;
mod errno;
mod fork_gate;
mod forking;
mod heaps;
mod image;
mod leaving;
mod malloc;
mod mappings;
mod naming;
mod ordinals;
mod own_memory;
mod placing;
mod real;
mod report;
mod start;
mod state;
mod thread_calls;
mod threads;
