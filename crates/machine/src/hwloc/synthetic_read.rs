//! From an hwloc synthetic string to a [`Structure`].
//!
//! A string lists levels from the machine downwards, `type:count(attributes)` each, a count being per object of the
//! level above; `[NUMANode(...)]` attaches memory to the objects of the level before it. The last level is the PUs.
//! Without types hwloc chooses them, and so do we: the nodes stand at the second level, or above the PUs if there are
//! only two. Memory and sizes take kB, MB, GB, TB and KiB, MiB, GiB, TiB. `indexes=` takes a list, or step*count parts
//! joined by colons. Left out: indexes interleaved by type names, and attributes of I/O; other attributes are ignored.

use super::HwlocError;
use crate::structure::{LocalNode, with_owned_cpus};
use crate::{Bytes, CacheShape, CpuId, CpuSet, NodeId, Structure};

impl Structure {
    /// Reads a synthetic string.
    /// # Errors  [`HwlocError::Synthetic`] points at the character where it stops making sense.
    pub fn from_hwloc_synthetic(text: &str) -> Result<Structure, HwlocError> {
        let mut levels = levels(text)?;
        choose_types(text, &mut levels)?;
        let pus = levels.iter().try_fold(1_usize, |product, level| product.checked_mul(level.arity));
        let pus = pus.filter(|&pus| pus <= 1 << 16).ok_or_else(|| error(text, 0, "more than 65536 PUs"))?;
        let pu_indexes = levels.last().and_then(|level| level.attributes.indexes.as_ref());
        let cpus: Vec<CpuId> = numbers(text, pu_indexes, pus)?.into_iter().map(CpuId).collect();
        let mut walk = Walk { levels: &levels, cpus: &cpus, found: Vec::new() };
        walk.object(0, 0..pus);
        let node_indexes =
            levels.iter().flat_map(|level| &level.memories).find_map(|memory| memory.indexes.as_ref());
        let node_numbers = numbers(text, node_indexes, walk.found.len())?;
        let locals = walk.found.into_iter().zip(node_numbers);
        let locals = locals.map(|((cpus, memory), id)| LocalNode { id: NodeId(id), cpus, memory }).collect();
        let cache = |kinds: &[Kind]| {
            let level = levels.iter().find(|level| level.kind.is_some_and(|kind| kinds.contains(&kind)));
            level.and_then(|level| level.attributes.size).map(|size| CacheShape {
                size,
                ways: None,
                line: None,
            })
        };
        Ok(Structure {
            nodes: with_owned_cpus(locals),
            l1: cache(&[Kind::L1]),
            l2: cache(&[Kind::L2]),
            l3: cache(&[Kind::L3]),
            ..Structure::default()
        })
    }
}

/// The kinds of level that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Node,
    L1,
    L2,
    L3,
    Pu,
    /// Packages, groups, dies, cores, instruction caches and caches beyond the third level.
    Other,
}

/// What stands between parentheses.
#[derive(Debug, Clone, Default)]
struct Attributes {
    memory: Option<Bytes>,
    size: Option<Bytes>,
    /// The text after `indexes=` and its offset.
    indexes: Option<(String, usize)>,
}

struct Level {
    /// `None` where the text gives no type.
    kind: Option<Kind>,
    /// Objects per object of the level above; 1 for the machine itself.
    arity: usize,
    attributes: Attributes,
    /// Memory attached to each object of this level.
    memories: Vec<Attributes>,
    /// Offset in the text.
    at: usize,
}

/// hwloc's size of a node for which no memory is told, where it inserts the nodes by itself.
const INSERTED_MEMORY: Bytes = Bytes(1 << 30);

fn levels(text: &str) -> Result<Vec<Level>, HwlocError> {
    let root = Level {
        kind: Some(Kind::Other),
        arity: 1,
        attributes: Attributes::default(),
        memories: Vec::new(),
        at: 0,
    };
    let mut levels = vec![root];
    let mut scanner = Scanner { text, at: 0 };
    loop {
        scanner.skip_spaces();
        let at = scanner.at;
        match scanner.peek() {
            None => return Ok(levels),
            // Attributes of the machine itself.
            Some('(') if levels.len() == 1 => {
                scanner.attributes()?;
            }
            Some('[') => {
                scanner.at += 1;
                let name = scanner.word();
                if kind(name) != Some(Kind::Node) {
                    return Err(error(text, at, format!("only NUMANode can be attached, found {name:?}")));
                }
                let attributes = scanner.attributes()?;
                scanner.expect(']')?;
                if let Some(level) = levels.last_mut() {
                    level.memories.push(attributes);
                }
            }
            Some(_) => levels.push(scanner.level()?),
        }
    }
}

