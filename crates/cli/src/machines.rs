//! From `--on` and `--config` to a machine: a built-in one by name, the host, or one from a machine file.

use crate::arguments::MachineArguments;
use anyhow::{Context, anyhow};
use olifant_machine::{Machine, catalogue};
use std::path::Path;

/// The name of the machine in front of us.
pub const HOST: &str = "host";

/// The machine that the options name, with the configuration applied.
pub fn choose(arguments: &MachineArguments) -> anyhow::Result<Machine> {
    let machine = by_name(&arguments.on)?;
    match &arguments.config {
        Some(configuration) => Ok(machine.configure(configuration)?),
        None => Ok(machine),
    }
}

/// A word with a folder or the end `.toml` is a file; any other is a name.
fn by_name(on: &str) -> anyhow::Result<Machine> {
    if on.contains('/') || on.ends_with(".toml") {
        let text = std::fs::read_to_string(Path::new(on))
            .with_context(|| format!("cannot read machine file {on}"))?;
        return Ok(Machine::from_toml(&text).map_err(|error| error.in_file(on.to_owned()))?);
    }
    if on == HOST {
        return Ok(olifant_host::find_machine(&olifant_host::Root::new("/"))?);
    }
    catalogue::find(on).map_err(|error| {
        anyhow!("{error}, {HOST} (this computer), or a machine file with a name that ends in .toml")
    })
}
