//! `olifant topology`: a machine as a picture, a table or in the forms that other tools read.

use crate::arguments::MachineArguments;
use crate::outcome::Outcome;
use crate::{machines, output};
use clap::{Args, ValueEnum};
use olifant_machine::catalogue;
use olifant_report::topology;

const EXAMPLES: &str = "\
Examples:
  olifant topology
  olifant topology --on mine.toml --config 2N4 --format json
  olifant topology --on host --format xml | lstopo --if xml -i -
  olifant topology --on olifant --format toml > mine.toml";

/// Arguments of `topology`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,

    /// List the machines that come with olifant, and show none
    ///
    /// Example: topology --list
    #[arg(long, help_heading = "Machine")]
    list: bool,

    /// Form: picture, table, json, toml, xml (hwloc), synthetic (hwloc)
    ///
    /// Example: --format toml > mine.toml, as a start for a machine of your own
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Picture, hide_possible_values = true, help_heading = "Output")]
    format: Form,
}

/// The form of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Nodes and links as text
    Picture,
    /// Every property with its unit
    Table,
    /// For a program
    Json,
    /// A machine file
    Toml,
    /// hwloc's XML
    Xml,
    /// hwloc's one-line form
    Synthetic,
}

/// Shows the machine, or the list of machines.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if arguments.list {
        for name in catalogue::names() {
            output::print(&format!("{name:<12} {}\n", catalogue::find(name)?.description))?;
        }
        return Ok(Outcome::Done);
    }
    let machine = machines::choose(&arguments.machine)?;
    output::print(&match arguments.format {
        Form::Picture => topology::picture(&machine),
        Form::Table => topology::table(&machine),
        Form::Json => topology::json(&machine),
        Form::Toml => machine.to_toml(),
        Form::Xml => machine.to_hwloc_xml()?,
        Form::Synthetic => machine.to_hwloc_synthetic()? + "\n",
    })?;
    Ok(Outcome::Done)
}