/// Checks the order of types, gives types where there are none, and turns a level of nodes into one that has memory.
fn choose_types(text: &str, levels: &mut [Level]) -> Result<(), HwlocError> {
    let [root, levels @ ..] = levels else { return Ok(()) };
    let count = levels.len();
    let Some(last) = levels.last() else { return Err(error(text, 0, "no levels")) };
    let last_at = last.at;
    if levels.iter().all(|level| level.kind.is_none()) {
        let node_level = if count == 1 { &mut *root } else { &mut levels[1.min(count - 2)] };
        node_level.kind = Some(Kind::Node);
        node_level.attributes.memory.get_or_insert(INSERTED_MEMORY);
        levels[count - 1].kind = Some(Kind::Pu);
        for level in &mut *levels {
            level.kind.get_or_insert(Kind::Other);
        }
    }
    if let Some(untyped) = levels.iter().find(|level| level.kind.is_none()) {
        return Err(error(text, untyped.at, "either all levels have types or none"));
    }
    if levels[count - 1].kind != Some(Kind::Pu) {
        return Err(error(text, last_at, "the last level must be PU"));
    }
    if let Some(early) = levels[..count - 1].iter().find(|level| level.kind == Some(Kind::Pu)) {
        return Err(error(text, early.at, "PU must be the last level"));
    }
    for level in core::iter::once(&mut *root).chain(&mut *levels) {
        if level.kind == Some(Kind::Node) {
            let memory = level.attributes.memory.or(Some(INSERTED_MEMORY));
            level.memories.push(Attributes { memory, ..level.attributes.clone() });
        }
    }
    if root.memories.is_empty() && levels.iter().all(|level| level.memories.is_empty()) {
        root.memories.push(Attributes { memory: Some(INSERTED_MEMORY), ..Attributes::default() });
    }
    Ok(())
}

/// Finds the nodes in the order in which hwloc numbers them: children before what is attached to the parent.
struct Walk<'l> {
    levels: &'l [Level],
    cpus: &'l [CpuId],
    found: Vec<(CpuSet, Bytes)>,
}

impl Walk<'_> {
    fn object(&mut self, depth: usize, pus: std::ops::Range<usize>) {
        if let Some(below) = self.levels.get(depth + 1) {
            let share = pus.len() / below.arity;
            for child in 0..below.arity {
                self.object(depth + 1, pus.start + child * share..pus.start + (child + 1) * share);
            }
        }
        for memory in &self.levels[depth].memories {
            let cpus = self.cpus[pus.clone()].iter().copied().collect();
            self.found.push((cpus, memory.memory.unwrap_or_default()));
        }
    }
}

/// The numbers that `indexes` spells for `count` objects, or 0, 1, 2, ...
fn numbers(text: &str, indexes: Option<&(String, usize)>, count: usize) -> Result<Vec<u16>, HwlocError> {
    let too_large = || error(text, 0, "numbers beyond 65535");
    let Some((indexes, at)) = indexes else {
        return (0..count).map(|number| u16::try_from(number).map_err(|_| too_large())).collect();
    };
    let numbers: Vec<u16> = if indexes.contains('*') {
        interleaved(indexes, count)
            .ok_or_else(|| error(text, *at, "expected step*count parts joined by colons"))?
    } else {
        let list: Option<Vec<u16>> = indexes.split(',').map(|number| number.parse().ok()).collect();
        list.ok_or_else(|| error(text, *at, "expected numbers up to 65535 separated by commas"))?
    };
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != count || numbers.len() != count {
        return Err(error(text, *at, format!("expected {count} different numbers")));
    }
    Ok(numbers)
}

