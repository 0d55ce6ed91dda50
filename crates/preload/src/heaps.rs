//! Heaps under a policy: one for all threads, or one for each node where the policy depends on the thread that asks.

use core::cell::Cell;
use olifant_machine::{NodeId, NodeSet};
use olifant_placement::{SetPolicy, Spread};
use rset::{Growing, Heap, ReadBack, System};
use std::sync::OnceLock;

/// Allocations between two looks at the node that the thread runs on: a thread that is not bound may wander, and its
/// next blocks are then to be near to where it is.
const ALLOCATIONS_PER_LOOK: u8 = 64;

/// The heaps of a policy. They are made when they are first needed.
pub struct Heaps {
    system: System,
    policy: SetPolicy,
    nodes: NodeSet,
    /// By node number where the policy depends on it, else one. `None` inside: that one could not be made.
    heaps: Vec<OnceLock<Option<Heap>>>,
}

thread_local! {
    /// The calling thread's node, and for how many allocations that counts.
    static NODE: Cell<(u16, u8)> = const { Cell::new((0, 0)) };
}

impl Heaps {
    /// Heaps on these nodes.
    pub fn new(system: &System, policy: SetPolicy, nodes: NodeSet) -> Heaps {
        let count = if depends_on_thread(&policy) {
            let last = system.hierarchy().nodes().iter().map(|node| node.id.0).max().unwrap_or(0);
            usize::from(last) + 1
        } else {
            1
        };
        let heaps = (0..count).map(|_| OnceLock::new()).collect();
        Heaps { system: system.clone(), policy, nodes, heaps }
    }

    /// The heap for the calling thread; `None` where the system refused it.
    #[inline]
    pub fn here(&self) -> Option<&Heap> {
        let node = if self.heaps.len() > 1 { calling_node() } else { 0 };
        let place = self.heaps.get(usize::from(node))?;
        match place.get() {
            Some(heap) => heap.as_ref(),
            None => self.make(place, NodeId(node)),
        }
    }

    /// The heap, where it is one for all threads.
    pub fn one(&self) -> Option<&Heap> {
        if self.heaps.len() == 1 { self.here() } else { None }
    }

    #[cold]
    fn make<'h>(&'h self, place: &'h OnceLock<Option<Heap>>, node: NodeId) -> Option<&'h Heap> {
        let spread = spread_on(&self.system, &self.policy, &self.nodes, node);
        place.get_or_init(|| Heap::with_spread(&self.system, spread?).ok()).as_ref()
    }

    /// Those that are in use.
    fn made(&self) -> impl Iterator<Item = &Heap> {
        self.heaps.iter().filter_map(|place| place.get()?.as_ref())
    }

    /// Where the pages of all of them are.
    pub fn read_back(&self) -> Vec<ReadBack> {
        self.made().filter_map(|heap| heap.read_back().ok()).collect()
    }

    /// Keeps them from growing, so that the process can fork.
    pub fn hold(&self) -> Vec<Growing<'_>> {
        self.made().map(Heap::hold).collect()
    }
}

/// What a policy means for the calling thread.
pub fn spread_here(system: &System, policy: &SetPolicy, nodes: &NodeSet) -> Option<Spread> {
    let node = if depends_on_thread(policy) { calling_node() } else { 0 };
    spread_on(system, policy, nodes, NodeId(node))
}

fn spread_on(system: &System, policy: &SetPolicy, nodes: &NodeSet, node: NodeId) -> Option<Spread> {
    let local = system.hierarchy().nearest_memory(node, nodes);
    policy.spread(nodes, &local).ok()
}

fn depends_on_thread(policy: &SetPolicy) -> bool {
    matches!(policy, SetPolicy::Local | SetPolicy::Remote)
}

fn calling_node() -> u16 {
    let (node, left) = NODE.get();
    if left > 0 {
        NODE.set((node, left - 1));
        return node;
    }
    let node = olifant_sys::current_cpu_and_node().map_or(0, |(_, node)| node.0);
    NODE.set((node, ALLOCATIONS_PER_LOOK));
    node
}
