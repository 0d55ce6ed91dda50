//! The `olifant` command: reads the command line, hands over to one module per subcommand, and turns the outcome into
//! an exit code. Nothing is decided here that a library could decide.

mod arguments;
mod commands;
mod definition;
mod host_recording;
mod host_run;
mod inside;
mod machines;
mod outcome;
mod output;
mod progress;
mod rules;
mod session;
mod sources;
mod top;

use clap::Parser;
use definition::{Command, Olifant};
use olifant_frontend::driver::Language;
use outcome::Outcome;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words = commands::compile::words_for_name(std::env::args_os().collect());
    let launches = outcome::is_launcher(&words);
    let command = match Olifant::try_parse_from(&words) {
        Ok(olifant) => olifant.command,
        Err(answer) => return refuse(&answer, launches),
    };
    match execute(command) {
        Ok(outcome) => outcome.code(),
        Err(error) => {
            eprintln!("olifant: {}", output::chain(&error));
            outcome::code_of_failure(&error, launches)
        }
    }
}

fn execute(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Run(arguments) => commands::run::execute(&arguments),
        Command::Record(arguments) => commands::record::execute(&arguments),
        Command::Refine(arguments) => commands::refine::execute(&arguments),
        Command::Import(arguments) => commands::import::execute(&arguments),
        Command::Report(arguments) => commands::report::execute(&arguments),
        Command::Advise(arguments) => commands::advise::execute(&arguments),
        Command::Tune(arguments) => commands::tune::execute(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::execute(&arguments),
        Command::Topology(arguments) => commands::topology::execute(&arguments),
        Command::Exec(arguments) => commands::exec::execute(&arguments),
        Command::Rset(arguments) => commands::rset::execute(&arguments),
        Command::Where(arguments) => commands::where_::execute(&arguments),
        Command::Top(arguments) => commands::top::execute(&arguments),
        Command::Move(arguments) => commands::move_::execute(&arguments),
        Command::Lab(arguments) => commands::lab::execute(&arguments),
        Command::LabAgent(arguments) => commands::lab::serve(&arguments),
        Command::Cc(arguments) => commands::compile::execute("cc", Language::C, arguments),
        Command::Cxx(arguments) => commands::compile::execute("c++", Language::Cxx, arguments),
        Command::Fc(arguments) => commands::compile::execute("fc", Language::Fortran, arguments),
        Command::Hooks(arguments) => commands::compile::write_hooks(&arguments),
        Command::Completions(arguments) => commands::pages::write_completions(&arguments),
        Command::Man(arguments) => commands::pages::write_man(&arguments),
    }
}

/// Prints what clap has to say: help and version go to stdout and are no failure.
fn refuse(answer: &clap::Error, launches: bool) -> ExitCode {
    // Nobody is left to tell when the terminal itself is gone.
    let _ = answer.print();
    if !answer.use_stderr() {
        return ExitCode::SUCCESS;
    }
    ExitCode::from(if launches { outcome::LAUNCHER_FAILED } else { outcome::FAILED })
}
