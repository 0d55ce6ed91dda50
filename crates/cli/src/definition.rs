//! The command line as one definition: the parser, the help, the man pages and the completions all come from here.

use crate::commands::{
    advise, compile, exec, import, lab, move_, pages, record, refine, report, reproduce, rset, run, top,
    topology, tune, where_,
};
use clap::{Parser, Subcommand};

const AFTER_HELP: &str = "\
The main job, in two commands:
  olifant cc -O2 -pthread -o ocean ocean.c
  olifant tune --baseline striped:1 -- ./ocean -n 514 -p 16

Exit codes: 0 done; 1 a negative answer (leave the placement alone); 2 wrong
usage or failure. `run` and `record` pass the program's own code on, and use 125
for a failure of olifant, 126 for a program that cannot be run, 127 for one that
is not found.

stdout carries data, stderr everything said to a person.";

/// Finds which data each thread reaches on other nodes, places threads and data, and proves the gain by a second run
///
/// The program runs on a simulated cache-coherent NUMA machine (by default `olifant`, four nodes of four processors).
/// Build it with `olifant cc` in place of gcc or clang; its source stays as it is.
#[derive(Debug, Parser)]
#[command(name = "olifant", version, max_term_width = 80, after_help = AFTER_HELP, after_long_help = AFTER_HELP)]
#[command(propagate_version = false, subcommand_required = true, arg_required_else_help = true)]
pub struct Olifant {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// One subcommand each.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a program on a machine and says what it did there
    Run(run::Arguments),
    /// Runs a program and keeps what was measured in a profile file
    Record(record::Arguments),
    /// Makes a profile of a file that perf recorded
    Import(import::Arguments),
    /// Shows a profile: totals, nodes, links, and the areas that mattered most
    Report(report::Arguments),
    /// Runs a program under ever finer filters: from the whole memory to single lines
    Refine(refine::Arguments),
    /// Makes a plan from a profile: which thread and which data go where, and why
    Advise(advise::Arguments),
    /// Runs a program, plans its placement, runs it again with the plan, and compares
    Tune(tune::Arguments),
    /// Reproduces published tables and figures, each value with its error
    Reproduce(reproduce::Arguments),
    /// Shows a machine: its nodes, processors, caches, links and distances
    Topology(topology::Arguments),
    /// Starts a program on chosen cpus and memory; also in numactl's words
    Exec(exec::Arguments),
    /// Makes, lists, shows and uses named resource sets
    Rset(rset::Arguments),
    /// Shows where a process's threads run and its pages live
    Where(where_::Arguments),
    /// Shows a running process live: threads, nodes, pages and what is accessed
    Top(top::Arguments),
    /// Moves a process's pages and threads to other nodes
    Move(move_::Arguments),
    /// Runs a command on a real kernel in a guest with a machine's topology
    Lab(lab::Arguments),
    /// Compiles and links C for olifant; use it as CC=
    Cc(compile::Arguments),
    /// Compiles and links C++ for olifant; use it as CXX=
    #[command(name = "c++")]
    Cxx(compile::Arguments),
    /// Compiles and links Fortran for olifant; use it as FC=
    Fc(compile::Arguments),
    /// Writes a completion script for a shell
    Completions(pages::CompletionArguments),
    /// Compiles the runtime's hooks in advance
    #[command(hide = true)]
    Hooks(compile::HooksArguments),
    /// Serves `olifant lab` inside its guest
    #[command(hide = true)]
    LabAgent(lab::AgentArguments),
    /// Writes the man pages
    #[command(hide = true)]
    Man(pages::ManArguments),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Olifant::command().debug_assert();
    }

    #[test]
    fn every_option_has_help_with_an_example() {
        for subcommand in Olifant::command().get_subcommands() {
            for option in subcommand.get_opts().filter(|option| option.get_id() != "help") {
                let help = option.get_long_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Example: "), "{} --{}", subcommand.get_name(), option.get_id());
            }
        }
    }

    #[test]
    fn every_subcommand_has_a_line_for_the_list() {
        for subcommand in Olifant::command().get_subcommands() {
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && !about.ends_with('.'), "{}: {about:?}", subcommand.get_name());
        }
    }

    #[test]
    fn what_follows_the_program_is_the_programs() {
        let olifant =
            Olifant::try_parse_from(["olifant", "run", "./ocean", "--seed", "7", "-n", "4"]).unwrap();
        assert!(
            format!("{olifant:?}").contains("[\"./ocean\", \"--seed\", \"7\", \"-n\", \"4\"]"),
            "{olifant:?}"
        );
    }
}
