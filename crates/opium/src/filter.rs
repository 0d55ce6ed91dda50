//! Filters and secondary counters as a person writes them.
//!
//! A filter is `WHAT[,granule=SIZE][,kinds=KIND+KIND][,by=node|thread|cpu][,threshold=N][,name=NAME]`, where WHAT is `all`,
//! `ADDRESS+SIZE`, or an area: a global's name, the function that allocated it, its `file:line`, or the area's whole name.
//! A secondary counter is `NAME=FILTER[+FILTER...][,kinds=KIND+KIND]`; filters go by their names, a range without one by
//! `START-END`. Sizes are bytes, or have a suffix K, M or G; addresses are
//! hexadecimal with `0x`.
//!
//! Source of the registers: Brock et al., "Experience with building a commodity Intel-based ccNUMA system", IBM Journal of
//! Research and Development 45 (2001), "The Opium performance monitor card".

use crate::{CardError, Kinds};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The largest granule of a filter.
pub const LARGEST_GRANULE: u64 = 2 << 20;

/// What a filter watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Every address.
    All,
    /// A range of addresses.
    Range {
        /// First address.
        start: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The areas of a name.
    Area(String),
}

/// The unit that a filter counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Granularity {
    /// A cache line of the machine.
    Line,
    /// A page of the machine.
    Page,
    /// A power of two of bytes.
    Bytes(u64),
}

/// Whose counters a filter keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Nodes, as a card in each node does.
    Node,
    /// Threads.
    Thread,
    /// Processors.
    Cpu,
}

impl By {
    /// As in a filter's text.
    pub const fn word(self) -> &'static str {
        match self {
            By::Node => "node",
            By::Thread => "thread",
            By::Cpu => "cpu",
        }
    }
}

/// A programmed filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterSpec {
    /// Its name; an area's or `START-END` if none was given.
    pub name: String,
    /// What it watches.
    pub target: Target,
    /// The unit that it counts by.
    pub granularity: Granularity,
    /// Kinds and directions that pass.
    pub kinds: Option<Kinds>,
    /// Whose counters are kept apart.
    pub by: By,
    /// The value at which a counter raises an event.
    pub threshold: Option<u64>,
}

/// A programmed secondary counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondarySpec {
    /// Its name.
    pub name: String,
    /// Names of the filters that it shadows.
    pub filters: Vec<String>,
    /// Kinds that it counts of what passes them; all if `None`.
    pub kinds: Option<Kinds>,
}

impl FilterSpec {
    /// A filter of `target` with what is usual for the rest.
    pub fn new(target: Target) -> Self {
        let name = usual_name(&target);
        Self { name, target, granularity: Granularity::Page, kinds: None, by: By::Node, threshold: None }
    }
}

impl Granularity {
    /// In bytes, on a machine with these lines and pages.
    pub const fn bytes(self, line_bytes: u64, page_bytes: u64) -> u64 {
        match self {
            Granularity::Line => line_bytes,
            Granularity::Page => page_bytes,
            Granularity::Bytes(bytes) => bytes,
        }
    }
}

impl FromStr for Granularity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "line" => Ok(Granularity::Line),
            "page" => Ok(Granularity::Page),
            _ => match size(text) {
                Some(bytes) if bytes.is_power_of_two() && bytes <= LARGEST_GRANULE => {
                    Ok(Granularity::Bytes(bytes))
                }
                _ => Err(format!(
                    "granule {text:?} is no power of two up to 2M, nor `line` nor `page`: for example granule=4K"
                )),
            },
        }
    }
}

impl FromStr for FilterSpec {
    type Err = CardError;

    fn from_str(text: &str) -> Result<Self, CardError> {
        let wrong = |problem: String| CardError::Filter { text: text.to_owned(), problem };
        // Names of C++ functions have commas: what does not begin with the name of an option belongs to the name.
        let mut what = text;
        let mut options = Vec::new();
        while let Some((before, option)) = what.rsplit_once(',') {
            let Some((key, value)) = option.split_once('=') else { break };
            if !["granule", "kinds", "by", "threshold", "name"].contains(&key) {
                break;
            }
            options.push((key, value));
            what = before;
        }
        let mut filter = FilterSpec::new(target(what).map_err(wrong)?);
        for (key, value) in options {
            match key {
                "granule" => filter.granularity = value.parse().map_err(wrong)?,
                "kinds" => filter.kinds = Some(value.parse()?),
                "by" => {
                    filter.by = match value {
                        "node" => By::Node,
                        "thread" => By::Thread,
                        "cpu" => By::Cpu,
                        _ => return Err(wrong(format!("by={value}: counters are by node, thread or cpu"))),
                    };
                }
                "threshold" => match value.parse() {
                    Ok(count) if count > 0 => filter.threshold = Some(count),
                    _ => return Err(wrong(format!("threshold={value}: give a count above 0"))),
                },
                _ => value.clone_into(&mut filter.name),
            }
        }
        Ok(filter)
    }
}

