//! Ways in for a program: `driver` (the compiler driver behind `olifant cc`), `spec` (what a simulated run is told),
//! `inside` (what the preload library is told and tells back on the host), `forward` (signals on their way to a
//! program), `launch` (starts an instrumented program and collects its profile).

pub mod driver;
pub mod forward;
pub mod inside;
pub mod launch;
pub mod spec;
