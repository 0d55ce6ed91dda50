//! Areas and sites as the run meets them: the profile's lists in the making.
//!
//! No two areas overlap, ever: an address belongs to one area for the whole run, so what the card counts by address can be
//! joined with areas at the end. Memory that is freed and allocated again by the same site and in the same size is the
//! same area again.

use crate::engine::{Placement, System};
use crate::layout::DONORS;
use crate::stack::Stack;
use crate::state::Runtime;
use olifant_frontend::spec::{AreaKey, AreaRule, PageRun, Place, RunSpec, equal_parts};
use olifant_opium::profile::{Area, AreaKind};
use olifant_placement::{MemoryPolicy, Run};
use std::collections::BTreeMap;

/// Areas, and the rules of the plan.
pub struct Areas {
    /// In the order of birth; the index is the area's id.
    pub list: Vec<Area>,
    rules: Vec<AreaRule>,
    default: MemoryPolicy,
    page_bytes: u64,
    stacks: BTreeMap<u64, u32>,
    storages: BTreeMap<u64, u32>,
}

/// The simulator's form of a place for an area of `bytes` bytes.
fn placement(place: &Place, bytes: u64, page: u64) -> Placement {
    let blocks = |runs: &[PageRun]| {
        Placement::Blocks(runs.iter().map(|run| Run { pages: run.pages, node: run.node }).collect())
    };
    match place {
        Place::Policy(policy) => Placement::Policy(policy.clone()),
        Place::Blocks(runs) => blocks(runs),
        Place::Parts(nodes) => blocks(&equal_parts(nodes, bytes, page)),
    }
}

impl Areas {
    /// The areas that exist before the program starts: its global symbols.
    pub fn new(spec: &RunSpec, system: &mut System) -> Self {
        for rule in &spec.rules {
            if let AreaKey::Range { start, bytes } = rule.area {
                system.map(start, bytes, placement(&rule.place, bytes, spec.machine.os.page.0));
            }
        }
        for watch in &spec.watches {
            if let AreaKey::Range { start, bytes } = watch.area {
                let board = system.engine_mut().observer_mut().board_mut();
                let _refusal_is_in_the_profile = board.arm(watch.filter as usize, start, bytes);
            }
        }
        let list = spec
            .globals
            .iter()
            .map(|symbol| Area {
                kind: AreaKind::Global,
                name: symbol.name.clone(),
                start: symbol.address,
                bytes: symbol.bytes,
                site: None,
                ordinal: 0,
                thread: 0,
                born: 0,
                freed: None,
            })
            .collect();
        Self {
            list,
            rules: spec.rules.clone(),
            default: spec.memory.clone(),
            page_bytes: spec.machine.os.page.0,
            stacks: BTreeMap::new(),
            storages: BTreeMap::new(),
        }
    }

    /// Adds an area; returns its id.
    pub fn add(&mut self, area: Area) -> u32 {
        self.list.push(area);
        self.list.len() as u32 - 1
    }

    /// Where an allocation's pages go: by the first rule that matches its call path, or by the run's policy.
    pub fn place(&self, path: &[u64], bytes: u64, ordinal: u32) -> Placement {
        self.placement(self.rule_for_site(path, bytes, ordinal), bytes)
    }

    /// The same for a chunk of small allocations.
    pub fn place_small(&self, path: &[u64], bytes: u64, ordinal: u32) -> Placement {
        let rule = self.rule_for_site(path, bytes, ordinal).or_else(|| self.rule_for(&AreaKey::Small));
        self.placement(rule, bytes)
    }

    fn placement(&self, rule: Option<&AreaRule>, bytes: u64) -> Placement {
        rule.map_or_else(
            || Placement::Policy(self.default.clone()),
            |rule| placement(&rule.place, bytes, self.page_bytes),
        )
    }

    fn rule_for(&self, area: &AreaKey) -> Option<&AreaRule> {
        self.rules.iter().find(|rule| rule.area == *area)
    }

    fn rule_for_site(&self, path: &[u64], bytes: u64, ordinal: u32) -> Option<&AreaRule> {
        self.rules.iter().find(|rule| names(&rule.area, path, bytes, ordinal))
    }

