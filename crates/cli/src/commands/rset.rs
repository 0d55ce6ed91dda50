//! `olifant rset`: named resource sets, made, shown and used.

use crate::arguments::{Format, FormatArguments};
use crate::outcome::Outcome;
use crate::output;
use anyhow::anyhow;
use clap::{Args, Subcommand};
use olifant_exec::{Failed, Host, enter, exec};
use olifant_sys::Pid;
use rset::registry::{Entry, Scope};
use rset::{ResourceSet, System};
use std::ffi::OsString;

const EXAMPLES: &str = "\
Examples:
  olifant rset make left 'nodes=0-1'
  olifant rset make --system batch/night 'package:1'
  olifant rset show left near:2
  olifant rset exec left -- ./program
  olifant rset attach left 4711

A set may be written as: a Linux list of cpus 0-3,8; exact -c 0-3 -m 0;
nodes=0-1 or cpus=+0-3 (numactl); netdev:eth0, block:sda, file:/data;
package:0.core:2-3 or 0xff (hwloc); S0:0-1@S1:0-1 (likwid); near:2, near:2:3;
all, none; or the name of a set.";

/// Arguments of `rset`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

/// What to do with sets.
#[derive(Debug, Subcommand)]
enum Action {
    /// Keeps a set under a name
    Make(MakeArguments),
    /// Lists the named sets
    List(ListArguments),
    /// Shows what sets are on this machine
    Show(ShowArguments),
    /// Forgets a named set
    Remove(RemoveArguments),
    /// Binds all threads of a running process to a set's cpus
    Attach(AttachArguments),
    /// Runs a program bound to a set's cpus and memory
    Exec(ExecArguments),
}

/// Whose sets.
#[derive(Debug, Args)]
struct ScopeArguments {
    /// The system's sets, in place of your own
    ///
    /// Example: --system
    #[arg(long)]
    system: bool,
}

#[derive(Debug, Args)]
struct MakeArguments {
    #[command(flatten)]
    scope: ScopeArguments,

    /// Replace a set of that name
    ///
    /// Example: --replace
    #[arg(long)]
    replace: bool,

    /// Permission bits of the set: who may read and change it
    ///
    /// Example: --mode 600
    #[arg(long, value_name = "OCTAL", default_value = "644", value_parser = octal)]
    mode: u32,

    /// The name, or NAMESPACE/NAME
    #[arg(value_name = "NAME")]
    name: String,

    /// The set; several are united
    #[arg(value_name = "SET", required = true, allow_hyphen_values = true)]
    sets: Vec<String>,
}

#[derive(Debug, Args)]
struct ListArguments {
    #[command(flatten)]
    format: FormatArguments,
}

#[derive(Debug, Args)]
struct ShowArguments {
    /// The sets
    #[arg(value_name = "SET", required = true, allow_hyphen_values = true)]
    sets: Vec<String>,
}

#[derive(Debug, Args)]
struct RemoveArguments {
    #[command(flatten)]
    scope: ScopeArguments,

    /// The names
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

#[derive(Debug, Args)]
struct AttachArguments {
    /// The set
    #[arg(value_name = "SET")]
    set: String,

    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    process: i32,
}

#[derive(Debug, Args)]
struct ExecArguments {
    /// The set
    #[arg(value_name = "SET")]
    set: String,

    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, num_args = 1..)]
    command: Vec<OsString>,
}

fn octal(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("expected permission bits from 0 to 777".to_owned()),
    }
}

impl ScopeArguments {
    fn scope(&self) -> Scope {
        if self.system { Scope::System } else { Scope::User }
    }
}

/// Does what was asked.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut host = Host::default();
    match &arguments.action {
        Action::Make(arguments) => make(arguments, host.system()?),
        Action::List(arguments) => list(arguments, host.system()?),
        Action::Show(arguments) => {
            for text in &arguments.sets {
                output::print(&format!("{}\n", host.system()?.parse(text)?))?;
            }
            Ok(Outcome::Done)
        }
        Action::Remove(arguments) => {
            for name in &arguments.names {
                host.system()?.registry().remove(name, arguments.scope.scope())?;
            }
            Ok(Outcome::Done)
        }
        Action::Attach(arguments) => {
            let system = host.system()?;
            let bound = system.bind_process(Pid(arguments.process), &system.parse(&arguments.set)?)?;
            output::say(&format!("olifant: {} threads now run on cpus {}", bound.threads.len(), bound.cpus));
            Ok(Outcome::Done)
        }
        Action::Exec(arguments) => launch(arguments, &mut host),
    }
}

fn make(arguments: &MakeArguments, system: &System) -> anyhow::Result<Outcome> {
    // `-c 0-3 -m 0` arrives as four words, and is one set.
    let texts = if arguments.sets.iter().any(|text| text.starts_with('-')) {
        vec![arguments.sets.join(" ")]
    } else {
        arguments.sets.clone()
    };
    let mut set = ResourceSet::empty();
    for text in &texts {
        set = set.union(&system.parse(text)?);
    }
    let kept = system.registry().put(
        &arguments.name,
        &set,
        arguments.scope.scope(),
        arguments.mode,
        arguments.replace,
    )?;
    output::print(&format!("{} {}\n", kept.name, kept.set))?;
    Ok(Outcome::Done)
}

fn list(arguments: &ListArguments, system: &System) -> anyhow::Result<Outcome> {
    let entries = system.registry().list()?;
    let scope = |entry: &Entry| if entry.scope == Scope::User { "user" } else { "system" };
    let text = match arguments.format.format {
        Format::Table => entries
            .iter()
            .map(|entry| {
                let (name, owner, mode) = (&entry.name, entry.owner, entry.mode);
                format!("{name:<24} {:<6} {owner:>6} {mode:03o}  {}\n", scope(entry), entry.set)
            })
            .collect(),
        Format::Json => {
            let rows: Vec<_> = entries
                .iter()
                .map(|entry| {
                    serde_json::json!({
                        "name": entry.name, "scope": scope(entry), "owner": entry.owner,
                        "mode": format!("{:03o}", entry.mode), "cpus": entry.set.cpus.to_string(),
                        "nodes": entry.set.nodes.to_string(), "path": entry.path,
                    })
                })
                .collect();
            serde_json::Value::from(rows).to_string() + "\n"
        }
        Format::Csv => {
            let rows = entries.iter().map(|entry| {
                format!(
                    "{},{},{},{:03o},\"{}\",\"{}\"\n",
                    entry.name,
                    scope(entry),
                    entry.owner,
                    entry.mode,
                    entry.set.cpus,
                    entry.set.nodes
                )
            });
            std::iter::once("name,scope,owner,mode,cpus,nodes\n".to_owned()).chain(rows).collect::<String>()
        }
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}

/// Becomes the program, bound to the set; the codes of a failure are env(1)'s.
fn launch(arguments: &ExecArguments, host: &mut Host) -> anyhow::Result<Outcome> {
    let ready = || -> anyhow::Result<ResourceSet> { Ok(host.system()?.parse(&arguments.set)?) };
    let failure = match ready() {
        Ok(set) => match enter(&set, host) {
            Ok(remarks) => {
                for remark in &remarks {
                    output::say(&format!("olifant: {remark}"));
                }
                exec(&arguments.command, &[])
            }
            Err(error) => error,
        },
        Err(error) => olifant_exec::ExecError::Usage(output::chain(&anyhow!(error))),
    };
    output::say(&format!("olifant: {failure}"));
    Ok(Outcome::Program(Failed { error: failure, as_numactl: false }.exit_code().into()))
}
