//! The card: counts transactions by granule and accessor (a thread on a node).
//!
//! A granule's accessors are few, so they form a chain in one pool, the one seen last at its head: memory goes with
//! what was accessed, not with granules times threads. Counting changes nothing in the machine.

use crate::contest::{Contest, ContestTable};
use olifant_sim::protocol::Event;
use olifant_sim::{Observer, Transaction, index};

const END: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Entry {
    next: u32,
    thread: u16,
    node: u16,
    counts: [u32; 4],
}

/// Transactions of one accessor on a granule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessorCounts {
    /// The thread.
    pub thread: u16,
    /// The node it ran on.
    pub node: u16,
    /// Lines fetched to read.
    pub reads: u32,
    /// Lines fetched to write.
    pub writes: u32,
    /// Permissions to write a line already held.
    pub upgrades: u32,
    /// Dirty lines written back.
    pub write_backs: u32,
}

/// Transactions on one granule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GranuleCounts {
    /// Its first address.
    pub address: u64,
    /// The node it lived on.
    pub home: u16,
    /// Who reached it, ascending by (thread, node).
    pub by: Vec<AccessorCounts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Page {
    address: u64,
    home: u16,
}

/// Places of a processor's short memory.
const RECENT: usize = 16;

/// The entry of a processor's thread in one of the chains it used last.
#[derive(Debug, Clone, Copy)]
struct Recent {
    head: usize,
    entry: u32,
}

const NOTHING_RECENT: [Recent; RECENT] = [Recent { head: usize::MAX, entry: END }; RECENT];

/// The monitor.
pub struct Card {
    page_bits: u32,
    granule_bits: u32,
    pages: Vec<Page>,
    /// First entry of each granule's chain: page number times granules per page, plus the granule within the page.
    heads: Vec<u32>,
    pool: Vec<Entry>,
    free: Vec<u32>,
    thread_of_cpu: Vec<u16>,
    /// By cpu: a program streams through few granules at a time, so most transactions need no walk along a chain.
    recent: Vec<[Recent; RECENT]>,
    closed: Vec<GranuleCounts>,
    contests: ContestTable,
}

impl Card {
    /// A card for a machine with so many cpus. `granule_bytes` is a power of two from a line to a page; larger granules
    /// are sums of pages.
    pub fn new(cpus: usize, page_bytes: u64, granule_bytes: u64, line_bytes: u64) -> Self {
        Self {
            page_bits: page_bytes.trailing_zeros(),
            granule_bits: granule_bytes.clamp(line_bytes, page_bytes).trailing_zeros(),
            pages: Vec::new(),
            heads: Vec::new(),
            pool: Vec::new(),
            free: Vec::new(),
            thread_of_cpu: vec![0; cpus],
            recent: vec![NOTHING_RECENT; cpus],
            closed: Vec::new(),
            contests: ContestTable::new(line_bytes),
        }
    }

    /// Bytes per granule.
    pub fn granule_bytes(&self) -> u64 {
        1 << self.granule_bits
    }

    /// All granules with at least one transaction, those of pages given back first, else in the order of first touch.
    pub fn granules(&self) -> Vec<GranuleCounts> {
        let mut all = self.closed.clone();
        for page in 0..self.pages.len() {
            all.extend(self.page_granules(page));
        }
        all
    }

    /// Lines that moved between caches, most contested first.
    pub fn contests(&self) -> Vec<Contest> {
        self.contests.contests(|line| self.line_address(line))
    }

    fn per_page(&self) -> usize {
        1 << (self.page_bits - self.granule_bits)
    }

    fn line_address(&self, line: u64) -> u64 {
        let line_bits = self.contests.line_bits();
        let lines_bits = self.page_bits - line_bits;
        let page = self.pages.get(index(line >> lines_bits)).copied().unwrap_or_default();
        page.address | (line & ((1 << lines_bits) - 1)) << line_bits
    }

    fn page_granules(&self, page: usize) -> impl Iterator<Item = GranuleCounts> + '_ {
        let first = page * self.per_page();
        let Page { address, home } = self.pages[page];
        (0..self.per_page()).filter_map(move |granule| {
            let mut by = Vec::new();
            let mut at = self.heads[first + granule];
            while at != END {
                let Entry { next, thread, node, counts: [reads, writes, upgrades, write_backs] } =
                    self.pool[at as usize];
                by.push(AccessorCounts { thread, node, reads, writes, upgrades, write_backs });
                at = next;
            }
            by.sort_unstable();
            (!by.is_empty()).then(|| GranuleCounts {
                address: address + ((granule as u64) << self.granule_bits),
                home,
                by,
            })
        })
    }

    /// The entry of an accessor in a chain.
    fn entry(&mut self, cpu: u16, head: usize, node: u16) -> &mut Entry {
        let place = head % RECENT;
        let recent = self.recent[usize::from(cpu)][place];
        let entry = if recent.head == head {
            recent.entry
        } else {
            let entry = self.find_entry(head, self.thread_of_cpu[usize::from(cpu)], node);
            self.recent[usize::from(cpu)][place] = Recent { head, entry };
            entry
        };
        &mut self.pool[entry as usize]
    }

    /// The same by a walk along the chain, which moves the entry to its head.
    fn find_entry(&mut self, head: usize, thread: u16, node: u16) -> u32 {
        let mut at = self.heads[head];
        let mut before = END;
        while at != END {
            let entry = self.pool[at as usize];
            if (entry.thread, entry.node) == (thread, node) {
                if before != END {
                    self.pool[before as usize].next = entry.next;
                    self.pool[at as usize].next = self.heads[head];
                    self.heads[head] = at;
                }
                return at;
            }
            before = at;
            at = entry.next;
        }
        let new = Entry { next: self.heads[head], thread, node, counts: [0; 4] };
        let at = if let Some(at) = self.free.pop() {
            self.pool[at as usize] = new;
            at
        } else {
            self.pool.push(new);
            u32::try_from(self.pool.len() - 1).unwrap_or(END - 1)
        };
        self.heads[head] = at;
        at
    }

    fn close(&mut self, page: usize) {
        let granules: Vec<GranuleCounts> = self.page_granules(page).collect();
        self.closed.extend(granules);
        self.recent.fill(NOTHING_RECENT);
        let first = page * self.per_page();
        for head in first..first + self.per_page() {
            let mut at = std::mem::replace(&mut self.heads[head], END);
            while at != END {
                self.free.push(at);
                at = self.pool[at as usize].next;
            }
        }
    }
}