impl FromStr for SecondarySpec {
    type Err = CardError;

    fn from_str(text: &str) -> Result<Self, CardError> {
        let wrong =
            |problem: &str| CardError::Secondary { text: text.to_owned(), problem: problem.to_owned() };
        let form = "write NAME=FILTER+FILTER, then perhaps ,kinds=read+write";
        let (name, rest) = text.split_once('=').ok_or_else(|| wrong(form))?;
        let (filters, kinds) = match rest.split_once(",kinds=") {
            Some((filters, kinds)) => (filters, Some(kinds.parse()?)),
            None => (rest, None),
        };
        let filters: Vec<String> = filters.split('+').map(str::to_owned).collect();
        if name.is_empty() || filters.iter().any(String::is_empty) {
            return Err(wrong(form));
        }
        Ok(SecondarySpec { name: name.to_owned(), filters, kinds })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::All => f.write_str("all"),
            Target::Range { start, bytes } => write!(f, "{start:#x}+{bytes}"),
            Target::Area(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Granularity::Line => f.write_str("line"),
            Granularity::Page => f.write_str("page"),
            Granularity::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl fmt::Display for FilterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},granule={}", self.target, self.granularity)?;
        if let Some(kinds) = self.kinds {
            write!(f, ",kinds={kinds}")?;
        }
        if self.by != By::Node {
            write!(f, ",by={}", self.by.word())?;
        }
        if let Some(threshold) = self.threshold {
            write!(f, ",threshold={threshold}")?;
        }
        if self.name != usual_name(&self.target) {
            write!(f, ",name={}", self.name)?;
        }
        Ok(())
    }
}

impl fmt::Display for SecondarySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.filters.join("+"))?;
        match self.kinds {
            Some(kinds) => write!(f, ",kinds={kinds}"),
            None => Ok(()),
        }
    }
}

/// The name of a filter that was given none; without a +, which joins names in a secondary counter.
fn usual_name(target: &Target) -> String {
    match target {
        Target::Range { start, bytes } => format!("{start:#x}-{:#x}", start + bytes),
        other => other.to_string(),
    }
}

fn target(what: &str) -> Result<Target, String> {
    if what.is_empty() {
        return Err("it names nothing: write an area, ADDRESS+SIZE, or all".to_owned());
    }
    if what == "all" {
        return Ok(Target::All);
    }
    let Some(address) = what.strip_prefix("0x") else { return Ok(Target::Area(what.to_owned())) };
    let range = address.split_once('+').and_then(|(start, bytes)| {
        let start = u64::from_str_radix(start, 16).ok()?;
        let bytes = size(bytes)?;
        (bytes > 0 && start.checked_add(bytes).is_some()).then_some(Target::Range { start, bytes })
    });
    range.ok_or_else(|| "an address needs a size: for example 0x3000000000+64K".to_owned())
}

/// Bytes, in decimal or hexadecimal, with a suffix K, M or G or without.
pub(crate) fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => {
            (digits, [("K", 10), ("M", 20), ("G", 30)].iter().find(|(suffix, _)| text.ends_with(suffix))?.1)
        }
        None => (text, 0),
    };
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_reads_back_what_it_displays() {
        for text in [
            "all,granule=page",
            "0x3000000000+65536,granule=line,kinds=read+invalidation+outbound,by=thread",
            "grid,granule=2097152,threshold=100,name=mine",
            "std::map<int, long>::find(int, long),granule=64",
            "ocean.c:57,granule=page,by=cpu",
        ] {
            let filter: FilterSpec = text.parse().unwrap();
            assert_eq!(filter.to_string(), text);
        }
        for text in ["reads=a+b,kinds=read+write", "both=a"] {
            let secondary: SecondarySpec = text.parse().unwrap();
            assert_eq!(secondary.to_string(), text);
        }
    }

    #[test]
    fn sizes_have_suffixes() {
        for (text, bytes) in [("64", 64), ("4K", 4096), ("2M", 2 << 20), ("0x20", 32), ("1G", 1 << 30)] {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "K", "4 K", "-1", "4k", "99999999999999999999", "99999999999G"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_filter_is_said() {
        for (text, part) in [
            ("", "names nothing"),
            ("0x1000", "needs a size"),
            ("grid,granule=48", "power of two"),
            ("grid,granule=4M", "power of two"),
            ("grid,kinds=read+fetch", "\"fetch\""),
            ("grid,by=socket", "node, thread or cpu"),
            ("grid,threshold=0", "above 0"),
        ] {
            let error = text.parse::<FilterSpec>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!("reads".parse::<SecondarySpec>().is_err());
        assert!("reads=a++b".parse::<SecondarySpec>().is_err());
    }
}
