//! A plan's decision on a range of memory: cut into pieces of one spread each, put into force, and read back.

use crate::heaps::spread_here;
use core::ops::Range;
use olifant_frontend::inside::AreasFound;
use olifant_frontend::spec::{Place, equal_parts};
use olifant_placement::{MemoryPolicy, Spread};
use olifant_sys::{Pid, page_size};
use rset::{PlaceOptions, System};

/// Causes that are kept for a rule: the first ones tell what is wrong.
const MOST_CAUSES: usize = 4;

/// A range with one spread.
pub type Piece = (Range<usize>, Spread);

/// The pieces of a range, which is widened to whole pages: none where the decision leaves pages to the toucher. `None`
/// where the nodes are not there.
pub fn pieces(system: &System, range: Range<usize>, place: &Place) -> Option<Vec<Piece>> {
    let page = page_size();
    let whole = range.start / page * page..range.end.next_multiple_of(page);
    match place {
        Place::Policy(MemoryPolicy::FirstTouch) => Some(Vec::new()),
        Place::Policy(policy) => {
            let spread = spread_here(system, &policy.clone().into(), &system.hierarchy().system().nodes)?;
            Some(vec![(whole, spread)])
        }
        Place::Blocks(runs) => {
            let mut pieces: Vec<Piece> = Vec::new();
            let mut start = whole.start;
            for (index, run) in runs.iter().enumerate() {
                // The last run's node also takes pages beyond the sum.
                let is_last = index + 1 == runs.len();
                let bytes = usize::try_from(run.pages).ok()?.checked_mul(page)?;
                let end = if is_last { whole.end } else { start.saturating_add(bytes).min(whole.end) };
                if start < end {
                    pieces.push((start..end, Spread::Within([run.node].into_iter().collect())));
                }
                start = end;
            }
            Some(pieces)
        }
        Place::Parts(nodes) => {
            let runs = equal_parts(nodes, whole.len() as u64, page as u64);
            pieces(system, whole, &Place::Blocks(runs))
        }
    }
}

/// Puts pieces into force: pages to come by policy, pages that are there by moving.
pub fn put(system: &System, pieces: &[Piece]) -> rset::Result<()> {
    for (range, spread) in pieces {
        system.place_spread(range.clone(), spread, &PlaceOptions::default())?;
    }
    Ok(())
}

/// Adds where the pages of pieces are.
pub fn look(system: &System, pieces: &[Piece], found: &mut AreasFound) {
    for (range, spread) in pieces {
        match system.query(Pid::CALLING, range.clone(), Some(spread)) {
            Ok(seen) => {
                found.at_home += seen.at_home;
                found.elsewhere += seen.elsewhere;
                found.absent += seen.absent;
            }
            Err(error) => add_cause(found, error.to_string()),
        }
    }
}

/// Notes why something is not as asked, once.
pub fn add_cause(found: &mut AreasFound, cause: String) {
    if found.causes.len() < MOST_CAUSES && !found.causes.contains(&cause) {
        found.causes.push(cause);
    }
}
