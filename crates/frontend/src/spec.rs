//! What an instrumented program is told about its run: the machine, the policies, the plan resolved to code addresses,
//! where to leave the profile.
//!
//! The launcher writes a [`RunSpec`] to a file and names the file in the environment variable [`RUN_VARIABLE`]; the
//! runtime inside the program reads it before any constructor runs and removes the variable. The form is postcard:
//! both ends are built together, so the file needs no versions, only [`SPEC_MAGIC`] to refuse a foreign one.

use olifant_machine::{Machine, NodeId};
use olifant_opium::CardProgram;
use olifant_placement::{MemoryPolicy, ThreadPolicy};
use serde::{Deserialize, Serialize};

/// The environment variable that names the specification's file.
pub const RUN_VARIABLE: &str = "OLIFANT_RUN";

/// First bytes of a specification file: a name and the version of the form.
pub const SPEC_MAGIC: &[u8; 8] = b"olirun01";

/// Symbol that every instrumented program has; how a launcher knows one.
pub const MARKER_SYMBOL: &str = "__olifant_runtime_version";

/// Value of the marker: raised when hooks and runtime change their contract.
pub const RUNTIME_VERSION: u32 = 1;

/// What a run is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The simulated machine, `--config` applied; ids dense.
    pub machine: Machine,
    /// The same as text, for the profile.
    pub machine_toml: String,
    /// The configuration, as `4N4`.
    pub configuration: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// Which processor a new thread gets. A plan's thread list arrives here as `ThreadPolicy::List`.
    pub threads: ThreadPolicy,
    /// The same in the form of `--threads`, for the profile.
    pub threads_text: String,
    /// Which node backs a page that no rule of the plan names.
    pub memory: MemoryPolicy,
    /// The same in the form of `--memory`, for the profile.
    pub memory_text: String,
    /// Cycles that a processor may run ahead of the others.
    pub quantum_cycles: u64,
    /// Bytes per granule of the profile, a power of two.
    pub granule_bytes: u64,
    /// The program as given, for the profile.
    pub program: String,
    /// Its arguments without the program itself, for the profile.
    pub args: Vec<String>,
    /// Where the profile goes; `None` makes none.
    pub dump: Option<String>,
    /// Host seconds between checkpoints of the profile; 0 makes none.
    pub checkpoint_seconds: u32,
    /// The plan's text, for the profile.
    pub plan_text: Option<String>,
    /// What goes where; the first rule that matches an area holds.
    pub rules: Vec<AreaRule>,
    /// Global symbols of the program that are areas of their own, ascending by address.
    pub globals: Vec<GlobalSymbol>,
    /// Pages are taken when memory is allocated, not when it is first touched.
    pub is_locked: bool,
    /// More threads than processors may run, sharing processors by time slices.
    pub allow_oversubscription: bool,
    /// What the monitor card is programmed to do.
    pub card: CardProgram,
    /// The areas that the card's filters name.
    pub watches: Vec<Watch>,
}

/// An area that a filter of the card watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The filter's number.
    pub filter: u32,
    /// How the area is recognised.
    pub area: AreaKey,
}

/// A global symbol of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobalSymbol {
    /// Its name.
    pub name: String,
    /// Its address at run time (programs are linked without position independence).
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// One decision of a plan, resolved for run time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AreaRule {
    /// Which areas it holds for.
    pub area: AreaKey,
    /// Where their pages go.
    pub place: Place,
}

/// How an area is recognised at run time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AreaKey {
    /// An allocation: some call of its path returns into one of these ranges.
    Site {
        /// Half-open ranges of code addresses.
        code: Vec<CodeRange>,
        /// Size in bytes; `None` matches any.
        bytes: Option<u64>,
        /// 0-based ordinal among the allocations of the same site and size; `None` matches all.
        ordinal: Option<u32>,
    },
    /// The stacks of all threads.
    Stacks,
    /// Small allocations, which share pages, where no entry is for their site.
    Small,
    /// Memory of the program's image, by address.
    Range {
        /// First address.
        start: u64,
        /// Size in bytes.
        bytes: u64,
    },
}

/// A half-open range of code addresses in one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeRange {
    /// Path of the shared library as loaded, or its file name; empty for the program itself.
    pub module: String,
    /// First address, as in the file (for the program itself that is the run-time address).
    pub start: u64,
    /// End address.
    pub end: u64,
}

/// Where the pages of an area go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// All of it by one policy.
    Policy(MemoryPolicy),
    /// Runs of pages, from the area's first page on; the last run's node also takes pages beyond the sum.
    Blocks(Vec<PageRun>),
    /// As many equal parts as nodes, in order, each on its node; cut at the nearest page.
    Parts(Vec<NodeId>),
}

/// So many consecutive pages on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRun {
    /// Number of pages.
    pub pages: u64,
    /// Where they live.
    pub node: NodeId,
}

/// The runs of equal parts ([`Place::Parts`]) of an area of `bytes` bytes in pages of `page_bytes`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of an area's pages")]
pub fn equal_parts(nodes: &[NodeId], bytes: u64, page_bytes: u64) -> Vec<PageRun> {
    let pages = bytes as f64 / page_bytes as f64;
    let cut = |part: usize| (pages * part as f64 / nodes.len() as f64).round() as u64;
    let run = |(part, &node)| PageRun { pages: cut(part + 1) - cut(part), node };
    nodes.iter().enumerate().map(run).collect()
}

/// Why bytes are not a specification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The file does not begin with the magic.
    #[error("not a run specification of this version of olifant: rebuild the program with `olifant cc`")]
    Foreign,
    /// The file begins well and is damaged or from another build.
    #[error("run specification: {0}: rebuild the program with the `olifant cc` of this version")]
    Damaged(String),
}

impl RunSpec {
    /// The specification as the bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SpecError> {
        let mut bytes = SPEC_MAGIC.to_vec();
        bytes.extend(postcard::to_allocvec(self).map_err(|e| SpecError::Damaged(e.to_string()))?);
        Ok(bytes)
    }

    /// Reads the bytes of a specification file.
    /// # Errors  `Foreign` without the magic, `Damaged` if what follows does not decode.
    pub fn from_bytes(bytes: &[u8]) -> Result<RunSpec, SpecError> {
        let body = bytes.strip_prefix(SPEC_MAGIC.as_slice()).ok_or(SpecError::Foreign)?;
        postcard::from_bytes(body).map_err(|e| SpecError::Damaged(e.to_string()))
    }
}
