//! A plan from its text. Each error names the line, the key and the law broken; unknown keys are refused.

use crate::plan::{AreaMatch, AreaPlan, Decision, Plan, Prediction, Run};
use crate::toml_table::Table;
use crate::{MemoryPolicy, ThreadPolicy, cpu_list, site_text};
use olifant_machine::{CpuId, NodeId};

/// Why a plan's text was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It is not TOML.
    #[error("plan, line {line}: not TOML: {problem}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// The parser's words.
        problem: String,
    },
    /// A key that plans don't have.
    #[error("plan, line {line}: {table} has no key {key:?}{hint}; known: {known}")]
    UnknownKey {
        /// Line, from 1.
        line: usize,
        /// The table it stands in.
        table: &'static str,
        /// The key.
        key: String,
        /// ` (did you mean "...")`, or nothing.
        hint: String,
        /// The keys known there.
        known: String,
    },
    /// A key that must be there.
    #[error("plan, line {line}: {table} needs {key}")]
    Missing {
        /// Line where its table begins, from 1.
        line: usize,
        /// The table.
        table: &'static str,
        /// The key, or the keys of which one is needed.
        key: &'static str,
    },
    /// A value that breaks a law.
    #[error("plan, line {line}: {key}: {law}")]
    Law {
        /// Line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// The law, and how it was broken.
        law: String,
    },
}

impl Plan {
    /// Reads a plan from TOML.
    /// # Errors  [`PlanError`] names line, key and law.
    pub fn from_toml(text: &str) -> Result<Plan, PlanError> {
        let document = Table::parse(text)?;
        document.only(&["program", "machine", "configuration", "threads", "predicted", "area"])?;
        let areas = document.tables("area", "[[area]]")?;
        Ok(Plan {
            program: document.string("program")?.unwrap_or_default(),
            machine: document.string("machine")?.unwrap_or_default(),
            configuration: document.string("configuration")?.unwrap_or_default(),
            threads: threads(&document)?,
            areas: areas.iter().map(area).collect::<Result<_, _>>()?,
            predicted: document.table("predicted", "[predicted]")?.as_ref().map(prediction).transpose()?,
        })
    }
}

fn threads(document: &Table) -> Result<Vec<CpuId>, PlanError> {
    match document.string("threads")?.map(|list| list.parse()) {
        None => Ok(Vec::new()),
        Some(Ok(ThreadPolicy::List(cpus))) => Ok(cpus),
        Some(Ok(_)) => Err(document.law("threads", "a plan gives cpus, as in \"0,4,8-11\", not a policy")),
        Some(Err(error)) => Err(document.law("threads", &error.to_string())),
    }
}

fn prediction(table: &Table) -> Result<Prediction, PlanError> {
    table.only(&["remote_before", "remote_after", "time_ratio"])?;
    let time_ratio = table.number("time_ratio")?.ok_or_else(|| table.missing("time_ratio"))?;
    if !time_ratio.is_finite() || time_ratio < 0.0 {
        return Err(table.law("time_ratio", "a share of the time before is finite and not negative"));
    }
    Ok(Prediction {
        remote_before: table.needed_whole("remote_before")?,
        remote_after: table.needed_whole("remote_after")?,
        time_ratio,
    })
}

fn area(table: &Table) -> Result<AreaPlan, PlanError> {
    table.only(&[
        "site",
        "function",
        "file",
        "line",
        "bytes",
        "ordinal",
        "symbol",
        "policy",
        "blocks",
        "parts",
        "advice",
        "reason",
        "remote_before",
        "remote_after",
    ])?;
    Ok(AreaPlan {
        area: area_match(table)?,
        decision: decision(table)?,
        reason: table.string("reason")?.unwrap_or_default(),
        remote_before: table.whole("remote_before")?.unwrap_or(0),
        remote_after: table.whole("remote_after")?.unwrap_or(0),
    })
}

fn area_match(table: &Table) -> Result<AreaMatch, PlanError> {
    let key = table.one_of(&["site", "function", "symbol"], "site, function or symbol")?;
    if key == "symbol" {
        for other in ["file", "line", "bytes", "ordinal"] {
            if table.has(other) {
                return Err(table.law(other, "only an allocation has it, and this area is a symbol"));
            }
        }
        return Ok(AreaMatch::Symbol(table.string("symbol")?.unwrap_or_default()));
    }
    let (function, file, line) = if key == "site" {
        for other in ["file", "line"] {
            if table.has(other) {
                return Err(table.law(other, "it goes with function; site already says it"));
            }
        }
        let site = table.string("site")?.unwrap_or_default();
        let (function, file, line) = site_text::parse(&site);
        (function.to_owned(), file.to_owned(), line)
    } else {
        (
            table.string("function")?.unwrap_or_default(),
            table.string("file")?.unwrap_or_default(),
            table.whole_u32("line")?.unwrap_or(0),
        )
    };
    let (bytes, ordinal) = (table.whole("bytes")?, table.whole_u32("ordinal")?);
    Ok(AreaMatch::Site { function, file, line, bytes, ordinal })
}

fn decision(table: &Table) -> Result<Decision, PlanError> {
    let key = table.one_of(&["policy", "blocks", "parts", "advice"], "policy, blocks, parts or advice")?;
    let value = table.string(key)?.unwrap_or_default();
    match key {
        "policy" => value
            .parse::<MemoryPolicy>()
            .map(Decision::Policy)
            .map_err(|error| table.law(key, &error.to_string())),
        "blocks" => blocks(&value).map(Decision::Blocks).map_err(|law| table.law(key, &law)),
        "parts" => parts(&value).map(Decision::Parts).map_err(|law| table.law(key, &law)),
        _ => match value.as_str() {
            "replicate" => Ok(Decision::Replicate),
            "pad" => Ok(Decision::Pad),
            _ => Err(table.law(key, &format!("advice is replicate or pad, not {value:?}"))),
        },
    }
}

/// Reads `0-12:0 13:1`: pages without a gap from page 0 on, each run with its node.
fn blocks(text: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    let mut next = 0u64;
    for item in text.split_ascii_whitespace() {
        let (first, last, node) = run(item)
            .ok_or_else(|| format!("{item:?} is not a run of pages on a node, as 0-12:3 or 13:0"))?;
        if first != next {
            return Err(format!("runs follow one another from page 0: {item:?} should begin at page {next}"));
        }
        if last < first {
            return Err(format!("a run ascends: {item:?} ends before it begins"));
        }
        next =
            last.checked_add(1).ok_or_else(|| format!("{item:?} ends beyond the last page there can be"))?;
        runs.push(Run { pages: next - first, node });
    }
    if runs.is_empty() { Err("at least one run is needed, as 0-12:3".to_owned()) } else { Ok(runs) }
}

/// Reads `0,0,1,1` or `0-3`: the node of each part.
fn parts(text: &str) -> Result<Vec<NodeId>, String> {
    let nodes = cpu_list::parse(text).map_err(|error| {
        format!("nodes of equal parts, as 0,0,1,1: character {}: {}", error.character, error.problem)
    })?;
    Ok(nodes.into_iter().map(|node| NodeId(node.0)).collect())
}

fn run(item: &str) -> Option<(u64, u64, NodeId)> {
    let (pages, node) = item.split_once(':')?;
    let (first, last) = pages.split_once('-').unwrap_or((pages, pages));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = [first, last, node].into_iter().all(is_digits);
    if !plain {
        return None;
    }
    Some((first.parse().ok()?, last.parse().ok()?, NodeId(node.parse().ok()?)))
}
