//! From a command line to the program: options are read and carried out on this process, which then becomes it.

use crate::command_line::{CommandLine, OptionForm};
use crate::numactl::Numactl;
use crate::own::Own;
use crate::{ExecError, Inside, World, dialect, memory};
use olifant_placement::{ResourceSet, SetPolicy};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whose command line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// numactl's, with options of our own.
    #[default]
    Numactl,
    /// dplace's.
    Dplace,
    /// execrset's.
    Execrset,
}

/// What came of a command line.
#[derive(Debug)]
pub enum Launch {
    /// This process is ready to become the program.
    Ready {
        /// The program and its arguments.
        command: Vec<OsString>,
        /// Variables that it is to have.
        environment: Vec<(&'static str, OsString)>,
        /// What is to be done inside of it, if anything.
        inside: Option<Box<Inside>>,
    },
    /// Something was shown instead; the exit code.
    Shown {
        /// For standard output.
        text: String,
        /// 0, or 1 where a verification failed.
        code: u8,
    },
}

/// A command line that was read and carried out.
#[derive(Debug)]
pub struct Prepared {
    /// What came of it.
    pub launch: Launch,
    /// Remarks for a person.
    pub remarks: Vec<String>,
    /// Whether exit codes are numactl's.
    pub as_numactl: bool,
}

/// A failure, with whose exit codes it gets.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub error: ExecError,
    /// Whether exit codes are numactl's.
    pub as_numactl: bool,
}

impl Failed {
    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        self.error.exit_code(self.as_numactl)
    }
}

/// Reads the words of a command line and carries the options out on this process.
/// # Errors  [`Failed`].
pub fn prepare(dialect: Dialect, words: &[OsString], world: &mut dyn World) -> Result<Prepared, Failed> {
    let plain = |error| Failed { error, as_numactl: false };
    match dialect {
        Dialect::Numactl => prepare_numactl(words, world),
        Dialect::Dplace => {
            let (own, command) = dialect::dplace(words, world).map_err(plain)?;
            ready(&own, command, world).map_err(plain)
        }
        Dialect::Execrset => {
            let (set, command) = dialect::execrset(words, world).map_err(plain)?;
            let mut remarks = Vec::new();
            if let Some(set) = set {
                remarks = enter(&set, world).map_err(plain)?;
            }
            let prepared = ready(&Own::default(), command, world).map_err(plain)?;
            Ok(Prepared { remarks, ..prepared })
        }
    }
}

/// Puts this process into a set: mandatory for cpus, and for memory by policy. The remarks say what has no effect.
/// # Errors  `Refused`.
pub fn enter(set: &ResourceSet, world: &mut dyn World) -> Result<Vec<String>, ExecError> {
    let mut remarks = Vec::new();
    if set.cpus.is_empty() {
        remarks.push("the set has no cpus: the program runs where it did before".to_owned());
    } else if let Some(problem) = world.run_on(&set.cpus)? {
        return Err(ExecError::Refused(problem));
    }
    if set.nodes.is_empty() {
        remarks.push("the set has no memory: the program's memory is where it was before".to_owned());
    } else if let Some(policy) = memory::process_policy(&SetPolicy::FirstTouch, Some(&set.nodes), world)? {
        world.use_policy(&policy)?;
    }
    Ok(remarks)
}

fn prepare_numactl(words: &[OsString], world: &mut dyn World) -> Result<Prepared, Failed> {
    let plain = |error| Failed { error, as_numactl: false };
    let forms: Vec<OptionForm> = crate::numactl::FORMS.into_iter().chain(crate::own::FORMS).collect();
    let mut line = CommandLine::new(&forms, words);
    let mut numactl = Numactl::default();
    let mut own = Own::default();
    // numactl shows and is done, whatever follows.
    while numactl.text.is_none() {
        // Where nothing is known to be olifant's own, it is numactl that would have been asked.
        let as_numactl = |error, own: &Own| Failed { error, as_numactl: !own.places() };
        let Some(given) = line.next().map_err(|error| as_numactl(error, &own))? else { break };
        if !own.take(given.name, &given.value).map_err(plain)? {
            numactl.take(given.name, &given.value, world).map_err(|error| as_numactl(error, &own))?;
        }
    }
    let as_numactl = numactl.was_used && !own.places();
    let failed = |error| Failed { error, as_numactl };
    if let Some(text) = numactl.text.take() {
        return Ok(Prepared { launch: Launch::Shown { text, code: 0 }, remarks: Vec::new(), as_numactl });
    }
    let command = line.command();
    let runs = if numactl.was_used {
        numactl.finish(!command.is_empty()).map_err(failed)?
    } else {
        !command.is_empty()
    };
    if !runs && !numactl.was_used {
        return Err(failed(ExecError::Usage("no command given".to_owned())));
    }
    if !runs {
        let text = numactl.text.take().unwrap_or_default();
        let code = u8::from(!numactl.is_verified());
        return Ok(Prepared { launch: Launch::Shown { text, code }, remarks: numactl.remarks, as_numactl });
    }
    let prepared = ready(&own, command, world).map_err(failed)?;
    let mut remarks = numactl.remarks;
    remarks.extend(prepared.remarks);
    if own.reports {
        remarks.push(report(world).map_err(failed)?);
    }
    Ok(Prepared { remarks, as_numactl, ..prepared })
}

/// What the program will run under, as the system tells it.
fn report(world: &dyn World) -> Result<String, ExecError> {
    Ok(format!("cpus {}, memory {}", world.cpus()?, world.policy()?))
}

/// Carries out olifant's own options for this process, and says what is left to be done for the command.
/// # Errors  As [`Own::apply`]; `Usage` without a command.
pub fn ready(own: &Own, command: &[OsString], world: &mut dyn World) -> Result<Prepared, ExecError> {
    let Some(program) = command.first() else { return Err(ExecError::Usage("no command given".to_owned())) };
    let effect = own.apply(program, world)?;
    let inside = effect.inside.map(Box::new);
    let launch = Launch::Ready { command: command.to_vec(), environment: effect.environment, inside };
    Ok(Prepared { launch, remarks: effect.remarks, as_numactl: false })
}

/// Becomes the program; returns only where that fails.
pub fn exec(command: &[OsString], environment: &[(&'static str, OsString)]) -> ExecError {
    let Some((program, arguments)) = command.split_first() else {
        return ExecError::Usage("no command given".to_owned());
    };
    let error = Command::new(program)
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .exec();
    let program = program.to_string_lossy().into_owned();
    if error.kind() == std::io::ErrorKind::NotFound {
        return ExecError::NotFound(program);
    }
    ExecError::NotExecutable { program, problem: error.to_string() }
}

/// The file that a program's name means, as execvp(3) finds it.
pub fn locate(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests;
