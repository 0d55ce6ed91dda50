//! Options that several subcommands share, each defined once.

use clap::{Args, ValueEnum};
use olifant_placement::{MemoryPolicy, ThreadPolicy};
use std::ffi::OsString;
use std::path::PathBuf;

/// A good trade between strict order and speed (measured; see the ordering rule in ARCHITECTURE.md).
const DEFAULT_QUANTUM_CYCLES: u64 = 1000;

/// Which machine.
#[derive(Debug, Clone, Args)]
pub struct MachineArguments {
    /// Machine: a name that `olifant topology --list` shows, a machine file, or `host`
    ///
    /// `host` is a simulated copy of this computer, with assumed timings; `run` takes this computer itself for programs
    /// that were not built by `olifant cc`. Example: --on x4800, --on ./mine.toml
    #[arg(long, value_name = "MACHINE", default_value = "olifant", help_heading = "Machine")]
    pub on: String,

    /// Part of the machine: x nodes with y processors each
    ///
    /// Example: --config 2N4 uses two nodes with four processors each.
    #[arg(long, value_name = "xNy", help_heading = "Machine")]
    pub config: Option<String>,
}

/// How a program is run.
#[derive(Debug, Clone, Args)]
pub struct RunArguments {
    /// The machine.
    #[command(flatten)]
    pub machine: MachineArguments,

    /// Where threads run: fill, round-robin, float, or a list of cpus
    ///
    /// `fill` fills a node before the next, `round-robin` takes nodes in turn, `float` leaves it to the simulated
    /// scheduler, a list gives thread i the i-th cpu. Example: --threads round-robin, --threads 0,4,8,12
    #[arg(long, value_name = "POLICY", default_value = "fill", help_heading = "Placement")]
    pub threads: ThreadPolicy,

    /// Seed of everything drawn at random; the same seed gives the same result
    ///
    /// Example: --seed 7
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Simulation")]
    pub seed: u64,

    /// Cycles that a processor may run ahead of the others; part of the result
    ///
    /// Less is closer to a strict order and slower. Example: --quantum 100
    #[arg(long, value_name = "CYCLES", default_value_t = DEFAULT_QUANTUM_CYCLES, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Simulation")]
    pub quantum: u64,

    /// Let more threads than processors run, in turns; without it that is an error
    ///
    /// Example: --oversubscribe --config 1N1
    #[arg(long, help_heading = "Simulation")]
    pub oversubscribe: bool,
}

/// Where pages live.
#[derive(Debug, Clone, Args)]
pub struct MemoryArguments {
    /// Where pages live: first-touch, local, remote, any, striped[:PAGES], node:N
    ///
    /// `first-touch` is Linux's default; `striped:1` puts each next page on the next node. Example: --memory striped:1
    #[arg(long, value_name = "POLICY", default_value = "first-touch", help_heading = "Placement")]
    pub memory: MemoryPolicy,

    /// Apply the placement plan in FILE; areas that it does not name follow --memory
    ///
    /// Example: --plan ocean.plan.toml
    #[arg(long, value_name = "FILE", help_heading = "Placement")]
    pub plan: Option<PathBuf>,
}

/// The program and its arguments.
#[derive(Debug, Clone, Args)]
pub struct ProgramArguments {
    /// The program, built with `olifant cc`, and its arguments; `--` before it ends olifant's own options
    ///
    /// Example: -- ./ocean -n 514 -p 16
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, num_args = 1..)]
    pub command: Vec<OsString>,
}

/// The form of data on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Table,
    /// For a program: one object with stable names
    Json,
    /// For a spreadsheet: a header and rows
    Csv,
}

/// The choice of a form.
#[derive(Debug, Clone, Args)]
pub struct FormatArguments {
    /// Form of the result: table, json or csv
    ///
    /// Example: --format json | jq .seconds
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Format::Table, hide_possible_values = true, help_heading = "Output")]
    pub format: Format,
}

/// How many rows a table shows.
#[derive(Debug, Clone, Args)]
pub struct TopArguments {
    /// Areas to show, those that mattered most first
    ///
    /// Example: --top 20
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Output")]
    pub top: usize,
}
