//! `applications.toml`: programs with their sizes, the constants fitted to them, and the papers' layouts by hand.

use super::Use;
use serde::Deserialize;

/// A program at a paper's size.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// How experiments name it.
    pub key: String,
    /// As published values spell it.
    pub name: String,
    /// Another spelling.
    pub also: Option<String>,
    /// The program.
    pub program: String,
    /// Its arguments; `{threads}` and `{bytes}` are put in.
    pub arguments: String,
    /// Arguments of a check in minutes.
    pub quick: String,
    /// Which numbers of threads it takes.
    #[serde(default)]
    pub threads: ThreadRule,
    /// How to run a few of its steps in place of all.
    pub steps: Option<Steps>,
    /// Floating-point operations of its timed part, where a closed form is known.
    pub flops: Option<f64>,
    /// Cycles per instruction in place of the machine's, fitted to its time with one thread.
    pub cpi: Option<f64>,
    /// Misses in flight at once in place of the machine's, likewise.
    pub misses: Option<u32>,
    /// Whether the machine was calibrated on it: then all its rows are calibration.
    #[serde(rename = "use", default)]
    pub usage: Use,
    /// The layout by hand.
    #[serde(default)]
    pub layout: Vec<Layout>,
}

/// How to run a few of a program's steps in place of all: two runs, whose difference is so many steps.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// The option that counts steps.
    pub option: String,
    /// Steps of the shorter run.
    pub few: u32,
    /// Steps of the longer run.
    pub more: u32,
}

/// Which numbers of threads a program takes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ThreadRule {
    /// Any.
    #[default]
    #[serde(rename = "any")]
    Any,
    /// Powers of two.
    #[serde(rename = "power of two")]
    PowerOfTwo,
}

impl ThreadRule {
    /// Whether the program runs with so many threads.
    pub fn allows(self, threads: u32) -> bool {
        self == ThreadRule::Any || threads.is_power_of_two()
    }
}

/// Where one allocation's memory goes in the layout by hand.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// A function on the path to the allocation.
    pub site: String,
    /// How it is dealt out.
    pub parts: Parts,
}

/// How memory of a layout is dealt out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Parts {
    /// As many equal parts as threads, each on its thread's node.
    Threads,
    /// A memory policy, as `first-touch` or `striped:1`.
    Policy(olifant_placement::MemoryPolicy),
}

impl TryFrom<String> for Parts {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "threads" {
            return Ok(Parts::Threads);
        }
        text.parse().map(Parts::Policy).map_err(|error| format!("parts: threads or a memory policy: {error}"))
    }
}
