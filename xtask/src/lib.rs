//! The project's chores as a library, so that tests can run them on fixture trees.

pub mod tidy;
