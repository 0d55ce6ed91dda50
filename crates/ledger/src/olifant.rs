//! Makes runs by calling the `olifant` command, a process for each, so that several go on at a time and none can harm
//! another.

use crate::{
    Counters, LedgerError, Machines, Provenance, Record, RunDefinition, Runner, StepRun, layout, run::digest,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

/// The command and the programs that it runs.
#[derive(Debug, Clone)]
pub struct Olifant {
    /// The `olifant` command.
    pub command: PathBuf,
    /// The folder of instrumented programs.
    pub programs: PathBuf,
    /// Where machines are found.
    pub machines: Machines,
}

/// What `olifant run --format json` prints.
#[derive(serde::Deserialize)]
struct Run {
    seconds: f64,
    accesses: u64,
    l1_misses: u64,
    l2_misses: u64,
    request_packets: u64,
    response_packets: u64,
    network_bytes: u64,
    host_seconds: f64,
    digest: String,
    tlb_misses: u64,
    upgrades: u64,
    write_backs: u64,
    remote_transactions: u64,
    exit_code: i32,
    complete: bool,
}

impl Olifant {
    /// A digest of a program's file: what a record must have been made with to be of this build.
    /// # Errors  The program cannot be read.
    pub fn program_digest(&self, program: &str) -> Result<String, LedgerError> {
        let path = self.programs.join(program);
        let bytes = std::fs::read(&path).map_err(|source| LedgerError::Read {
            path,
            source,
            hint: "; build the programs with make, or name their folder with --programs",
        })?;
        Ok(digest(&bytes))
    }

    /// `olifant ACTION` with the options that every run of a definition has.
    fn command(&self, action: &str, definition: &RunDefinition) -> Command {
        let mut command = Command::new(&self.command);
        command.arg(action).arg("--on").arg(self.machines.argument(&definition.machine));
        command.args(["--config", &definition.configuration]);
        command.args(["--threads", &definition.threads, "--memory", &definition.memory]);
        command.args(["--frames", definition.frames.word(), "--seed", &definition.seed.to_string()]);
        command.args(["--quantum", &definition.quantum_cycles.to_string(), "--format", "json"]);
        if definition.locked {
            command.arg("--locked");
        }
        if let Some(cpi) = definition.cpi {
            command.args(["--cpi", &cpi.to_string()]);
        }
        if let Some(misses) = definition.misses {
            command.args(["--misses", &misses.to_string()]);
        }
        command
    }

    /// Ends a command line with the program and its arguments, runs it, and wants success.
    fn finish(
        &self,
        command: &mut Command,
        definition: &RunDefinition,
        arguments: &str,
    ) -> Result<Output, LedgerError> {
        command.arg("--").arg(self.programs.join(&definition.program)).args(arguments.split_whitespace());
        let output = call(command, definition)?;
        if output.status.success() { Ok(output) } else { Err(failed(definition, &output)) }
    }

    /// Writes the plan that the run needs into `folder`; none where it needs none, or where the advisor leaves the
    /// placement alone.
    fn plan(&self, definition: &RunDefinition, folder: &Path) -> Result<Option<PathBuf>, LedgerError> {
        let (profile, plan) = (folder.join("profile.olp"), folder.join("plan.toml"));
        if definition.advised {
            let mut record = self.command("record", definition);
            let arguments =
                definition.steps.as_ref().map_or(&definition.arguments, |steps| &steps.more_arguments);
            self.finish(record.arg("--output").arg(&profile), definition, arguments)?;
            let mut advise = Command::new(&self.command);
            let advice = call(advise.arg("advise").arg("--output").arg(&plan).arg(&profile), definition)?;
            return match advice.status.code() {
                Some(0) => Ok(Some(plan)),
                Some(1) => Ok(None),
                _ => Err(failed(definition, &advice)),
            };
        }
        let Some(probe) = &definition.probe else { return Ok(None) };
        let mut record = self.command("record", definition);
        self.finish(record.arg("--output").arg(&profile), definition, probe)?;
        let fail = |problem: String| LedgerError::Run { run: definition.words(), problem };
        let profile = olifant_store::read(&profile).map_err(|error| fail(error.to_string()))?;
        let text = layout::plan(definition, &profile).map_err(fail)?.to_toml();
        std::fs::write(&plan, text).map_err(|source| LedgerError::Write { path: plan.clone(), source })?;
        Ok(Some(plan))
    }
}

impl Olifant {
    /// One run with these arguments, under a plan if there is one.
    fn measure(
        &self,
        definition: &RunDefinition,
        arguments: &str,
        plan: Option<&Path>,
    ) -> Result<(Run, Printed), LedgerError> {
        let mut command = self.command("run", definition);
        if let Some(plan) = plan {
            command.arg("--plan").arg(plan);
        }
        let output = self.finish(&mut command, definition, arguments)?;
        let fail = |problem: String| LedgerError::Run { run: definition.words(), problem };
        let run: Run = serde_json::from_slice(&output.stdout)
            .map_err(|error| fail(format!("what it printed is no run: {error}")))?;
        if !run.complete || run.exit_code != 0 {
            return Err(fail("it was cut short".to_owned()));
        }
        let mut printed = Printed::read(&String::from_utf8_lossy(&output.stderr));
        printed.counters.get_or_insert_with(|| whole(&run));
        Ok((run, printed))
    }
}

impl Runner for Olifant {
    fn run(&self, definition: &RunDefinition) -> Result<Record, LedgerError> {
        let folder = tempfile::tempdir()
            .map_err(|source| LedgerError::Write { path: std::env::temp_dir(), source })?;
        let program = self.program_digest(&definition.program)?;
        let plan = self.plan(definition, folder.path())?;
        let (run, printed) = match &definition.steps {
            None => self.measure(definition, &definition.arguments, plan.as_deref())?,
            Some(steps) => extrapolate(
                steps,
                self.measure(definition, &steps.few_arguments, plan.as_deref())?,
                self.measure(definition, &steps.more_arguments, plan.as_deref())?,
            ),
        };
        Ok(Record {
            digest: run.digest,
            seconds: run.seconds,
            program_seconds: printed.seconds,
            accesses: run.accesses,
            definition: definition.clone(),
            counters: printed.counters.unwrap_or_default(),
            figures: printed.figures,
            provenance: Provenance {
                date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string()[..10].to_owned(),
                host: host(),
                host_seconds: run.host_seconds,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                program,
            },
        })
    }
}

/// What all steps would give, from few and more of them. Accesses and host time are those that were spent.
fn extrapolate(steps: &StepRun, few: (Run, Printed), more: (Run, Printed)) -> (Run, Printed) {
    let seconds = |few: f64, more: f64| steps.extrapolate(few, more);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are below 2^53")]
    let count = |few: u64, more: u64| steps.extrapolate(few as f64, more as f64).max(0.0).round() as u64;
    let run = Run {
        seconds: seconds(few.0.seconds, more.0.seconds),
        accesses: few.0.accesses + more.0.accesses,
        host_seconds: few.0.host_seconds + more.0.host_seconds,
        digest: format!("{} {}", few.0.digest, more.0.digest),
        ..more.0
    };
    let (short, long) = (few.1.counters.unwrap_or_default(), more.1.counters.unwrap_or_default());
    let printed = Printed {
        seconds: few.1.seconds.zip(more.1.seconds).map(|(few, more)| seconds(few, more)),
        counters: Some(short.combine(&long, count)),
        figures: more.1.figures,
    };
    (run, printed)
}

fn call(command: &mut Command, definition: &RunDefinition) -> Result<Output, LedgerError> {
    command.stdin(Stdio::null()).output().map_err(|error| LedgerError::Run {
        run: definition.words(),
        problem: format!("cannot start {}: {error}", command.get_program().display()),
    })
}

/// The last words of a command that failed.
fn failed(definition: &RunDefinition, output: &Output) -> LedgerError {
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    LedgerError::Run { run: definition.words(), problem: format!("{}: {last}", output.status) }
}

/// The processor and the number of cores, as far as the system tells.
fn host() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}, {cores} cores", model.map_or("unknown processor", |(_, name)| name.trim()))
}

