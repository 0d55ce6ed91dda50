//! One processor: its clock, its TLB and its caches, and what it can do for an access with these alone.
//!
//! First level, TLB, second level; what they lack the engine provides. This is the hottest code of a simulation: the hooks
//! come here with every first-level miss, and most end here.

use crate::cache::{LineCache, LineState};
use crate::clock::Clock;
use crate::counters::CpuCounters;
use crate::level1::{Found, Level1};
use crate::pages::Translation;
use crate::setup::Shape;
use crate::tlb::Tlb;

/// Instructions between two looks of the simulator at a processor's counters, at most: the hooks' access counts are
/// 16 bits wide.
pub(crate) const COUNT_LIMIT: u64 = 60_000;

/// One processor.
pub(crate) struct Cpu {
    pub(crate) node: u16,
    pub(crate) level1: Level1,
    pub(crate) level2: LineCache,
    pub(crate) tlb: Tlb,
    pub(crate) clock: Clock,
    pub(crate) counters: CpuCounters,
    /// Cycle at which its turn ends.
    pub(crate) deadline: u64,
    /// Stamp at which the hooks' counters must be emptied.
    pub(crate) count_limit: u32,
    /// Lines of which the loss of any wakes the thread that polls them.
    pub(crate) watched: Vec<u32>,
}

/// A line, and where it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) translation: Translation,
    pub(crate) line: u32,
    /// Its set in the second level.
    pub(crate) set: usize,
}

/// What a processor lacks for an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: it is done.
    Nothing,
    /// The page's translation.
    Translation,
    /// The line.
    Line(Place),
    /// The permission to write a line that it holds.
    Permission(Place),
}

impl Cpu {
    /// Serves an access, or says what is lacking; `level2_hit` is the stall of a read that the second level serves.
    #[inline]
    pub(crate) fn serve(&mut self, shape: &Shape, level2_hit: u64, address: u64, is_write: bool) -> Need {
        let found = self.level1.touch(address);
        if found == Found::Writable || found == Found::Readable && !is_write {
            return Need::Nothing;
        }
        let Some(translation) = self.tlb.find(address >> shape.page_bits) else { return Need::Translation };
        let line = shape.line(address, translation);
        let set = shape.level2_set(translation.colour(), line);
        let place = Place { translation, line, set };
        if found == Found::Readable {
            if self.level2.state(set, line) == Some(LineState::Shared) {
                return Need::Permission(place);
            }
            self.permit(place, address);
            return Need::Nothing;
        }
        self.counters.level1_misses += 1;
        let Some(state) = self.level2.touch(set, line) else { return Need::Line(place) };
        if is_write {
            if state == LineState::Shared {
                self.level1.fill(address, false);
                return Need::Permission(place);
            }
            self.level2.set_newest(set, line, LineState::Modified);
            self.level1.fill(address, true);
            return Need::Nothing;
        }
        self.clock.stall(self.level1.header_ref().stamp(), level2_hit);
        self.level1.fill(address, state == LineState::Modified);
        self.renew_limit();
        Need::Nothing
    }

    /// A line that the first level holds may be written from now on.
    pub(crate) fn permit(&mut self, place: Place, address: u64) {
        self.level2.set_state(place.set, place.line, LineState::Modified);
        self.level1.allow_writes(address);
        self.renew_limit();
    }

    /// A line arrived in the second level: the first level takes it too.
    pub(crate) fn receive(&mut self, address: u64, state: LineState) {
        self.level1.fill(address, state == LineState::Modified);
        self.renew_limit();
    }

    /// After a stall: the hooks may run no further than to the end of the turn.
    #[inline]
    fn renew_limit(&mut self) {
        let stamp = self.level1.header_ref().stamp();
        let room = self.clock.instructions_until(stamp, self.deadline).min(COUNT_LIMIT);
        #[allow(clippy::cast_possible_truncation)]
        let limit = (stamp + room as u32).min(self.count_limit);
        self.level1.header().set_limit(limit);
    }
}
