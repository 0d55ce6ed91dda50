//! Where the plain machine's pages live: by the policy of the whole run, at the first touch.

use olifant_machine::{FramePolicy, Machine, NodeId, Routes};
use olifant_placement::MemoryPolicy;
use olifant_sim::Random;
use std::collections::BTreeMap;

/// A page's home and the colour of its frame.
#[derive(Clone, Copy)]
pub struct Page {
    pub home: usize,
    pub colour: u64,
}

pub struct Pages {
    policy: MemoryPolicy,
    frames: FramePolicy,
    colours: u64,
    page_bytes: u64,
    frames_of_node: Vec<u64>,
    /// For each node, all nodes by number of hops, then by number.
    nearest: Vec<Vec<usize>>,
    placed: BTreeMap<u64, Page>,
    touched: u64,
    random: Random,
}

impl Pages {
    pub fn new(machine: &Machine, routes: &Routes, policy: MemoryPolicy, seed: u64) -> Self {
        let page_bytes = machine.os.page.0;
        let level2 = &machine.processor.l2;
        let nodes = machine.nodes.len();
        let hops = |from: usize, to: usize| routes.hops(machine.nodes[from].id, machine.nodes[to].id);
        let nearest = (0..nodes).map(|from| {
            let mut order: Vec<usize> = (0..nodes).collect();
            order.sort_by_key(|&to| (hops(from, to), to));
            order
        });
        Self {
            policy,
            frames: machine.os.frames,
            colours: (level2.size.0 / u64::from(level2.ways) / page_bytes).max(1),
            page_bytes,
            frames_of_node: machine.nodes.iter().map(|node| node.memory.0 / page_bytes).collect(),
            nearest: nearest.collect(),
            placed: BTreeMap::new(),
            touched: 0,
            random: Random::new(seed),
        }
    }

    /// The page of an address; the first to touch it places it.
    pub fn touch(&mut self, address: u64, toucher: usize) -> Page {
        let number = address / self.page_bytes;
        if let Some(&page) = self.placed.get(&number) {
            return page;
        }
        let wanted = match self.policy {
            MemoryPolicy::FirstTouch | MemoryPolicy::Local => toucher,
            MemoryPolicy::Striped { pages } => {
                (number / u64::from(pages)) as usize % self.frames_of_node.len()
            }
            MemoryPolicy::Node(NodeId(node)) => usize::from(node),
            MemoryPolicy::Any | MemoryPolicy::Remote => panic!("left to chance: not in the plain machine"),
        };
        let has_room = |&node: &usize| self.used(node) < self.frames_of_node[node];
        let home = self.nearest[wanted].iter().copied().find(has_room).unwrap_or(wanted);
        let colour = match self.frames {
            FramePolicy::Coloured => number % self.colours,
            FramePolicy::Sequential => self.touched % self.colours,
            FramePolicy::Random => self.random.below(self.colours),
        };
        self.touched += 1;
        self.placed.insert(number, Page { home, colour });
        Page { home, colour }
    }

    pub fn of(&self, address: u64) -> Page {
        self.placed[&(address / self.page_bytes)]
    }

    /// Forgets the pages that lie wholly in `start .. start + bytes`; returns those in use with their addresses.
    pub fn forget(&mut self, start: u64, bytes: u64) -> Vec<(u64, Page)> {
        let first = start.div_ceil(self.page_bytes);
        let end = ((start + bytes) / self.page_bytes).max(first);
        let gone: Vec<(u64, Page)> =
            self.placed.range(first..end).map(|(&number, &page)| (number * self.page_bytes, page)).collect();
        self.placed.retain(|number, _| !(first..end).contains(number));
        gone
    }

    /// Pages in use on a node.
    pub fn used(&self, node: usize) -> u64 {
        self.placed.values().filter(|page| page.home == node).count() as u64
    }
}
