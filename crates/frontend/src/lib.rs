//! Ways in for a program: `driver` (the compiler driver behind `olifant cc`), `spec` (what a run is told),
//! `launch` (starts an instrumented program and collects its profile).

pub mod driver;
pub mod launch;
pub mod spec;