impl Observer for Card {
    fn transaction(&mut self, transaction: &Transaction) {
        let &Transaction { cpu, node, event, page, address, code, moves_copy, .. } = transaction;
        let offset = address & ((1 << self.page_bits) - 1);
        let head = page as usize * self.per_page() + index(offset >> self.granule_bits);
        let kind = match event {
            Event::Read => 0,
            Event::Write => 1,
            Event::Upgrade => 2,
            Event::WriteBack => 3,
        };
        let count = &mut self.entry(cpu, head, node).counts[kind];
        *count = count.saturating_add(1);
        if moves_copy {
            let thread = self.thread_of_cpu[usize::from(cpu)];
            let line = (u64::from(page) << self.page_bits | offset) >> self.contests.line_bits();
            self.contests.note(line, thread, offset, event != Event::Read, code);
        }
    }

    fn thread_runs(&mut self, cpu: u16, thread: u16) {
        let before = std::mem::replace(&mut self.thread_of_cpu[usize::from(cpu)], thread);
        if before != thread {
            self.recent[usize::from(cpu)] = NOTHING_RECENT;
        }
    }

    fn page_begins(&mut self, page: u32, address: u64, home: u16) {
        let page = page as usize;
        if page < self.pages.len() {
            self.close(page);
        } else {
            self.pages.resize(page + 1, Page::default());
            self.heads.resize((page + 1) * self.per_page(), END);
        }
        self.pages[page] = Page { address, home };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(cpu: u16, page: u32, address: u64, event: Event) -> Transaction {
        Transaction { cpu, node: cpu / 4, home: 0, event, page, address, code: 0, moves_copy: false }
    }

    #[test]
    fn every_transaction_is_counted_once_where_it_happened() {
        let mut card = Card::new(16, 4096, 4096, 32);
        for page in 0..8 {
            card.page_begins(page, u64::from(page) << 12, 0);
        }
        for cpu in 0..16 {
            card.thread_runs(cpu, cpu);
            for page in 0..8 {
                for _ in 0..=cpu {
                    card.transaction(&transaction(cpu, page, u64::from(page) << 12 | 40, Event::Read));
                }
            }
        }
        let granules = card.granules();
        assert_eq!(granules.len(), 8);
        for granule in granules {
            let counts: Vec<u32> = granule.by.iter().map(|by| by.reads).collect();
            assert_eq!(counts, (1..=16).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_page_number_used_again_keeps_both_histories() {
        let mut card = Card::new(4, 4096, 4096, 32);
        card.page_begins(0, 0x1000, 1);
        card.transaction(&transaction(0, 0, 0x1000, Event::Write));
        card.page_begins(0, 0x9000, 2);
        card.transaction(&transaction(0, 0, 0x9000, Event::Upgrade));
        let granules = card.granules();
        assert_eq!(granules.len(), 2);
        assert_eq!((granules[0].address, granules[0].home, granules[0].by[0].writes), (0x1000, 1, 1));
        assert_eq!((granules[1].address, granules[1].home, granules[1].by[0].upgrades), (0x9000, 2, 1));
    }

    #[test]
    fn line_granules_sum_up_to_page_granules() {
        let mut fine = Card::new(4, 4096, 32, 32);
        let mut coarse = Card::new(4, 4096, 4096, 32);
        for card in [&mut fine, &mut coarse] {
            card.page_begins(0, 0x1000, 0);
            for k in 0..500u64 {
                card.transaction(&transaction((k % 4) as u16, 0, 0x1000 + k * 8 % 4096, Event::Read));
            }
        }
        let sum = |card: &Card| {
            card.granules().iter().flat_map(|granule| &granule.by).map(|by| by.reads).sum::<u32>()
        };
        assert_eq!(sum(&fine), 500);
        assert_eq!(sum(&coarse), 500);
        assert_eq!(fine.granules().len(), 500 * 8 / 32);
    }
}
