//! What the specification came to, made once before `main` and never changed.

use crate::areas::Areas;
use crate::heaps::Heaps;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// What serves memory.
pub struct State {
    /// The heaps of malloc and its kin, if they have a policy.
    pub heap: Option<Heaps>,
    /// The plan's areas, if there is a plan.
    pub areas: Option<Areas>,
    /// Where the report goes.
    pub report: Option<String>,
}

static STATE: OnceLock<State> = OnceLock::new();
/// The process that `STATE` was made for, until it has left its report.
static REPORTER: AtomicU32 = AtomicU32::new(0);

/// The state, once there is one.
pub fn get() -> Option<&'static State> {
    STATE.get()
}

/// Sets it, for the calling process.
pub fn set(state: State) {
    REPORTER.store(std::process::id(), Ordering::Relaxed);
    let _ = STATE.set(state);
}

/// Whether the calling process is to leave the report: true once, and never in a child.
pub fn takes_report() -> bool {
    let own = std::process::id();
    REPORTER.compare_exchange(own, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}
