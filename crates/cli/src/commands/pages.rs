//! `olifant completions` and the hidden `olifant man`: the command line's definition as shell completions and man pages.

use crate::definition::Olifant;
use crate::outcome::Outcome;
use crate::output;
use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  olifant completions bash > ~/.local/share/bash-completion/completions/olifant"
)]
pub struct CompletionArguments {
    /// Shell to write for: bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Folder for olifant.1, olifant-run.1, ...; it must exist
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Writes the completion script to stdout.
pub fn write_completions(arguments: &CompletionArguments) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Olifant::command(), "olifant", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}

/// Writes a man page for the command and for each subcommand.
pub fn write_man(arguments: &ManArguments) -> anyhow::Result<Outcome> {
    clap_mangen::generate_to(Olifant::command(), &arguments.folder)
        .with_context(|| format!("cannot write man pages to {}", arguments.folder.display()))?;
    Ok(Outcome::Done)
}
