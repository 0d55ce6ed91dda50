//! One module per subcommand: its arguments, and the calls that carry it out.

pub mod advise;
pub mod compile;
pub mod pages;
pub mod record;
pub mod report;
pub mod run;
pub mod topology;
pub mod tune;
