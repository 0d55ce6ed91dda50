//! The contested lines of a page: where they lie, who used which bytes of them, and the code that did.
//!
//! A run may have tens of thousands. The most contested are told in full; the next ones are marks on the heat map; what is left out even so is summed up.

use super::areas::LONGEST_NAME;
use crate::text::cut;
use olifant_opium::profile::{ContestedLine, Frame, LineAccesses, Profile, Sharing};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Accessors of one line that are shown, the busiest: more than a reader can compare.
const MOST_ACCESSORS: usize = 64;
/// Lines with a mark.
const MOST_MARKS: usize = 10_000;

/// The contested lines of a run.
#[derive(Serialize)]
pub(super) struct ContestedFacts {
    /// Most contested first.
    pub(super) lines: Vec<LineFacts>,
    /// The next ones: index into the page's areas, offset, bytes, transfers, class.
    pub(super) marks: Vec<(usize, i64, u32, u64, Sharing)>,
    /// Lines of the run in all.
    pub(super) count: usize,
    /// Their transfers.
    pub(super) transfers: u64,
    /// Places in the code that `lines` refer to.
    pub(super) places: Vec<Frame>,
}

/// A contested line.
#[derive(Serialize)]
pub(super) struct LineFacts {
    /// Index into the page's areas, if it is one of them.
    area: Option<usize>,
    area_name: String,
    /// Offset of the line's first byte from the area's.
    offset: i64,
    bytes: u32,
    transfers: u64,
    sharing: Sharing,
    /// Who, ascending by thread.
    by: Vec<AccessorFacts>,
    /// Accessors that are left out.
    more: usize,
}

/// One thread's part.
#[derive(Serialize)]
struct AccessorFacts {
    thread: u16,
    reads: u64,
    writes: u64,
    /// Hexadecimal, as JSON's numbers lose digits: bit i is byte group i of bytes / 64, at least 1.
    read_mask: String,
    write_mask: String,
    /// The code address of such an access.
    code: String,
    /// Its place in the source, an index into `places`.
    place: Option<usize>,
}

/// The contested lines of `profile`, `most` of them in full; `shown` gives an area's index in the page by its id.
pub(super) fn facts(
    profile: &Profile,
    shown: &HashMap<usize, usize>,
    locate: &dyn Fn(u64) -> Option<Frame>,
    most: usize,
) -> ContestedFacts {
    let mut places = Places { list: Vec::new(), by_code: HashMap::new(), locate };
    let in_full = profile.contested.iter().take(most);
    let marked = profile.contested.iter().skip(most).take(MOST_MARKS);
    let mark = |line: &ContestedLine| {
        let area = *shown.get(&(line.area as usize))?;
        Some((area, line.offset, line.bytes, line.transfers, line.sharing))
    };
    ContestedFacts {
        lines: in_full.map(|line| line_facts(profile, shown, line, &mut places)).collect(),
        marks: marked.filter_map(mark).collect(),
        count: profile.contested.len(),
        transfers: profile.contested.iter().map(|line| line.transfers).sum(),
        places: places.list,
    }
}

fn line_facts(
    profile: &Profile,
    shown: &HashMap<usize, usize>,
    line: &ContestedLine,
    places: &mut Places<'_>,
) -> LineFacts {
    let mut by: Vec<&LineAccesses> = line.by.iter().collect();
    if by.len() > MOST_ACCESSORS {
        by.sort_by_key(|by| Reverse(by.reads + by.writes));
        by.truncate(MOST_ACCESSORS);
        by.sort_by_key(|by| by.thread);
    }
    let area = line.area as usize;
    LineFacts {
        area: shown.get(&area).copied(),
        area_name: profile.areas.get(area).map_or(String::new(), |area| cut(&area.name, LONGEST_NAME)),
        offset: line.offset,
        bytes: line.bytes,
        transfers: line.transfers,
        sharing: line.sharing,
        more: line.by.len() - by.len(),
        by: by.into_iter().map(|by| accessor_facts(by, places)).collect(),
    }
}

fn accessor_facts(by: &LineAccesses, places: &mut Places<'_>) -> AccessorFacts {
    AccessorFacts {
        thread: by.thread,
        reads: by.reads,
        writes: by.writes,
        read_mask: format!("{:x}", by.read_mask),
        write_mask: format!("{:x}", by.write_mask),
        code: format!("{:#x}", by.code),
        place: places.of(by.code),
    }
}

/// Places found so far; many lines are contested by the same few instructions.
struct Places<'l> {
    list: Vec<Frame>,
    by_code: HashMap<u64, Option<usize>>,
    locate: &'l dyn Fn(u64) -> Option<Frame>,
}

impl Places<'_> {
    fn of(&mut self, code: u64) -> Option<usize> {
        if let Some(known) = self.by_code.get(&code) {
            return *known;
        }
        let frame = if code == 0 { None } else { (self.locate)(code) };
        let place = frame.map(|frame| {
            let function = cut(&frame.function, LONGEST_NAME);
            self.list.push(Frame { function, ..frame });
            self.list.len() - 1
        });
        self.by_code.insert(code, place);
        place
    }
}