fn whole(run: &Run) -> Counters {
    Counters {
        accesses: run.accesses,
        l1_misses: run.l1_misses,
        l2_misses: run.l2_misses,
        upgrades: run.upgrades,
        write_backs: run.write_backs,
        remote_transactions: run.remote_transactions,
        request_packets: run.request_packets,
        response_packets: run.response_packets,
        network_bytes: run.network_bytes,
        tlb_misses: run.tlb_misses,
    }
}

/// What a program of the suite says about itself.
#[derive(Debug, Default, PartialEq)]
struct Printed {
    /// `time: 1.5 s`
    seconds: Option<f64>,
    /// `counted: NAME NUMBER`, all of them.
    counters: Option<Counters>,
    /// `figure: NAME NUMBER`
    figures: BTreeMap<String, f64>,
}

impl Printed {
    fn read(text: &str) -> Self {
        let mut printed = Printed::default();
        let mut counted = serde_json::Map::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["time:", seconds, "s"] => printed.seconds = seconds.parse().ok(),
                ["counted:", name, number] => {
                    counted.insert(name.to_owned(), number.parse::<u64>().unwrap_or_default().into());
                }
                ["figure:", name, number] => {
                    printed.figures.extend(number.parse().ok().map(|number: f64| (name.to_owned(), number)));
                }
                _ => {}
            }
        }
        printed.counters = serde_json::from_value(counted.into()).ok();
        printed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_words_are_found_among_others() {
        let names = [
            "accesses",
            "l1_misses",
            "l2_misses",
            "upgrades",
            "write_backs",
            "remote_transactions",
            "request_packets",
            "response_packets",
            "network_bytes",
            "tlb_misses",
        ];
        let counted: String = names.iter().map(|name| format!("counted: {name} 7\n")).collect();
        let printed = Printed::read(&format!(
            "jacobi: 3 x 3 doubles\ntime: 0.250000 s\n{counted}figure: benchmark_bytes_per_s 2.5e8\nverify: ok\n"
        ));
        assert_eq!(printed.seconds, Some(0.25));
        assert_eq!(printed.counters.map(|counters| counters.tlb_misses), Some(7));
        assert_eq!(printed.figures["benchmark_bytes_per_s"], 2.5e8);
    }

    #[test]
    fn without_all_counters_there_are_none() {
        assert_eq!(Printed::read("counted: accesses 7\n").counters, None);
    }
}
