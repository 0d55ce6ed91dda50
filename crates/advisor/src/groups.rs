//! Groups: the areas that a plan can name together, and the name for each.
//!
//! Allocations are named by a frame of their call path that no other site has in its own, the innermost such frame: so
//! a wrapper around the allocator does not make all allocations look alike. Sites that no frame tells apart share a
//! group, and get one decision. Globals go by symbol; all stacks are one group. Small
//! allocations go by site too, as a whole: they share pages, so nothing singles one out. Areas that nothing names (libraries, mappings without a site) are left out.

use olifant_opium::profile::{AreaKind, Frame, Profile, Site};
use olifant_placement::{AreaMatch, FOR_SMALL, FOR_STACKS, Place};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Areas that a plan can name together.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// What they are.
    pub kind: AreaKind,
    /// Names all of them.
    pub name: AreaMatch,
    /// Indices of the areas that have counters, ascending.
    pub areas: Vec<usize>,
    /// Whether size and ordinal name a single member.
    pub can_single_out: bool,
}

impl Group {
    /// The name of one member.
    pub fn single_out(&self, profile: &Profile, area: usize) -> Option<AreaMatch> {
        let AreaMatch::Site { function, file, line, .. } = &self.name else {
            return (self.areas.len() == 1).then(|| self.name.clone());
        };
        if !self.can_single_out {
            return None;
        }
        let area = &profile.areas[area];
        Some(AreaMatch::Site {
            function: function.clone(),
            file: file.clone(),
            line: *line,
            bytes: Some(area.bytes),
            ordinal: Some(area.ordinal),
        })
    }
}

/// All groups with counters, in the order of their first areas.
pub(crate) fn group(profile: &Profile, has_counters: impl Fn(usize) -> bool) -> Vec<Group> {
    let naming = Naming::new(&profile.sites);
    let mut groups: Vec<Group> = Vec::new();
    let mut index: BTreeMap<(u8, String, String, u32), usize> = BTreeMap::new();
    let mut sizes: Vec<BTreeSet<u64>> = Vec::new();
    for (number, area) in profile.areas.iter().enumerate() {
        let (key, can_single_out) = match (area.kind, area.site) {
            (AreaKind::Heap | AreaKind::Mapping | AreaKind::Small, Some(site)) => {
                match naming.frame(&profile.sites, site as usize) {
                    Some((frame, is_unique)) => (
                        (0, frame.function.clone(), frame.file.clone(), frame.line),
                        is_unique && area.kind != AreaKind::Small,
                    ),
                    None if area.kind == AreaKind::Small => {
                        ((1, FOR_SMALL.to_owned(), String::new(), 0), false)
                    }
                    None => continue,
                }
            }
            (AreaKind::Global, _) => ((1, area.name.clone(), String::new(), 0), true),
            (AreaKind::Stack, _) => ((1, FOR_STACKS.to_owned(), String::new(), 0), false),
            (AreaKind::Small, _) => ((1, FOR_SMALL.to_owned(), String::new(), 0), false),
            _ => continue,
        };
        let is_site = key.0 == 0;
        let (function, file, line) = (key.1.clone(), key.2.clone(), key.3);
        let at = *index.entry(key).or_insert_with(|| {
            let name = if is_site {
                AreaMatch::Site { function, file, line, bytes: None, ordinal: None }
            } else {
                AreaMatch::Symbol(function)
            };
            groups.push(Group { kind: area.kind, name, areas: Vec::new(), can_single_out });
            sizes.push(BTreeSet::new());
            groups.len() - 1
        });
        groups[at].can_single_out &= can_single_out;
        // The size of a chunk of small allocations says nothing of theirs.
        sizes[at].insert(if area.kind == AreaKind::Small { 0 } else { area.bytes });
        if has_counters(number) {
            groups[at].areas.push(number);
        }
    }
    for (group, sizes) in groups.iter_mut().zip(&sizes) {
        if let (AreaMatch::Site { bytes, .. }, 1) = (&mut group.name, sizes.len()) {
            *bytes = sizes.first().copied().filter(|&bytes| bytes > 0);
        }
    }
    groups.retain(|group| !group.areas.is_empty());
    groups
}

/// The call path of an area's site as the plan's matching sees it.
pub(crate) fn path_of(site: &Site) -> impl Iterator<Item = Place<'_>> + Clone {
    site.frames.iter().map(|frame| Place { function: &frame.function, file: &frame.file, line: frame.line })
}

/// Which frames occur in the paths of several sites.
struct Naming {
    sites_with: HashMap<(String, String, u32), BTreeSet<usize>>,
}

impl Naming {
    fn new(sites: &[Site]) -> Naming {
        let mut sites_with: HashMap<_, BTreeSet<usize>> = HashMap::new();
        for (number, site) in sites.iter().enumerate() {
            for frame in &site.frames {
                sites_with
                    .entry((frame.function.clone(), frame.file.clone(), frame.line))
                    .or_default()
                    .insert(number);
            }
        }
        Naming { sites_with }
    }

    /// The frame that names a site, and whether it names no other.
    fn frame<'s>(&self, sites: &'s [Site], site: usize) -> Option<(&'s Frame, bool)> {
        let frames = &sites.get(site)?.frames;
        let is_unique = |frame: &&Frame| {
            let key = (frame.function.clone(), frame.file.clone(), frame.line);
            // A frame without a line matches any line of its function, so it cannot single a site out.
            frame.line != 0 && self.sites_with.get(&key).is_some_and(|sites| sites.len() == 1)
        };
        frames.iter().find(is_unique).map(|frame| (frame, true)).or_else(|| Some((frames.first()?, false)))
    }
}
