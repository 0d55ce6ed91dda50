//! hwloc's locations: objects by logical number, one within the other.
//!
//! Source: hwloc(7) of hwloc 2.9, "Specifying locations": `type:index` joined by dots, each counted within the one
//! before; index `2`, `2-3`, `2-` (to the end), `2:3` (three from 2 on, going round), `all`, `odd`, `even`; locations
//! apart by blanks add up, one with `~` in front is taken away, `x` intersects, `^` keeps what is in one of the two; a
//! cpu mask `0xf`. Numbers are logical as in hwloc: `node:1` is the second node, whatever its number. Left out: types
//! that the hierarchy does not have (instruction caches, books), and attributes in brackets.

use super::SetTextError;
use super::scanner::Scanner;
use crate::{Hierarchy, Level, ResourceSet};
use olifant_machine::{CpuSet, did_you_mean, nearest};

/// hwloc's names of types, and the level that each means here.
const TYPES: [(&str, Level); 15] = [
    ("machine", Level::System),
    ("root", Level::System),
    ("numanode", Level::Node),
    ("numa", Level::Node),
    ("node", Level::Node),
    ("package", Level::Package),
    ("socket", Level::Package),
    ("pack", Level::Package),
    ("l3cache", Level::LastLevelCache),
    ("l3", Level::LastLevelCache),
    ("llc", Level::LastLevelCache),
    ("cache", Level::LastLevelCache),
    ("core", Level::Core),
    ("pu", Level::Cpu),
    ("cpu", Level::Cpu),
];

/// Whether a text looks like a location.
pub(super) fn is_location(text: &str) -> bool {
    text.starts_with("0x") || text.starts_with(['~', '^']) || text.contains(':')
}

/// Reads locations for one machine.
pub(super) struct Reader<'h> {
    hierarchy: &'h Hierarchy,
}

impl<'h> Reader<'h> {
    pub fn new(hierarchy: &'h Hierarchy) -> Self {
        Reader { hierarchy }
    }

    /// Reads to the end.
    pub fn read(&self, mut scanner: Scanner<'_>) -> Result<ResourceSet, SetTextError> {
        let mut set = ResourceSet::empty();
        loop {
            scanner.skip_blanks();
            if scanner.is_at_end() {
                return Ok(set);
            }
            let combine: fn(&ResourceSet, &ResourceSet) -> ResourceSet = if scanner.take("~") {
                ResourceSet::difference
            } else if scanner.take("^") {
                |a, b| a.union(b).difference(&a.intersection(b))
            } else if scanner.take("x") {
                ResourceSet::intersection
            } else {
                ResourceSet::union
            };
            let location = self.location(&mut scanner)?;
            set = combine(&set, &location);
        }
    }

    fn location(&self, scanner: &mut Scanner<'_>) -> Result<ResourceSet, SetTextError> {
        if scanner.rest().starts_with("0x") {
            return self.mask(scanner);
        }
        let mut within = vec![self.hierarchy.system().clone()];
        loop {
            let level = self.level(scanner)?;
            within = self.objects(scanner, &level, &within)?;
            if !scanner.take(".") {
                break;
            }
        }
        if scanner.peek().is_some_and(|character| !character.is_whitespace()) {
            return Err(scanner
                .error("expected a dot and a smaller object, a blank and another location, or the end"));
        }
        Ok(within.iter().fold(ResourceSet::empty(), |all, set| all.union(set)))
    }

    fn mask(&self, scanner: &mut Scanner<'_>) -> Result<ResourceSet, SetTextError> {
        let start = scanner.clone();
        let text = scanner.take_while(|character| !character.is_whitespace());
        let cpus =
            CpuSet::from_mask(text).map_err(|error| start.error_at_character(error.at, error.problem))?;
        let has = &self.hierarchy.system().cpus;
        if !cpus.is_subset(has) {
            return Err(
                start.error(format!("this machine has no cpus {}; it has {has}", cpus.difference(has)))
            );
        }
        Ok(self.hierarchy.with_local_memory(cpus))
    }

