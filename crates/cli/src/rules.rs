//! A plan's names as addresses: what the runtime compares while the program runs needs no lookup of symbols then.

use anyhow::bail;
use olifant_frontend::spec::{AreaKey, AreaRule, CodeRange, GlobalSymbol, PageRun, Place, Watch};
use olifant_opium::CardProgram;
use olifant_opium::filter::Target;
use olifant_placement::{AreaMatch, AreaPlan, Decision, FOR_SMALL, FOR_STACKS, MemoryPolicy, Plan};
use olifant_store::symbols::{LineTable, SymbolError, global_symbols};
use std::path::Path;

/// How the names of statics begin that come into a program with the runtime, and are none of its own data.
const OF_RUNTIME: [&str; 6] = ["std::", "core::", "alloc::", "olifant_", "__olifant_", "__rust"];

/// What a program's symbols make of a plan.
#[derive(Debug, Default)]
pub struct Resolved {
    /// The program's globals, ascending by address.
    pub globals: Vec<GlobalSymbol>,
    /// The plan's entries that move something, the most particular first.
    pub rules: Vec<AreaRule>,
    /// What each rule is for, as the plan writes it, in the same order.
    pub names: Vec<String>,
    /// Entries that name nothing in this program, as remarks for a person.
    pub remarks: Vec<String>,
}

/// Finds the names of `plan` in `program`.
/// # Errors  if the program cannot be read.
pub fn resolve(program: &Path, plan: Option<&Plan>) -> Result<Resolved, SymbolError> {
    let globals: Vec<GlobalSymbol> = global_symbols(program)?
        .into_iter()
        .filter(|symbol| !is_of_runtime(&symbol.name))
        .map(|symbol| GlobalSymbol { name: symbol.name, address: symbol.address, bytes: symbol.bytes })
        .collect();
    let mut resolved = Resolved { globals, ..Resolved::default() };
    let Some(plan) = plan else { return Ok(resolved) };
    let lines = LineTable::open(program)?;
    for entry in plan.movers() {
        match key(&entry.area, &lines, &resolved.globals) {
            Some(area) => {
                let rule = place(&entry.decision).map(|place| AreaRule { area, place });
                resolved.names.extend(rule.as_ref().map(|_| entry.area.to_string()));
                resolved.rules.extend(rule);
            }
            None => resolved.remarks.push(remark(entry)),
        }
    }
    Ok(resolved)
}

/// The areas that the card's filters name: a global, `file:line`, or an area as reports show it, `function (file:line)`; a `#2` at
/// the end is the third of its site.
///
/// # Errors
/// If the program cannot be read, or has nothing of that name.
pub fn watches(program: &Path, card: &CardProgram, globals: &[GlobalSymbol]) -> anyhow::Result<Vec<Watch>> {
    let mut watches = Vec::new();
    let mut lines = None;
    for (filter, spec) in (0..).zip(&card.filters) {
        let Target::Area(name) = &spec.target else { continue };
        if let Some(global) = globals.iter().find(|global| global.name == *name) {
            let area = AreaKey::Range { start: global.address, bytes: global.bytes };
            watches.push(Watch { filter, area });
            continue;
        }
        let lines = match &mut lines {
            Some(lines) => lines,
            none => none.insert(LineTable::open(program)?),
        };
        let code = match site(name) {
            Some((file, line)) => lines.addresses_of_line(file, line),
            None => lines.addresses_of_function(name.split_once('#').map_or(name, |(name, _)| name)),
        };
        let code = code_ranges(code);
        if code.is_empty() {
            bail!(
                "filter {name}: {} has no global, no function and no FILE:LINE of this name (was it built with -g?)",
                program.display()
            );
        }
        let ordinal = name.rsplit_once('#').and_then(|(_, ordinal)| ordinal.parse().ok());
        watches.push(Watch { filter, area: AreaKey::Site { code, bytes: None, ordinal } });
    }
    Ok(watches)
}

/// File and line of an area's name.
fn site(name: &str) -> Option<(&str, u32)> {
    let name = name.split_once('#').map_or(name, |(name, _)| name).trim_end();
    let inner = name.rsplit_once(" (").and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    let (file, line) = inner.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

fn code_ranges(code: Vec<std::ops::Range<u64>>) -> Vec<CodeRange> {
    let range =
        |range: std::ops::Range<u64>| CodeRange { module: String::new(), start: range.start, end: range.end };
    code.into_iter().map(range).collect()
}

/// Whether a demangled name is of the runtime: `olifant_rt::state::RUNTIME`, `<std::io::...>::CACHE`.
fn is_of_runtime(name: &str) -> bool {
    let path = name.trim_start_matches(['<', '&']);
    OF_RUNTIME.iter().any(|start| path.starts_with(start))
}

fn key(area: &AreaMatch, lines: &LineTable, globals: &[GlobalSymbol]) -> Option<AreaKey> {
    match area {
        AreaMatch::Symbol(name) if name == FOR_STACKS => Some(AreaKey::Stacks),
        AreaMatch::Symbol(name) if name == FOR_SMALL => Some(AreaKey::Small),
        AreaMatch::Symbol(name) => {
            let global = globals.iter().find(|global| global.name == *name)?;
            Some(AreaKey::Range { start: global.address, bytes: global.bytes })
        }
        AreaMatch::Site { function, file, line, bytes, ordinal } => {
            let code = if *line == 0 {
                code_ranges(lines.addresses_of_function(function))
            } else {
                code_ranges(lines.addresses_of_line(file, *line))
            };
            (!code.is_empty()).then_some(AreaKey::Site { code, bytes: *bytes, ordinal: *ordinal })
        }
    }
}

/// Where the pages go; nothing for advice that moves nothing.
fn place(decision: &Decision) -> Option<Place> {
    match decision {
        Decision::Policy(policy) => Some(Place::Policy(policy.clone())),
        Decision::Blocks(runs) => {
            Some(Place::Blocks(runs.iter().map(|run| PageRun { pages: run.pages, node: run.node }).collect()))
        }
        Decision::Parts(nodes) => Some(Place::Parts(nodes.clone())),
        // Without copies, what every node reads is best spread evenly.
        Decision::Replicate => Some(Place::Policy(MemoryPolicy::Striped { pages: 1 })),
        Decision::Pad => None,
    }
}

fn remark(entry: &AreaPlan) -> String {
    match &entry.area {
        AreaMatch::Symbol(name) => format!("plan: the program has no global {name}; the entry is left out"),
        AreaMatch::Site { function, line: 0, .. } => {
            format!("plan: the program has no function {function}; the entry is left out")
        }
        AreaMatch::Site { function, file, line, .. } => format!(
            "plan: no code of the program is from {file}:{line} ({function}); the entry is left out \
             (was it built with -g, from the same source?)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statics_of_the_runtime_are_not_the_programs() {
        for name in
            ["<std::backtrace::Cache as core::X>::CACHE", "olifant_rt::state::RUNTIME", "__olifant_tags"]
        {
            assert!(is_of_runtime(name), "{name}");
        }
        for name in ["grid", "main.both", "solver::grid", "standard", "coredump"] {
            assert!(!is_of_runtime(name), "{name}");
        }
    }
}
