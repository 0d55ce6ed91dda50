//! Options that several subcommands share, each defined once.

use clap::{Args, ValueEnum};
use olifant_machine::{FramePolicy, LawBroken, Machine};
use olifant_opium::filter::{FilterSpec, Granularity, SecondarySpec};
use olifant_opium::{CardModel, CardProgram};
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

    /// What differs from the machine file.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// What a run has otherwise than its machine's file says.
#[derive(Debug, Clone, Args)]
pub struct ModelArguments {
    /// Which frames of a node back new pages: coloured, sequential (in the order of touching), random
    ///
    /// Without it as the machine file says. Example: --frames random
    #[arg(long, value_name = "CHOICE", value_parser = frames, help_heading = "Simulation")]
    pub frames: Option<FramePolicy>,

    /// Take the pages of an allocation at once, by --memory, not when they are first touched
    ///
    /// As the papers' NumaVirtualAllocLocked did; what goes by first-touch waits for that. Example: --locked --memory any
    #[arg(long, help_heading = "Simulation")]
    pub locked: bool,

    /// Cycles per instruction while all hits the first-level cache, in place of the machine file's
    ///
    /// For a constant fitted to one program. Example: --cpi 1.6
    #[arg(long, value_name = "CYCLES", help_heading = "Simulation")]
    pub cpi: Option<f64>,

    /// Misses of a processor in flight at once, in place of the machine file's
    ///
    /// How far a program's misses overlap. Example: --misses 4
    #[arg(long, value_name = "N", help_heading = "Simulation")]
    pub misses: Option<u32>,
}

impl ModelArguments {
    /// Changes the machine as told.
    /// # Errors  The result breaks a law of machines.
    pub fn apply(&self, machine: &mut Machine) -> Result<(), LawBroken> {
        machine.os.frames = self.frames.unwrap_or(machine.os.frames);
        machine.processor.cpi = self.cpi.unwrap_or(machine.processor.cpi);
        machine.processor.outstanding_misses = self.misses.unwrap_or(machine.processor.outstanding_misses);
        machine.check()
    }
}

/// Reads the word of a machine file.
fn frames(word: &str) -> Result<FramePolicy, String> {
    word.parse::<FramePolicy>().map_err(str::to_owned)
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

/// What the monitor card counts.
#[derive(Debug, Clone, Default, Args)]
pub struct CardArguments {
    /// Unit that the profile counts by: line, page, or a power of two of bytes in between
    ///
    /// A smaller one shows more and costs more host time. Example: --granule line. On this computer up to 2 MiB.
    #[arg(long, value_name = "SIZE", help_heading = "Monitor")]
    pub granule: Option<Granularity>,

    /// Also count what passes this filter: WHAT[,granule=SIZE][,kinds=..][,by=..][,threshold=N][,name=NAME]
    ///
    /// WHAT is an area (a global's name, a function that allocates, or FILE:LINE), ADDRESS+SIZE, or `all`. Kinds: read, write,
    /// upgrade, write-back, invalidation, intervention; local, outbound, inbound; joined by +. Counters are by=node, thread or
    /// cpu. A counter that reaches the threshold is noted with its time. Example: --filter grid.c:57,granule=line,kinds=read+outbound
    #[arg(long = "filter", value_name = "FILTER", help_heading = "Monitor")]
    pub filters: Vec<FilterSpec>,

    /// A counter that adds up what filters pass: NAME=FILTER+FILTER[,kinds=..]
    ///
    /// Example: --secondary reads=grid+table,kinds=read
    #[arg(long = "secondary", value_name = "COUNTER", help_heading = "Monitor")]
    pub secondaries: Vec<SecondarySpec>,

    /// Monitor card: unlimited, or opium with the hardware's limits
    ///
    /// `opium` has 32 filters, 512 Ki counters of 36 bits and 16 secondary counters, and sees what leaves or enters a node.
    /// Example: --card opium
    #[arg(long, value_name = "CARD", value_enum, default_value_t = Card::Unlimited, hide_possible_values = true, help_heading = "Monitor")]
    pub card: Card,
}

/// A monitor card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Card {
    /// Without limits
    #[default]
    Unlimited,
    /// With the limits of the prototype's
    Opium,
}

impl CardArguments {
    /// What the card is programmed to do.
    pub fn program(&self) -> CardProgram {
        CardProgram {
            model: match self.card {
                Card::Unlimited => CardModel::Unlimited,
                Card::Opium => CardModel::Opium,
            },
            filters: self.filters.clone(),
            secondaries: self.secondaries.clone(),
        }
    }
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
