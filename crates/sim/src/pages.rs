//! The operating system's part in an address: which node and which page colour back a virtual page.
//!
//! Pages are placed at their first touch, through this table, so no host address reaches the result. A *slot* is a
//! dense number for a page in use; the caches and the directory work on slots. A page's *colour* is what its frame
//! number contributes to the second-level cache's index.
//!
//! Leaves out: paging to disk, huge pages, copy on write.

use crate::random::Random;
use olifant_machine::{FramePolicy, NodeId};
use olifant_placement::{MemoryPolicy, Run};
use std::collections::BTreeMap;

/// Virtual pages per table chunk (1 GiB of 4 KiB pages).
const CHUNK_BITS: u32 = 18;
/// Bits of a user-space virtual address.
const ADDRESS_BITS: u32 = 47;

/// A page that has been placed: slot, colour and home, packed as TLB and table hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Translation(u64);

impl Translation {
    const fn new(slot: u32, colour: u16, home: u16) -> Self {
        Self((slot as u64 + 1) | (colour as u64) << 32 | (home as u64) << 48)
    }

    /// Whether a page is there at all.
    pub const fn is_present(self) -> bool {
        self.0 != 0
    }

    /// Dense number of the page.
    #[allow(clippy::cast_possible_truncation)]
    pub const fn slot(self) -> u32 {
        self.0 as u32 - 1
    }

    /// Page colour.
    #[allow(clippy::cast_possible_truncation)]
    pub const fn colour(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Node whose memory backs it.
    pub const fn home(self) -> u16 {
        (self.0 >> 48) as u16
    }
}

/// How the pages of a range get their nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    /// One policy for all.
    Policy(MemoryPolicy),
    /// Runs of pages from the range's first page on; the last run's node takes what is beyond.
    Blocks(Vec<Run>),
}

/// What the table remembers of a page in use.
#[derive(Debug, Clone, Copy)]
pub struct PageInfo {
    /// Number of the virtual page.
    pub virtual_page: u64,
    /// Its translation.
    pub translation: Translation,
}

struct Range {
    end: u64,
    /// Node of the thread that made the range.
    owner: u16,
    placement: Placement,
}

/// What the page table needs to know of the machine.
pub struct Geometry {
    /// log2 of the page size.
    pub page_bits: u32,
    /// Number of page colours of the second-level cache.
    pub colours: u16,
    /// Frames per node.
    pub capacity: Vec<u64>,
    /// For each node, all nodes from the nearest to the farthest, itself first.
    pub nearest: Vec<Vec<u16>>,
    /// How frames are chosen.
    pub frames: FramePolicy,
}

/// The page table of the simulated program.
pub struct PageTable {
    geometry: Geometry,
    default: MemoryPolicy,
    chunks: Vec<Option<Box<[Translation]>>>,
    ranges: BTreeMap<u64, Range>,
    pages: Vec<PageInfo>,
    free_slots: Vec<u32>,
    used: Vec<u64>,
    touched: u64,
    /// Turn of the `remote` policy, per node.
    turns: Vec<u16>,
    random: Random,
}

impl PageTable {
    /// An empty table; ranges that nobody maps follow `default`.
    pub fn new(geometry: Geometry, default: MemoryPolicy, random: Random) -> Self {
        let nodes = geometry.capacity.len();
        Self {
            chunks: (0..1 << (ADDRESS_BITS - geometry.page_bits - CHUNK_BITS)).map(|_| None).collect(),
            geometry,
            default,
            ranges: BTreeMap::new(),
            pages: Vec::new(),
            free_slots: Vec::new(),
            used: vec![0; nodes],
            touched: 0,
            turns: vec![0; nodes],
            random,
        }
    }

    /// log2 of the page size.
    pub fn page_bits(&self) -> u32 {
        self.geometry.page_bits
    }

    /// Says how the pages that overlap `start .. start + bytes` are placed when they are touched; pages already
    /// touched stay.
    pub fn map(&mut self, start: u64, bytes: u64, owner: u16, placement: Placement) {
        let (first, end) = self.span(start, bytes);
        self.cut(first, end);
        self.ranges.insert(first, Range { end, owner, placement });
    }

    /// Forgets a range; returns the pages in use that lie wholly in it, whose slots are free again.
    pub fn unmap(&mut self, start: u64, bytes: u64) -> Vec<PageInfo> {
        let bits = self.geometry.page_bits;
        let (first, end) = ((start + (1 << bits) - 1) >> bits, (start + bytes) >> bits);
        if first >= end {
            return Vec::new();
        }
        self.cut(first, end);
        let mut freed = Vec::new();
        for page in first..end {
            let Some(entry) = self.entry(page) else { continue };
            let translation = std::mem::take(entry);
            if translation.is_present() {
                self.used[usize::from(translation.home())] -= 1;
                self.free_slots.push(translation.slot());
                freed.push(self.pages[translation.slot() as usize]);
            }
        }
        freed
    }

