//! `olifant refine`: runs of a program under ever finer filters, until they show nothing new.

use crate::arguments::{Format, FormatArguments, MemoryArguments, ProgramArguments, RunArguments};
use crate::outcome::Outcome;
use crate::output;
use crate::progress::ProgramStdout;
use crate::session::{Placement, Session, read_plan};
use clap::{Args, ValueEnum};
use olifant_opium::filter::By;
use olifant_opium::refine::Step;
use olifant_opium::{CardProgram, Kinds};
use olifant_report::{RefineStep, refine_ending, refine_json};

const EXAMPLES: &str = "\
Examples:
  olifant refine --config 2N1 -- ./fft3d -p 2
  olifant refine --kinds invalidation+local+outbound --by thread -- ./app
  olifant refine --format csv -- ./ocean -p 16 > ocean.steps.csv

The program runs once for each step, with the same result each time. Exit code 1 if
nothing passed the filters.";

/// Arguments of `refine`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    #[command(flatten)]
    memory: MemoryArguments,

    /// Transactions that count, joined by +: kinds as for `record --filter`
    ///
    /// Without a kind, all transactions; without a direction, those that leave or stay on their node. Example: --kinds read+outbound
    #[arg(long, value_name = "KINDS", default_value = "outbound", help_heading = "Monitor")]
    kinds: Kinds,

    /// Accessors that are told apart: thread, node or cpu
    ///
    /// Example: --by node
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Who::Thread, hide_possible_values = true, help_heading = "Monitor")]
    by: Who,

    /// Granules to show of each step, those with most accesses
    ///
    /// Example: --top 40
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = "Output")]
    top: usize,
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    program: ProgramArguments,
}

/// Who accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Who {
    /// Threads
    Thread,
    /// Nodes
    Node,
    /// Processors
    Cpu,
}

impl From<Who> for By {
    fn from(who: Who) -> By {
        match who {
            Who::Thread => By::Thread,
            Who::Node => By::Node,
            Who::Cpu => By::Cpu,
        }
    }
}

/// Runs the program step by step.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let format = arguments.format.format;
    let plan = arguments.memory.plan.as_deref().map(read_plan).transpose()?;
    let placement = Placement { memory: &arguments.memory.memory, plan: plan.as_ref() };
    let mut session = Session::new(&arguments.run, &arguments.program)?;
    let line_bytes = session.machine.processor.l2.line.0;
    let mut step = Step::first();
    let mut rows = Vec::new();
    if format == Format::Csv {
        output::print(&RefineStep::csv_header())?;
    }
    for number in 1.. {
        let filters = step.filters(arguments.kinds, arguments.by.into());
        session.program_card(CardProgram { filters, ..CardProgram::default() });
        let what = format!("step {number}, granules of {} bytes", step.granule_bytes);
        let profile = session.run(&placement, ProgramStdout::ToStderr, &what)?;
        let learnt = step.learn(&profile.facts.filters);
        let shown =
            RefineStep { number, step: &step, learnt: &learnt, profile: &profile, by: arguments.by.into() };
        match format {
            Format::Table => output::print(&(shown.table(output::style(), arguments.top) + "\n"))?,
            Format::Csv => output::print(&shown.csv())?,
            Format::Json => rows.push(shown.row()),
        }
        match step.next(&learnt, line_bytes) {
            Ok(next) => step = next,
            Err(stop) => {
                if format == Format::Json {
                    output::print(&refine_json(&session.name(), &rows, stop))?;
                }
                output::say(&refine_ending(stop, number));
                return Ok(if learnt.accesses == 0 { Outcome::Negative } else { Outcome::Done });
            }
        }
    }
    unreachable!("granules get smaller with each step")
}
