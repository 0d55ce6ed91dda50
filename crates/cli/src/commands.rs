//! One module per subcommand: its arguments, and the calls that carry it out.

pub mod advise;
pub mod compile;
pub mod exec;
pub mod import;
pub mod lab;
pub mod move_;
pub mod pages;
pub mod record;
pub mod refine;
pub mod report;
pub mod reproduce;
pub mod rset;
pub mod run;
pub mod top;
pub mod topology;
pub mod tune;
pub mod where_;
