//! `olifant lab`: a command in a guest computer with a machine's topology; and the agent inside that guest.

use crate::arguments::MachineArguments;
use crate::outcome::Outcome;
use crate::{machines, output};
use anyhow::Context;
use clap::{Args, ValueEnum};
use olifant_lab::{Accelerator, Ending, LabRun};
use olifant_machine::Bytes;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  olifant lab -- numactl --hardware
  olifant lab --on x4800 --config 4N2 -- ./test-placement
  olifant lab --on ./uneven.toml

The guest has the host's files under their own paths, read only but for the
current folder; /tmp, /run, /var/tmp and /dev/shm are its own, and so are
processes, devices and cgroups. The command runs as root. Balancing of pages
between nodes is off; sysctl kernel.numa_balancing=1 in the guest turns it on.
The exit code is the command's (128 + n for a signal n), 124 if it took too long.

Needs qemu-system-x86_64 and a static busybox (Debian: qemu-system-x86,
busybox-static). The kernel is Debian's for clouds, fetched once with apt-get
download and never installed.";

/// The exit code for a command that took too long, as timeout(1) gives it.
const TIMED_OUT: i32 = 124;

/// Arguments of `lab`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,

    /// Kernel to boot in place of Debian's; virtio-pci, virtio-console and fuse must be built in
    ///
    /// Example: --kernel ./bzImage
    #[arg(long, value_name = "FILE", help_heading = "Guest")]
    kernel: Option<PathBuf>,

    /// Megabytes (2^20 bytes) of each node that has memory; the machine's own sizes are not kept
    ///
    /// Example: --node-memory 512
    #[arg(long, value_name = "MEGABYTES", default_value_t = 192, value_parser = clap::value_parser!(u64).range(32..=65536), help_heading = "Guest")]
    node_memory: u64,

    /// What carries out the guest's instructions: kvm or emulation; without it, KVM where it works
    ///
    /// Example: --accelerator emulation, for the same conditions on every host
    #[arg(long, value_name = "KIND", value_enum, hide_possible_values = true, help_heading = "Guest")]
    accelerator: Option<AcceleratorName>,

    /// Boot afresh, and save nothing; without it a guest saved after an earlier boot goes on from there
    ///
    /// Example: --fresh, to see the kernel boot
    #[arg(long, help_heading = "Guest")]
    fresh: bool,

    /// Switch the guest off if the command takes longer than this many seconds
    ///
    /// Example: --time-limit 60
    #[arg(long, value_name = "SECONDS", help_heading = "Guest")]
    time_limit: Option<u64>,

    /// The command and its arguments; without it, a shell
    ///
    /// Example: -- numactl --hardware
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Arguments of the agent.
#[derive(Debug, Args)]
pub struct AgentArguments {
    /// Become the program on this terminal, in place of serving
    ///
    /// Example: --terminal /dev/pts/0 -- sh
    #[arg(long, value_name = "TERMINAL")]
    terminal: Option<PathBuf>,

    /// The program and its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// The names of the accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AcceleratorName {
    /// The host's processor
    Kvm,
    /// QEMU's translator
    Emulation,
}

/// Runs the command in the guest.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let machine = machines::choose(&arguments.machine)?;
    let lab = LabRun {
        machine,
        memory_per_node: Bytes(arguments.node_memory << 20),
        kernel: arguments.kernel.clone(),
        accelerator: arguments.accelerator.map(|name| match name {
            AcceleratorName::Kvm => Accelerator::Kvm,
            AcceleratorName::Emulation => Accelerator::Emulated,
        }),
        use_saved: !arguments.fresh,
        time_limit: arguments.time_limit.map(Duration::from_secs),
        command: if arguments.command.is_empty() { vec![shell()] } else { arguments.command.clone() },
        folder: std::env::current_dir().context("no current folder")?,
        olifant: std::env::current_exe().context("cannot find the path of olifant itself")?,
    };
    match olifant_lab::run(&lab, &|remark| output::say(&format!("olifant: {remark}")))? {
        Ending::Code(code) => Ok(Outcome::Program(code)),
        Ending::TimedOut => {
            let seconds = arguments.time_limit.unwrap_or_default();
            output::say(&format!(
                "olifant: the command took longer than {seconds} s; the guest was switched off"
            ));
            Ok(Outcome::Program(TIMED_OUT))
        }
    }
}

/// The user's shell, which the guest has too.
fn shell() -> OsString {
    std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())
}

/// Serves as the agent in a guest.
pub fn serve(arguments: &AgentArguments) -> anyhow::Result<Outcome> {
    if let Some(terminal) = &arguments.terminal {
        let error = olifant_lab::agent::start_on_terminal(terminal, &arguments.command);
        let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
        output::say(&format!("olifant: {}: {error}", arguments.command.join(" ".as_ref()).to_string_lossy()));
        return Ok(Outcome::Program(code));
    }
    olifant_lab::agent::serve().context("lab-agent is what `olifant lab` starts in its guest")?;
    Ok(Outcome::Done)
}
