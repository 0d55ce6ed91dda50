//! What happens around fork: nobody holds a lock of ours or of the allocator's meanwhile, and the child's first thread is
//! placed, or set free, as children are.

use crate::{fork_gate, state, threads};
use core::cell::UnsafeCell;
use rset::Growing;
use std::sync::MutexGuard;

/// What the forking thread holds.
struct Held {
    _heap: Vec<Growing<'static>>,
    _areas: Option<(Vec<Growing<'static>>, MutexGuard<'static, crate::areas::Table>)>,
}

struct Place(UnsafeCell<Option<Held>>);

// SAFETY: only the thread that closed the gate uses it, until it opens the gate again.
unsafe impl Sync for Place {}

static HELD: Place = Place(UnsafeCell::new(None));

extern "C" fn prepare() {
    let state = state::get();
    let held = Held {
        _heap: state.and_then(|state| state.heap.as_ref()).map(crate::heaps::Heaps::hold).unwrap_or_default(),
        _areas: state.and_then(|state| state.areas.as_ref()).map(crate::areas::Areas::hold),
    };
    fork_gate::close();
    // SAFETY: the gate is closed, so this thread is the only one here.
    unsafe { *HELD.0.get() = Some(held) };
}

extern "C" fn in_parent() {
    // SAFETY: the gate is still closed.
    let held = unsafe { (*HELD.0.get()).take() };
    fork_gate::open();
    drop(held);
}

extern "C" fn in_child() {
    // SAFETY: there is no other thread.
    let held = unsafe { (*HELD.0.get()).take() };
    fork_gate::open_in_child();
    drop(held);
    threads::forked();
}

/// Has all this done at each fork.
pub fn begin() {
    // SAFETY: the functions stay, as preloaded libraries are never unloaded.
    unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
}