    /// A type and its colon.
    fn level(&self, scanner: &mut Scanner<'_>) -> Result<Level, SetTextError> {
        let start = scanner.clone();
        let word =
            scanner.take_while(|character| character.is_ascii_alphanumeric() || "_-".contains(character));
        let lower = word.to_ascii_lowercase();
        let known = TYPES.iter().find(|(name, _)| *name == lower).map(|(_, level)| level.clone());
        let made = || {
            let level = Level::Made(word.to_owned());
            (!self.hierarchy.sets(&level).is_empty()).then_some(level)
        };
        let level = known.or_else(made).ok_or_else(|| {
            let hint = did_you_mean(nearest(&lower, TYPES.iter().map(|(name, _)| *name)));
            start.error(format!("{word:?} is no type of object{hint}"))
        })?;
        if !scanner.take(":") {
            return Err(scanner.error(format!("expected a colon and which {word}")));
        }
        Ok(level)
    }

    /// The chosen objects of a level in each of the sets around.
    fn objects(
        &self,
        scanner: &mut Scanner<'_>,
        level: &Level,
        around: &[ResourceSet],
    ) -> Result<Vec<ResourceSet>, SetTextError> {
        let start = scanner.clone();
        let index = Index::read(scanner)?;
        let all = self.hierarchy.sets(level);
        if all.is_empty() {
            return Err(start.error(format!("this machine does not tell its {level}s")));
        }
        let mut chosen = Vec::new();
        for outer in around {
            let inner: Vec<&ResourceSet> = all.iter().filter(|set| is_inside(set, outer)).collect();
            let places = index.places(inner.len()).ok_or_else(|| {
                start.error(format!("there are {} {level}s here, counted from 0", inner.len()))
            })?;
            // An object around may be larger than one within (a core of a node): the cpus of both count.
            chosen.extend(places.into_iter().map(|place| {
                let set = inner[place];
                ResourceSet::new(set.cpus.intersection(&outer.cpus), set.nodes.clone())
            }));
        }
        Ok(chosen)
    }
}

/// Whether an object counts as being in another: by its cpus, or its memory if it has no cpus.
fn is_inside(set: &ResourceSet, outer: &ResourceSet) -> bool {
    if set.cpus.is_empty() { set.nodes.is_subset(&outer.nodes) } else { !set.cpus.is_disjoint(&outer.cpus) }
}

/// Which of several objects.
enum Index {
    All,
    Odd,
    Even,
    /// From here to there.
    Range(usize, usize),
    /// From here to the end.
    From(usize),
    /// From here so many, going round.
    Count(usize, usize),
}

impl Index {
    fn read(scanner: &mut Scanner<'_>) -> Result<Index, SetTextError> {
        for (word, index) in [("all", Index::All), ("odd", Index::Odd), ("even", Index::Even)] {
            if scanner.take(word) {
                return Ok(index);
            }
        }
        let first = usize::from(scanner.number("which object")?);
        if scanner.take("-") {
            if !scanner.peek().is_some_and(|character| character.is_ascii_digit()) {
                return Ok(Index::From(first));
            }
            let last_at = scanner.clone();
            let last = usize::from(scanner.number("the last object")?);
            if last < first {
                return Err(last_at.error("the range ends before it starts"));
            }
            return Ok(Index::Range(first, last));
        }
        if scanner.take(":") {
            return Ok(Index::Count(first, usize::from(scanner.number("how many objects")?)));
        }
        Ok(Index::Range(first, first))
    }

    /// The places among `count` objects; `None` if one is beyond them.
    fn places(&self, count: usize) -> Option<Vec<usize>> {
        match *self {
            Index::All => Some((0..count).collect()),
            Index::Odd => Some((1..count).step_by(2).collect()),
            Index::Even => Some((0..count).step_by(2).collect()),
            Index::Range(first, last) => (last < count).then(|| (first..=last).collect()),
            Index::From(first) => (first < count).then(|| (first..count).collect()),
            Index::Count(first, many) => {
                (first < count).then(|| (first..first + many.min(count)).map(|place| place % count).collect())
            }
        }
    }
}
