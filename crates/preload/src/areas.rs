//! The plan's areas: allocations and mappings that a rule is for, known by their call path, size and ordinal.
//!
//! An area that is large, or cut into blocks, or told from its kin by an ordinal, has pages of its own among the addresses
//! set aside; a smaller one comes from a heap under the rule's policy. All tables are behind one lock, taken only for
//! what a rule is for.

use crate::call_path::CallPath;
use crate::heaps::Heaps;
use crate::ordinals::{Kin, Ordinals};
use crate::own_memory::{self, Free};
use crate::placing::{Piece, add_cause, look, pieces, put};
use core::ops::Range;
use core::ptr::NonNull;
use olifant_frontend::inside::AreasFound;
use olifant_frontend::spec::{AreaKey, AreaRule, Place};
use olifant_machine::NodeSet;
use olifant_sys::page_size;
use rset::{Growing, System};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Areas from this size on have pages of their own whatever the decision: a mapping costs little beside them.
const OWN_PAGES_FROM: usize = 1 << 16;
/// Areas of a rule that are looked at when they are given up; a program that allocates in a loop would wait for the kernel
/// else.
const MOST_LOOKS: u64 = 10_000;

/// The rules and what they were for.
pub struct Areas {
    system: System,
    rules: Vec<Rule>,
    /// Where this library's code lies.
    own_code: Range<usize>,
    /// The sizes that rules are for, ascending; empty if one is for any size.
    sizes: Vec<u64>,
    table: Mutex<Table>,
}

struct Rule {
    /// Ranges of code that a return address lies in, run-time addresses; none for a rule by address.
    code: Vec<Range<usize>>,
    bytes: Option<u64>,
    ordinal: Option<u32>,
    place: Place,
    /// Where its smaller areas come from.
    heaps: OnceLock<Heaps>,
}

/// What is alive, and what was found of the rest.
pub struct Table {
    live: BTreeMap<usize, Area>,
    ordinals: Ordinals,
    free: Free,
    /// By rule.
    found: Vec<AreasFound>,
}

struct Area {
    range: Range<usize>,
    pieces: Vec<Piece>,
    rule: Option<usize>,
    kin: Option<(Kin, u32)>,
}

/// What an allocation is to be.
struct Match {
    rule: Option<usize>,
    kin: Option<(Kin, u32)>,
}

impl Areas {
    /// The areas of a plan's rules; `bias` is what the program's addresses are to be raised by.
    pub fn new(system: &System, rules: &[AreaRule], bias: usize) -> Areas {
        let rules: Vec<Rule> = rules.iter().map(|rule| Rule::new(rule, bias)).collect();
        let is_any_size = rules.iter().any(|rule| !rule.code.is_empty() && rule.bytes.is_none());
        let mut sizes: Vec<u64> =
            if is_any_size { Vec::new() } else { rules.iter().filter_map(|rule| rule.bytes).collect() };
        sizes.sort_unstable();
        let has_sites = rules.iter().any(|rule| !rule.code.is_empty());
        let free = Free::new(if has_sites { own_memory::set_aside().unwrap_or(0..0) } else { 0..0 });
        let found = vec![AreasFound::default(); rules.len()];
        let table = Table { live: BTreeMap::new(), ordinals: Ordinals::default(), free, found };
        Areas {
            system: system.clone(),
            rules,
            own_code: crate::call_path::own_range(),
            sizes,
            table: Mutex::new(table),
        }
    }

    /// The size from which allocations ask; `usize::MAX` if none need to.
    pub fn smallest(&self) -> usize {
        let has_sites = self.rules.iter().any(|rule| !rule.code.is_empty());
        if has_sites { page_size() } else { usize::MAX }
    }

    /// The lock over all tables, for the time of a fork.
    pub fn hold(&self) -> (Vec<Growing<'_>>, MutexGuard<'_, Table>) {
        // In this order: a heap that grows may unmap memory, which looks into the table.
        let growing = self.rules.iter().filter_map(|rule| rule.heaps.get()).flat_map(Heaps::hold).collect();
        (growing, self.lock())
    }

