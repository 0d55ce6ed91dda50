//! `policies.toml`: the papers' labels for thread and memory policies, and what they mean here.

use olifant_machine::FramePolicy;
use olifant_placement::{MemoryPolicy, ThreadPolicy};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// All labels.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policies {
    /// Of threads, as `t1`.
    pub threads: BTreeMap<String, ThreadsRule>,
    /// Of memory, as `m2`.
    pub memory: BTreeMap<String, MemoryRule>,
}

/// What a label for threads means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadsRule {
    /// The policy.
    #[serde(deserialize_with = "parsed")]
    pub policy: ThreadPolicy,
}

/// What a label for memory means.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRule {
    /// Which node backs a page.
    #[serde(deserialize_with = "parsed")]
    pub policy: MemoryPolicy,
    /// Which frames of a node do.
    pub frames: FramePolicy,
    /// Whether pages are taken when memory is allocated.
    pub locked: bool,
    /// Whether the application's layout by hand applies.
    #[serde(default)]
    pub layout: bool,
}

fn parsed<'de, D: Deserializer<'de>, T: core::str::FromStr<Err: core::fmt::Display>>(
    from: D,
) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}
