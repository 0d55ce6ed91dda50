//! AIX's form, `-c LIST -m LIST`: exactly these cpus and exactly these nodes' memory.
//!
//! Source: mkrset and execrset of AIX 7, "-c CPUlist" and "-m MEMlist". Lists are Linux cpulists, which contain AIX's
//! `1,3-5`. The parts come in any order and unite if repeated. Whether a machine has the members is not looked at, so
//! that a set reads back wherever it was printed.

use super::SetTextError;
use super::scanner::Scanner;
use crate::ResourceSet;
use olifant_machine::{IdSet, SetMember};

/// Reads from the first `-` to the end.
pub(super) fn read(mut scanner: Scanner<'_>) -> Result<ResourceSet, SetTextError> {
    let mut set = ResourceSet::empty();
    while !scanner.is_at_end() {
        if scanner.take("-c") {
            set.cpus = set.cpus.union(&list(&mut scanner, "cpus")?);
        } else if scanner.take("-m") {
            set.nodes = set.nodes.union(&list(&mut scanner, "nodes")?);
        } else {
            return Err(scanner.error("expected -c and a list of cpus, or -m and a list of nodes"));
        }
    }
    Ok(set)
}

/// A list up to the next option, and the blanks after it.
fn list<M: SetMember>(scanner: &mut Scanner<'_>, noun: &str) -> Result<IdSet<M>, SetTextError> {
    scanner.skip_blanks();
    let start = scanner.clone();
    let rest = scanner.rest();
    // A minus inside a list stands after a digit; an option stands after a blank.
    let end = rest.find(" -").unwrap_or(rest.len());
    let text = rest[..end].trim_end();
    scanner.take(text);
    scanner.skip_blanks();
    if text.is_empty() || text.starts_with('-') {
        return Err(start.error(format!("expected a list of {noun}")));
    }
    text.parse()
        .map_err(|error: olifant_machine::SetSyntaxError| start.error_at_character(error.at, error.problem))
}
