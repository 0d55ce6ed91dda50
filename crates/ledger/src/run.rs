//! A run as a definition: everything that its result depends on besides the program's code, and the name that follows from it.

use olifant_machine::FramePolicy;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Cycles that a processor may run ahead; `olifant run`'s default.
pub(crate) const QUANTUM_CYCLES: u64 = 1000;
/// Seed of what is drawn at random.
pub(crate) const SEED: u64 = 0;

/// Everything that a run's result depends on, besides the program. Equal definitions are one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunDefinition {
    /// Name of the program.
    pub program: String,
    /// Its arguments.
    pub arguments: String,
    /// Its number of threads.
    pub thread_count: u32,
    /// Name of the machine.
    pub machine: String,
    /// The part of it, as `4N4`.
    pub configuration: String,
    /// Digest of that part's description.
    pub machine_digest: String,
    /// Where threads run, in the form of `--threads`: a list of cpus, or `float`.
    pub threads: String,
    /// Where pages live, in the form of `--memory`.
    pub memory: String,
    /// How frames are chosen.
    pub frames: FramePolicy,
    /// Whether pages are taken when memory is allocated.
    pub locked: bool,
    /// Cycles per instruction in place of the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpi: Option<f64>,
    /// Misses in flight at once in place of the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misses: Option<u32>,
    /// Whether the advisor's plan from such a run is applied.
    pub advised: bool,
    /// Cycles that a processor may run ahead of the others.
    pub quantum_cycles: u64,
    /// Seed of what is drawn at random.
    pub seed: u64,
    /// A few steps in place of all, and how many all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepRun>,
    /// Arguments of a short run that shows where the layout's memory is allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The layout by hand; empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layout: Vec<LayoutPart>,
}

/// A few steps in place of all: what two short runs differ in is taken to go on to the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRun {
    /// Arguments of the shorter run.
    pub few_arguments: String,
    /// Arguments of the longer run.
    pub more_arguments: String,
    /// Steps of the shorter run.
    pub few: u32,
    /// Steps of the longer run.
    pub more: u32,
    /// All steps.
    pub all: u32,
}

impl StepRun {
    /// Two short runs of a command line; none where it does not count steps by `option`, or has hardly more.
    pub fn new(arguments: &str, option: &str, few: u32, more: u32) -> Option<Self> {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let at = words.iter().position(|word| *word == option)? + 1;
        let all: u32 = words.get(at)?.parse().ok()?;
        let with = |steps: u32| {
            let steps = steps.to_string();
            let mut words = words.clone();
            words[at] = &steps;
            words.join(" ")
        };
        let steps = StepRun { few_arguments: with(few), more_arguments: with(more), few, more, all };
        (few < more && more < all).then_some(steps)
    }

    /// From a value after few steps and one after more to the value after all.
    pub fn extrapolate(&self, few: f64, more: f64) -> f64 {
        few + (more - few) / f64::from(self.more - self.few) * f64::from(self.all - self.few)
    }
}

/// Where one allocation's memory goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutPart {
    /// A function on the path to the allocation.
    pub site: String,
    /// Nodes of equal parts, as `0,0,1,1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<String>,
    /// Or a memory policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

impl RunDefinition {
    /// The definition as TOML.
    pub fn to_toml(&self) -> String {
        // A definition has no value that TOML lacks.
        toml::to_string(self).unwrap_or_else(|error| unreachable!("a definition is always TOML: {error}"))
    }

    /// A name of 16 hexadecimal digits that other definitions do not have.
    pub fn key(&self) -> String {
        digest(self.to_toml().as_bytes())
    }

    /// The run in a few words, for a person.
    pub fn words(&self) -> String {
        let placement = match (self.advised, self.layout.is_empty()) {
            (true, _) => ", advised",
            (false, false) => ", layout",
            (false, true) => "",
        };
        format!(
            "{} {} on {} {}, threads {}, memory {}{placement}",
            self.program, self.arguments, self.machine, self.configuration, self.threads, self.memory
        )
    }
}

/// The first 16 hexadecimal digits of the SHA-256 of some bytes.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Some definition.
    pub(crate) fn definition(program: &str, threads: u32) -> RunDefinition {
        RunDefinition {
            program: program.to_owned(),
            arguments: format!("-p {threads}"),
            thread_count: threads,
            machine: "olifant".to_owned(),
            configuration: "4N4".to_owned(),
            machine_digest: "0".repeat(16),
            threads: "0".to_owned(),
            memory: "any".to_owned(),
            frames: FramePolicy::Coloured,
            locked: true,
            cpi: Some(1.25),
            misses: None,
            advised: false,
            quantum_cycles: QUANTUM_CYCLES,
            seed: SEED,
            steps: None,
            probe: None,
            layout: vec![LayoutPart { site: "main".into(), parts: Some("0,1".into()), policy: None }],
        }
    }

    #[test]
    fn a_definition_reads_back_equal_and_keeps_its_key() {
        let definition = definition("jacobi", 2);
        let back: RunDefinition = toml::from_str(&definition.to_toml()).unwrap();
        assert_eq!(back, definition);
        assert_eq!(back.key(), definition.key());
    }

    #[test]
    fn what_grows_by_steps_is_extrapolated_exactly() {
        let steps = StepRun::new("-r 20 -i 500 -p 4", "-i", 4, 10).unwrap();
        assert_eq!(steps.few_arguments, "-r 20 -i 4 -p 4");
        let after = |steps: u32| 7.0 + 3.0 * f64::from(steps);
        assert_eq!(steps.extrapolate(after(4), after(10)), after(500));
        assert_eq!(StepRun::new("-r 20 -i 5 -p 4", "-i", 4, 10), None);
        assert_eq!(StepRun::new("-r 20 -p 4", "-i", 4, 10), None);
    }

    #[test]
    fn every_part_of_a_definition_is_in_its_key() {
        let first = definition("jacobi", 2);
        let others = [
            RunDefinition { arguments: "-p 3".into(), ..first.clone() },
            RunDefinition { cpi: Some(1.5), ..first.clone() },
            RunDefinition { frames: FramePolicy::Random, ..first.clone() },
            RunDefinition { locked: false, ..first.clone() },
            RunDefinition { layout: Vec::new(), ..first.clone() },
            RunDefinition { advised: true, ..first.clone() },
            RunDefinition { machine_digest: "1".repeat(16), ..first.clone() },
        ];
        for other in others {
            assert_ne!(other.key(), first.key(), "{other:?}");
        }
    }
}