    /// Memory of `bytes` zeros for an allocation that a rule is for; `None` for any other, and where it cannot be had.
    pub fn allocate(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
        let matched = self.matching(bytes, None)?;
        let wants_pages = bytes >= OWN_PAGES_FROM
            || matched.kin.is_some()
            || matched.rule.is_some_and(|rule| !matches!(self.rules[rule].place, Place::Policy(_)));
        if wants_pages {
            return self.allocate_pages(bytes, alignment, matched);
        }
        let rule = matched.rule?;
        let Place::Policy(policy) = &self.rules[rule].place else { return None };
        let heaps = self.rules[rule].heaps.get_or_init(|| {
            let nodes: NodeSet = self.system.hierarchy().system().nodes.clone();
            Heaps::new(&self.system, policy.clone().into(), nodes)
        });
        let block = heaps.here().and_then(|heap| heap.allocate_zeroed(bytes, alignment));
        let mut table = self.lock();
        let found = &mut table.found[rule];
        found.areas += 1;
        if block.is_none() {
            found.unplaced += 1;
            add_cause(found, "its heap could not be made or is full".to_owned());
        }
        block
    }

    fn allocate_pages(&self, bytes: usize, alignment: usize, matched: Match) -> Option<NonNull<u8>> {
        let page = page_size();
        let whole = bytes.checked_next_multiple_of(page)?;
        let mut table = self.lock();
        let range = table.free.take(whole, alignment.max(page)).filter(own_memory::back);
        let Some(range) = range else {
            if let Some(rule) = matched.rule {
                table.found[rule].areas += 1;
                table.found[rule].unplaced += 1;
                add_cause(&mut table.found[rule], "no addresses are left for it (ulimit -v)".to_owned());
            }
            return None;
        };
        let start = core::ptr::with_exposed_provenance_mut(range.start);
        self.add(&mut table, range, matched);
        NonNull::new(start)
    }

    /// A new mapping, made by the function `entry`: placed if a rule is for it.
    pub fn map(&self, range: Range<usize>, entry: usize) {
        if let Some(matched) = self.matching(range.len(), Some(entry)) {
            self.add(&mut self.lock(), range, matched);
        }
    }

    /// Places an area and notes it.
    fn add(&self, table: &mut Table, range: Range<usize>, matched: Match) {
        let mut placed = Vec::new();
        if let Some(rule) = matched.rule {
            let found = &mut table.found[rule];
            found.areas += 1;
            placed = self.place(range.clone(), rule, found);
        }
        table.live.insert(range.start, Area { range, pieces: placed, rule: matched.rule, kin: matched.kin });
    }

    fn place(&self, range: Range<usize>, rule: usize, found: &mut AreasFound) -> Vec<Piece> {
        let Some(wanted) = pieces(&self.system, range, &self.rules[rule].place) else {
            found.unplaced += 1;
            add_cause(found, "the policy has no node for it here".to_owned());
            return Vec::new();
        };
        if let Err(error) = put(&self.system, &wanted) {
            found.unplaced += 1;
            add_cause(found, error.to_string());
        }
        wanted
    }

    /// Places a range of the program's image, which stays.
    pub fn place_image(&self, rule: usize, range: Range<usize>) {
        self.add(&mut self.lock(), range, Match { rule: Some(rule), kin: None });
    }

    /// Looks where the pages of an allocation are and takes them back; false if there is none at the address.
    pub fn release(&self, address: usize) -> bool {
        let mut table = self.lock();
        let Some(area) = table.live.remove(&address) else { return false };
        self.give_up(&mut table, &area);
        own_memory::unback(&area.range);
        table.free.give(area.range);
        true
    }