    /// The translation of an address, placing its page if this is the first touch; `node` is the toucher's.
    pub fn translate(&mut self, address: u64, node: u16) -> Translation {
        let page = (address & ((1 << ADDRESS_BITS) - 1)) >> self.geometry.page_bits;
        if let Some(entry) = self.entry(page)
            && entry.is_present()
        {
            return *entry;
        }
        self.place(page, node)
    }

    /// Whether the page of an address, when locked, would wait for its first touch all the same.
    pub fn waits_for_touch(&self, address: u64) -> bool {
        let page = (address & ((1 << ADDRESS_BITS) - 1)) >> self.geometry.page_bits;
        let range = self.ranges.range(..=page).next_back().filter(|(_, range)| page < range.end);
        matches!(range, Some((_, Range { placement: Placement::Policy(MemoryPolicy::FirstTouch), .. })))
    }

    /// The translation of an address if its page is in use.
    pub fn lookup(&self, address: u64) -> Option<Translation> {
        let page = (address & ((1 << ADDRESS_BITS) - 1)) >> self.geometry.page_bits;
        let chunk = self.chunks[(page >> CHUNK_BITS) as usize].as_ref()?;
        Some(chunk[(page & ((1 << CHUNK_BITS) - 1)) as usize]).filter(|entry| entry.is_present())
    }

    /// The page behind a slot.
    pub fn page(&self, slot: u32) -> PageInfo {
        self.pages[slot as usize]
    }

    /// Number of slots ever used.
    pub fn slots(&self) -> usize {
        self.pages.len()
    }

    /// Pages in use on each node.
    pub fn used(&self) -> &[u64] {
        &self.used
    }

    fn span(&self, start: u64, bytes: u64) -> (u64, u64) {
        let bits = self.geometry.page_bits;
        (start >> bits, (start + bytes.max(1) + (1 << bits) - 1) >> bits)
    }

    /// Removes ranges inside `first .. end`; what sticks out on either side stays.
    fn cut(&mut self, first: u64, end: u64) {
        let overlapping: Vec<u64> = self
            .ranges
            .range(..end)
            .rev()
            .take_while(|(_, range)| range.end > first)
            .map(|(&at, _)| at)
            .collect();
        for at in overlapping {
            let Some(range) = self.ranges.remove(&at) else { continue };
            if range.end > end {
                let placement = match &range.placement {
                    Placement::Policy(policy) => Placement::Policy(policy.clone()),
                    Placement::Blocks(runs) => Placement::Blocks(skip_pages(runs, end - at)),
                };
                self.ranges.insert(end, Range { end: range.end, owner: range.owner, placement });
            }
            if at < first {
                self.ranges.insert(at, Range { end: first, ..range });
            }
        }
    }

    fn entry(&mut self, page: u64) -> Option<&mut Translation> {
        let chunk = self.chunks.get_mut((page >> CHUNK_BITS) as usize)?.as_mut()?;
        Some(&mut chunk[(page & ((1 << CHUNK_BITS) - 1)) as usize])
    }

    fn place(&mut self, page: u64, toucher: u16) -> Translation {
        let wanted = self.wanted_node(page, toucher);
        let home = self.node_with_room(wanted);
        let colour = match self.geometry.frames {
            FramePolicy::Coloured => page % u64::from(self.geometry.colours),
            FramePolicy::Sequential => self.touched % u64::from(self.geometry.colours),
            FramePolicy::Random => self.random.below(u64::from(self.geometry.colours)),
        };
        self.touched += 1;
        self.used[usize::from(home)] += 1;
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.pages.push(PageInfo { virtual_page: 0, translation: Translation::default() });
            u32::try_from(self.pages.len() - 1).unwrap_or(u32::MAX)
        });
        // Colours are fewer than 65,536: the machine's check bounds them.
        #[allow(clippy::cast_possible_truncation)]
        let translation = Translation::new(slot, colour as u16, home);
        self.pages[slot as usize] = PageInfo { virtual_page: page, translation };
        let chunk = self.chunks[(page >> CHUNK_BITS) as usize]
            .get_or_insert_with(|| vec![Translation::default(); 1 << CHUNK_BITS].into_boxed_slice());
        chunk[(page & ((1 << CHUNK_BITS) - 1)) as usize] = translation;
        translation
    }

    fn wanted_node(&mut self, page: u64, toucher: u16) -> u16 {
        let range = self.ranges.range(..=page).next_back().filter(|(_, range)| page < range.end);
        let (owner, policy) = match range {
            Some((&first, Range { placement: Placement::Blocks(runs), .. })) => {
                return node_of_page(runs, page - first).map_or(toucher, |node| node.0);
            }
            Some((_, Range { owner, placement: Placement::Policy(policy), .. })) => (*owner, policy),
            None => (toucher, &self.default),
        };
        let nodes = self.used.len() as u64;
        #[allow(clippy::cast_possible_truncation)]
        match policy {
            MemoryPolicy::FirstTouch => toucher,
            MemoryPolicy::Local => owner,
            MemoryPolicy::Node(node) => node.0,
            MemoryPolicy::Striped { pages } => (page / u64::from((*pages).max(1)) % nodes) as u16,
            MemoryPolicy::Any => self.random.below(nodes) as u16,
            MemoryPolicy::Remote if nodes == 1 => owner,
            MemoryPolicy::Remote => {
                let turn = &mut self.turns[usize::from(owner)];
                *turn = (*turn + 1) % (nodes as u16 - 1);
                (owner + 1 + *turn) % nodes as u16
            }
        }
    }

    /// The wanted node, or the nearest one that still has a free frame; a full machine overcommits the wanted node.
    fn node_with_room(&self, wanted: u16) -> u16 {
        self.geometry.nearest[usize::from(wanted)]
            .iter()
            .copied()
            .find(|&node| self.used[usize::from(node)] < self.geometry.capacity[usize::from(node)])
            .unwrap_or(wanted)
    }
}

