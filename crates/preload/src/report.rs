//! What was done, left in the report's file when the program ends.

use crate::{state, threads};
use olifant_frontend::inside::InsideReport;

/// Leaves the report, once, in the process that was told to.
pub fn leave() {
    let Some(state) = state::get() else { return };
    let Some(path) = &state.report else { return };
    if !state::takes_report() {
        return;
    }
    let (threads_bound, threads_refused) = threads::counts();
    let areas = state.areas.as_ref().map(|areas| areas.found()).unwrap_or_default();
    let report = InsideReport { threads_bound, threads_refused, areas };
    // Nobody could be told of a failure here; the launcher misses the report and says so.
    let _ = std::fs::write(path, report.to_bytes());
}

/// Has the report left at the program's regular end, after its own last functions.
#[unsafe(link_section = ".fini_array")]
#[used]
static AT_END: extern "C" fn() = at_end;

extern "C" fn at_end() {
    leave();
}