/// Place p gets the sum over the parts of ((p / step) mod count) times the product of the counts of earlier parts.
fn interleaved(indexes: &str, objects: usize) -> Option<Vec<u16>> {
    let parts: Vec<(usize, usize)> = indexes
        .split(':')
        .map(|part| {
            let (step, count) = part.split_once('*')?;
            Some((
                step.parse().ok().filter(|&step| step > 0)?,
                count.parse().ok().filter(|&count| count > 0)?,
            ))
        })
        .collect::<Option<_>>()?;
    let number = |place: usize| {
        let mut factor = 1_usize;
        let mut number = 0_usize;
        for &(step, count) in &parts {
            number = number.checked_add((place / step % count).checked_mul(factor)?)?;
            factor = factor.checked_mul(count)?;
        }
        u16::try_from(number).ok()
    };
    (0..objects).map(number).collect()
}

fn kind(word: &str) -> Option<Kind> {
    let word = word.to_ascii_lowercase();
    Some(match word.as_str() {
        "numanode" | "numa" | "node" => Kind::Node,
        "l1cache" | "l1dcache" | "l1d" | "l1" => Kind::L1,
        "l2cache" | "l2ucache" | "l2dcache" | "l2d" | "l2u" | "l2" => Kind::L2,
        "l3cache" | "l3ucache" | "l3dcache" | "l3d" | "l3u" | "l3" => Kind::L3,
        "pu" | "thread" => Kind::Pu,
        "package" | "pack" | "socket" | "group" | "die" | "core" | "tile" | "module" | "cluster" => {
            Kind::Other
        }
        _ if word.starts_with(['l', 'L']) && word[1..].starts_with(|digit: char| digit.is_ascii_digit()) => {
            Kind::Other
        }
        _ => return None,
    })
}

struct Scanner<'t> {
    text: &'t str,
    /// Offset in bytes.
    at: usize,
}

impl<'t> Scanner<'t> {
    fn level(&mut self) -> Result<Level, HwlocError> {
        let at = self.at;
        let mut level_kind = None;
        if self.peek().is_some_and(char::is_alphabetic) {
            let name = self.word();
            level_kind = kind(name);
            if level_kind.is_none() {
                return Err(error(self.text, at, format!("unknown object type {name:?}")));
            }
            self.expect(':')?;
        }
        let count_at = self.at;
        let digits = self.take_while(|character| character.is_ascii_digit());
        let arity = digits.parse().ok().filter(|&arity| arity > 0);
        let arity =
            arity.ok_or_else(|| error(self.text, count_at, "expected a number of objects, at least 1"))?;
        Ok(Level { kind: level_kind, arity, attributes: self.attributes()?, memories: Vec::new(), at })
    }

    /// What stands between parentheses, if they follow.
    fn attributes(&mut self) -> Result<Attributes, HwlocError> {
        let mut attributes = Attributes::default();
        if self.peek() != Some('(') {
            return Ok(attributes);
        }
        self.at += 1;
        loop {
            self.skip_spaces();
            if self.peek() == Some(')') {
                self.at += 1;
                return Ok(attributes);
            }
            let at = self.at;
            let attribute = self.take_while(|character| character != ')' && !character.is_ascii_whitespace());
            if attribute.is_empty() {
                return Err(error(self.text, at, "expected an attribute or a closing parenthesis"));
            }
            let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
            let value_at = self.at - value.len();
            let sized =
                || size(value).ok_or_else(|| error(self.text, value_at, "expected a size, as in 512MiB"));
            match name {
                "memory" => attributes.memory = Some(sized()?),
                "size" => attributes.size = Some(sized()?),
                "indexes" => attributes.indexes = Some((value.to_owned(), value_at)),
                _ => {}
            }
        }
    }

    fn word(&mut self) -> &'t str {
        self.take_while(char::is_alphanumeric)
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let length = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn skip_spaces(&mut self) {
        self.take_while(|character| character.is_ascii_whitespace());
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn expect(&mut self, wanted: char) -> Result<(), HwlocError> {
        if self.peek() != Some(wanted) {
            return Err(error(self.text, self.at, format!("expected {wanted:?}")));
        }
        self.at += 1;
        Ok(())
    }
}

fn size(text: &str) -> Option<Bytes> {
    let digits = text.len() - text.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let scale: u64 = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" | "kiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(scale).map(Bytes)
}

/// An error at a byte offset.
fn error(text: &str, byte: usize, problem: impl Into<String>) -> HwlocError {
    HwlocError::Synthetic { at: text[..byte].chars().count(), problem: problem.into() }
}