fn node_of_page(runs: &[Run], mut page: u64) -> Option<NodeId> {
    for run in runs {
        if page < run.pages {
            return Some(run.node);
        }
        page -= run.pages;
    }
    runs.last().map(|run| run.node)
}

fn skip_pages(runs: &[Run], mut pages: u64) -> Vec<Run> {
    let mut rest = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let skipped = pages.min(run.pages);
        pages -= skipped;
        if skipped < run.pages || index + 1 == runs.len() {
            rest.push(Run { pages: run.pages - skipped, node: run.node });
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(default: MemoryPolicy, frames: FramePolicy) -> PageTable {
        let nearest = (0..4u16).map(|node| (0..4).map(|k| (node + k) % 4).collect()).collect();
        let geometry = Geometry { page_bits: 12, colours: 64, capacity: vec![1000; 4], nearest, frames };
        PageTable::new(geometry, default, Random::new(1))
    }

    #[test]
    fn a_page_keeps_the_node_of_its_first_touch() {
        let mut table = table(MemoryPolicy::FirstTouch, FramePolicy::Coloured);
        assert_eq!(table.translate(0x5000, 3).home(), 3);
        assert_eq!(table.translate(0x5fff, 1).home(), 3);
        assert_eq!(table.used(), [0, 0, 0, 1]);
    }

    #[test]
    fn stripes_deal_pages_in_turn() {
        let mut table = table(MemoryPolicy::Striped { pages: 2 }, FramePolicy::Coloured);
        let homes: Vec<u16> = (0..8).map(|page| table.translate(page << 12, 0).home()).collect();
        assert_eq!(homes, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn remote_never_gives_the_owner() {
        let mut table = table(MemoryPolicy::FirstTouch, FramePolicy::Coloured);
        table.map(0, 300 << 12, 2, Placement::Policy(MemoryPolicy::Remote));
        for page in 0..300u64 {
            assert_ne!(table.translate(page << 12, 2).home(), 2);
        }
        assert_eq!(table.used(), [100, 100, 0, 100]);
    }

    #[test]
    fn blocks_survive_a_hole_in_the_middle() {
        let mut table = table(MemoryPolicy::Node(NodeId(0)), FramePolicy::Coloured);
        let runs = vec![Run { pages: 4, node: NodeId(1) }, Run { pages: 4, node: NodeId(2) }];
        table.map(0x10_000, 8 << 12, 0, Placement::Blocks(runs));
        table.unmap(0x12_000, 4 << 12);
        let homes: Vec<u16> = (16..24).map(|page| table.translate(page << 12, 3).home()).collect();
        assert_eq!(homes, [1, 1, 0, 0, 0, 0, 2, 2]);
    }

    #[test]
    fn a_full_node_passes_pages_to_its_neighbour() {
        let mut table = table(MemoryPolicy::Node(NodeId(1)), FramePolicy::Coloured);
        for page in 0..1500u64 {
            table.translate(page << 12, 0);
        }
        assert_eq!(table.used(), [0, 1000, 500, 0]);
    }

    #[test]
    fn coloured_pages_cycle_through_all_colours() {
        let mut table = table(MemoryPolicy::FirstTouch, FramePolicy::Coloured);
        for page in 0..128u64 {
            assert_eq!(u64::from(table.translate(page << 12, 0).colour()), page % 64);
        }
    }

    #[test]
    fn an_unmapped_page_is_placed_anew() {
        let mut table = table(MemoryPolicy::FirstTouch, FramePolicy::Sequential);
        table.translate(0x5000, 3);
        assert_eq!(table.unmap(0x5000, 0x1000).len(), 1);
        assert_eq!(table.translate(0x5000, 1).home(), 1);
        assert_eq!(table.slots(), 1);
    }
}
