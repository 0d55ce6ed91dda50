//! The topology that the caller expects, held against the one found.

use crate::checks::Outcome;
use olifant_machine::CpuSet;
use rset::System;

/// Compares; the error is a text that is no topology.
pub fn check(system: &System, text: &str) -> Result<Outcome, String> {
    let mut expected = Vec::new();
    for word in text.split_whitespace() {
        let parts: Vec<&str> = word.split(':').collect();
        let [id, cpus, memory] = parts.as_slice() else {
            return Err(format!("{word:?} is not NODE:CPUS:m or NODE:CPUS:-"));
        };
        let id: u16 = id.parse().map_err(|_| format!("{id:?} is not a node"))?;
        let cpus: CpuSet = cpus.parse().map_err(|error| format!("{error}"))?;
        expected.push(format!("{id}:{cpus}:{memory}"));
    }
    let found: Vec<String> = system
        .hierarchy()
        .nodes()
        .iter()
        .map(|node| format!("{}:{}:{}", node.id, node.cpus, if node.has_memory { "m" } else { "-" }))
        .collect();
    Ok(if found == expected {
        Outcome::Ok(found.join(" "))
    } else {
        Outcome::Failed(format!("found {}", found.join(" ")))
    })
}