    /// The program unmaps a range: the areas in it are looked at while they are there.
    pub fn unmap(&self, range: &Range<usize>) {
        let mut table = self.lock();
        let within: Vec<usize> = table.live.range(range.clone()).map(|(&start, _)| start).collect();
        for start in within {
            if let Some(area) = table.live.remove(&start) {
                self.give_up(&mut table, &area);
            }
        }
    }

    fn give_up(&self, table: &mut Table, area: &Area) {
        if let Some(rule) = area.rule {
            let found = &mut table.found[rule];
            if found.areas <= MOST_LOOKS {
                look(&self.system, &area.pieces, found);
            } else {
                found.unread += 1;
            }
        }
        if let Some((kin, ordinal)) = &area.kin {
            table.ordinals.give(kin, *ordinal);
        }
    }

    /// Bytes of an allocation, whole pages; `None` if there is none at the address.
    pub fn bytes_at(&self, address: usize) -> Option<usize> {
        self.lock().live.get(&address).map(|area| area.range.len())
    }

    /// What was found of each rule's areas, those alive included.
    pub fn found(&self) -> Vec<AreasFound> {
        let mut table = self.lock();
        let live: Vec<(usize, Vec<Piece>)> =
            table.live.values().filter_map(|area| Some((area.rule?, area.pieces.clone()))).collect();
        for (rule, pieces) in live {
            look(&self.system, &pieces, &mut table.found[rule]);
        }
        let mut found = table.found.clone();
        for (rule, found) in self.rules.iter().zip(&mut found) {
            for seen in rule.heaps.get().map(Heaps::read_back).unwrap_or_default() {
                found.at_home += seen.at_home;
                found.elsewhere += seen.elsewhere;
            }
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rule for an allocation of the calling thread, which called `entry` if that is given.
    fn matching(&self, bytes: usize, entry: Option<usize>) -> Option<Match> {
        let size = bytes as u64;
        if !self.sizes.is_empty() && self.sizes.binary_search(&size).is_err() {
            return None;
        }
        let path = CallPath::of_caller(&self.own_code)?;
        if entry.is_some_and(|entry| !path.enters_by(entry)) {
            return None;
        }
        let candidates: Vec<usize> = (0..self.rules.len())
            .filter(|&rule| self.rules[rule].bytes.is_none_or(|of| of == size))
            .filter(|&rule| self.rules[rule].is_on(path.addresses()))
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let kin = candidates.iter().any(|&rule| self.rules[rule].ordinal.is_some()).then(|| {
            let kin = Kin { path: path.addresses().to_vec(), bytes: size };
            let ordinal = self.lock().ordinals.take(&kin);
            (kin, ordinal)
        });
        let ordinal = kin.as_ref().map(|(_, ordinal)| *ordinal);
        let is_for = |rule: &usize| self.rules[*rule].ordinal.is_none_or(|of| Some(of) == ordinal);
        let rule = candidates.into_iter().find(is_for);
        (rule.is_some() || kin.is_some()).then_some(Match { rule, kin })
    }
}

impl Rule {
    fn new(rule: &AreaRule, bias: usize) -> Rule {
        let (code, bytes, ordinal) = match &rule.area {
            AreaKey::Site { code, bytes, ordinal } => {
                // Ranges of the program itself; the launcher resolves no others.
                let code = code.iter().filter(|range| range.module.is_empty());
                let code = code.map(|range| range.start as usize + bias..range.end as usize + bias).collect();
                (code, *bytes, *ordinal)
            }
            AreaKey::Range { .. } | AreaKey::Stacks | AreaKey::Small => (Vec::new(), None, None),
        };
        Rule { code, bytes, ordinal, place: rule.place.clone(), heaps: OnceLock::new() }
    }

    fn is_on(&self, addresses: &[usize]) -> bool {
        addresses.iter().any(|&address| {
            // A return address may be the first of the next line.
            self.code.iter().any(|range| range.contains(&address.wrapping_sub(1)))
        })
    }
}
