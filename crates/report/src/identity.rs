//! The same area in two runs: an allocation by its call path, size and ordinal; a global by its symbol and size;
//! anything else by its name. Numbers of areas and addresses differ between runs and are not looked at.

use olifant_opium::profile::{Area, AreaKind, Frame, Profile};
use std::collections::HashMap;

/// What an area is recognised by.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity<'p> {
    origin: Origin<'p>,
    bytes: u64,
    ordinal: u32,
    /// Two sites of one line have areas alike in all else: then the order of their birth tells.
    repetition: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Origin<'p> {
    Path(Vec<(&'p str, &'p str, u32)>),
    Name(&'static str, &'p str),
}

/// For each area of `before` the same one of `after`, if it is there.
pub(crate) fn matching(before: &Profile, after: &Profile) -> Vec<Option<usize>> {
    let known: HashMap<Identity<'_>, usize> =
        identities(after).into_iter().enumerate().map(|(area, identity)| (identity, area)).collect();
    identities(before).iter().map(|identity| known.get(identity).copied()).collect()
}

fn identities(profile: &Profile) -> Vec<Identity<'_>> {
    let mut seen: HashMap<(Origin<'_>, u64, u32), u32> = HashMap::new();
    let identity = |area| {
        let origin = origin(profile, area);
        let (bytes, ordinal) = (area.bytes, area.ordinal);
        let times = seen.entry((origin.clone(), bytes, ordinal)).or_default();
        *times += 1;
        Identity { origin, bytes, ordinal, repetition: *times }
    };
    profile.areas.iter().map(identity).collect()
}

fn origin<'p>(profile: &'p Profile, area: &'p Area) -> Origin<'p> {
    match frames(profile, area) {
        [] => Origin::Name(kind(area.kind), &area.name),
        frames => {
            let place = |frame: &'p Frame| (frame.function.as_str(), frame.file.as_str(), frame.line);
            Origin::Path(frames.iter().map(place).collect())
        }
    }
}

/// The resolved call path that made an area, innermost first; empty for what was not allocated or not resolved.
pub(crate) fn frames<'p>(profile: &'p Profile, area: &Area) -> &'p [Frame] {
    let site = area.site.and_then(|site| profile.sites.get(site as usize));
    site.map_or(&[], |site| site.frames.as_slice())
}

/// The word for a kind of area, as in the profile file.
pub(crate) fn kind(kind: AreaKind) -> &'static str {
    match kind {
        AreaKind::Heap => "heap",
        AreaKind::Global => "global",
        AreaKind::Stack => "stack",
        AreaKind::Mapping => "mapping",
        AreaKind::Small => "small",
        AreaKind::Other => "other",
    }
}
