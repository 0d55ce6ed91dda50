//! What the preload library is told about a program that runs on the host, and what it tells back: where threads run,
//! which heap serves malloc, the plan resolved to code addresses, and what came of it.
//!
//! The launcher writes an [`InsideSpec`] to a file without a name (memfd_create(2)) and names its descriptor in the
//! variable [`PRELOAD_VARIABLE`]; the library inside the program reads it before `main`. The file begins with a page of
//! counters, which the processes of one run share where children are placed too. The form is postcard: both ends are built
//! together, and [`INSIDE_MAGIC`] refuses a foreign one.

use crate::spec::{AreaRule, SpecError};
use olifant_machine::{CpuId, NodeId};
use serde::{Deserialize, Serialize};

/// The environment variable that names the file: `/proc/PID/fd/N`.
pub const PRELOAD_VARIABLE: &str = "OLIFANT_PRELOAD";

/// The library's file name.
pub const PRELOAD_LIBRARY: &str = "libolifant_preload.so";

/// First bytes of the specification: a name and the version of the form.
pub const INSIDE_MAGIC: &[u8; 8] = b"oliins01";

/// Where the specification begins in its file, behind the page of counters.
pub const SPEC_OFFSET: usize = 4096;

/// What the library is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InsideSpec {
    /// The machine's nodes, ascending by number, so that the library need not look for them.
    pub nodes: Vec<InsideNode>,
    /// Row a, column b: from node a to node b, in order of `nodes`.
    pub distances: Vec<Vec<u64>>,
    /// The cpus that the program is started on, where threads run that are left alone.
    pub cpus: Vec<CpuId>,
    /// Where threads run.
    pub threads: ThreadRules,
    /// Which heap serves malloc and its kin; `None` for one without a policy of its own.
    pub heap: Option<HeapRule>,
    /// What goes where; the first rule that matches an area holds. Numbers are the host's.
    pub rules: Vec<AreaRule>,
    /// Child processes are placed too, in the same order.
    pub has_children: bool,
    /// The file for an [`InsideReport`]; `None` makes none.
    pub report: Option<String>,
}

/// A node of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideNode {
    /// Its number.
    pub id: NodeId,
    /// Its cpus.
    pub cpus: Vec<CpuId>,
    /// Whether it has memory.
    pub has_memory: bool,
}

/// Where threads run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRules {
    /// The cpus of the threads that are placed, in order, from the start again after the end; empty leaves them alone.
    pub order: Vec<CpuId>,
    /// Threads that are left alone and take no place in the order, by number (0 is the first).
    pub skip: Vec<u32>,
    /// Threads with cpus of their own; they take no place in the order. The first rule that matches holds.
    pub own: Vec<ThreadRule>,
    /// Processes of this name only (the executable's file name); `None` for all.
    pub process: Option<String>,
}

/// A rule for certain threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRule {
    /// Which threads.
    pub which: WhichThreads,
    /// The cpus that they may run on; empty leaves them where the program itself was started.
    pub cpus: Vec<CpuId>,
}

/// Which threads a rule is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhichThreads {
    /// By number in the order of creation, first and last.
    Numbers(u32, u32),
    /// By name (see pthread_setname_np(3)), where `*` stands for any letters and `?` for one.
    Name(String),
}

/// A heap under a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapRule {
    /// The policy, in the text form of `--heap`.
    pub policy: String,
    /// The nodes that it may use.
    pub nodes: Vec<NodeId>,
}

/// What the library did, as read back from the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideReport {
    /// Threads that were bound, and are where they were bound to.
    pub threads_bound: u64,
    /// Threads that the kernel refused to bind.
    pub threads_refused: u64,
    /// For each rule, in order.
    pub areas: Vec<AreasFound>,
}

/// The pages of a rule's areas, read back when an area is given up or the program ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreasFound {
    /// Areas that matched the rule.
    pub areas: u64,
    /// Areas that could not be placed, for which the program has ordinary memory.
    pub unplaced: u64,
    /// Areas that were given up without a look, for there were too many.
    pub unread: u64,
    /// Pages where they belong.
    pub at_home: u64,
    /// Pages elsewhere.
    pub elsewhere: u64,
    /// Pages that the program never touched.
    pub absent: u64,
    /// Why pages are elsewhere, or areas without a place.
    pub causes: Vec<String>,
}

impl InsideSpec {
    /// The specification as bytes, to stand at [`SPEC_OFFSET`].
    /// # Errors  `Damaged` if it cannot be encoded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SpecError> {
        let mut bytes = INSIDE_MAGIC.to_vec();
        bytes.extend(postcard::to_allocvec(self).map_err(|error| SpecError::Damaged(error.to_string()))?);
        Ok(bytes)
    }

    /// Reads such bytes.
    /// # Errors  `Foreign` without the magic, `Damaged` if what follows does not decode.
    pub fn from_bytes(bytes: &[u8]) -> Result<InsideSpec, SpecError> {
        let body = bytes.strip_prefix(INSIDE_MAGIC.as_slice()).ok_or(SpecError::Foreign)?;
        postcard::from_bytes(body).map_err(|error| SpecError::Damaged(error.to_string()))
    }
}

impl InsideReport {
    /// The report as the bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain numbers and texts always encode.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// Reads such bytes; `None` if the program left nothing.
    pub fn from_bytes(bytes: &[u8]) -> Option<InsideReport> {
        postcard::from_bytes(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_reads_back_and_a_foreign_one_is_refused() {
        let spec = InsideSpec {
            threads: ThreadRules { order: vec![CpuId(3), CpuId(1)], skip: vec![1], ..ThreadRules::default() },
            heap: Some(HeapRule { policy: "striped:8".into(), nodes: vec![NodeId(0), NodeId(2)] }),
            ..InsideSpec::default()
        };
        let bytes = spec.to_bytes().unwrap();
        assert_eq!(InsideSpec::from_bytes(&bytes), Ok(spec));
        assert_eq!(InsideSpec::from_bytes(b"something else"), Err(SpecError::Foreign));
        assert!(matches!(InsideSpec::from_bytes(&bytes[..12]), Err(SpecError::Damaged(_))));
    }
}