    /// A thread begins on a stack, perhaps one that an earlier thread used.
    pub fn add_stack(&mut self, thread: usize, stack: Stack, system: &mut System) {
        let (start, bytes) = (stack.start() as u64, stack.bytes() as u64);
        let place = match self.placement(self.rule_for(&AreaKey::Stacks), bytes) {
            // Its creator asks for it, but it is its own thread's.
            Placement::Policy(MemoryPolicy::Local) => Placement::Policy(MemoryPolicy::FirstTouch),
            place => place,
        };
        system.map(start, bytes, place);
        let born = system.now_cycles();
        if let Some(&id) = self.stacks.get(&(stack.end() as u64)) {
            let area = &mut self.list[id as usize];
            area.freed = None;
            let end = area.start + area.bytes;
            area.start = area.start.min(start);
            area.bytes = end - area.start;
            if !area.name.ends_with("later ones") {
                area.name.push_str(" and later ones");
            }
            return;
        }
        let name = format!("stack of thread {thread}");
        let id = self.add(own_area(AreaKind::Stack, name, start, bytes, thread, born));
        self.stacks.insert(stack.end() as u64, id);
    }

    /// A thread's stack is no longer used.
    pub fn end_stack(&mut self, stack: Stack, system: &mut System) {
        let now = system.now_cycles();
        if let Some(&id) = self.stacks.get(&(stack.end() as u64)) {
            self.list[id as usize].freed = Some(now);
        }
        system.unmap(stack.start() as u64, stack.bytes() as u64);
    }

    /// A thread begins to use a donor's thread-local storage.
    pub fn add_storage(&mut self, thread: usize, donor_slot: usize) {
        let bytes = crate::donor::DONOR_STACK as u64;
        let start = DONORS.start as u64 + donor_slot as u64 * bytes;
        if !self.storages.contains_key(&start) {
            let name = format!("thread-local storage of thread {thread}");
            let id = self.add(own_area(AreaKind::Other, name, start, bytes, thread, 0));
            self.storages.insert(start, id);
        }
    }
}

/// Whether a key names an allocation.
fn names(key: &AreaKey, path: &[u64], bytes: u64, ordinal: u32) -> bool {
    match key {
        AreaKey::Site { code, bytes: of_bytes, ordinal: of_ordinal } => {
            of_bytes.is_none_or(|of| of == bytes)
                && of_ordinal.is_none_or(|of| of == ordinal)
                && path.iter().any(|&address| {
                    // A return address may be the first of the next line.
                    code.iter().any(|range| crate::modules::is_within(range, address - 1))
                })
        }
        AreaKey::Range { .. } | AreaKey::Stacks | AreaKey::Small => false,
    }
}

impl Runtime {
    /// An area begins at `start`: the card's filters of its name watch it.
    pub fn watch(&mut self, path: &[u64], bytes: u64, ordinal: u32, start: u64) {
        let board = self.system.engine_mut().observer_mut().board_mut();
        for watch in self.spec.watches.iter().filter(|watch| names(&watch.area, path, bytes, ordinal)) {
            let _refusal_is_in_the_profile = board.arm(watch.filter as usize, start, bytes);
        }
    }
}

/// Areas by address.
pub struct Index {
    /// First address, end, number; ascending and disjoint.
    spans: Vec<(u64, u64, u32)>,
}

impl Index {
    /// Of a run's areas.
    pub fn new(areas: &[Area]) -> Self {
        let mut spans: Vec<_> =
            areas.iter().zip(0..).map(|(area, id)| (area.start, area.start + area.bytes, id)).collect();
        spans.sort_unstable();
        Self { spans }
    }

    /// The area that covers most of a range; the first of equals.
    pub fn covering(&self, start: u64, end: u64) -> Option<u32> {
        let first = self.spans.partition_point(|span| span.1 <= start);
        let overlap = |span: &(u64, u64, u32)| span.1.min(end) - span.0.max(start);
        let within = self.spans[first..].iter().take_while(|span| span.0 < end);
        within
            .fold(None, |best: Option<(u64, u32)>, span| match best {
                Some(best) if best.0 >= overlap(span) => Some(best),
                _ => Some((overlap(span), span.2)),
            })
            .map(|best| best.1)
    }
}

/// An area without a site.
pub fn own_area(kind: AreaKind, name: String, start: u64, bytes: u64, thread: usize, born: u64) -> Area {
    Area { kind, name, start, bytes, site: None, ordinal: 0, thread: thread as u16, born, freed: None }
}
