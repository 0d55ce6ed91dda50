//! Tests of the machine tree through its public face: the laws, the text forms, the machines that come along.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod catalogue;
mod configurations;
mod hwloc;
mod laws;
mod machine_file;
mod random_machine;
mod sets;
mod topologies;
