//! The card: counts transactions by granule and accessor (a thread on a node).
//!
//! A granule's accessors are few, so they form a chain in one pool, the one seen last at its head: memory goes with
//! what was accessed, not with granules times threads. Counting changes nothing in the machine.

use crate::board::Board;
use crate::contest::{Contest, ContestTable};
use crate::phases::{PageTraffic, PhaseCounts, Phases};
use olifant_sim::protocol::Event;
use olifant_sim::{FirstTouch, Observer, Transaction, index};

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
    /// The thread that touched it first.
    thread: u16,
    /// Where it did.
    code: u64,
}

/// A page, and who touched it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTouch {
    /// Its first address.
    pub address: u64,
    /// The thread.
    pub thread: u16,
    /// Code address of the access; 0 if the runtime made it.
    pub code: u64,
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
    /// First touches of pages that were given back.
    closed_touches: Vec<PageTouch>,
    contests: ContestTable,
    phases: Phases,
    board: Board,
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
            closed_touches: Vec::new(),
            contests: ContestTable::new(line_bytes),
            phases: Phases::default(),
            board: Board::new(line_bytes, page_bytes),
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

    /// Filters, secondary counters and thresholds.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The same, to be programmed.
    pub fn board_mut(&mut self) -> &mut Board {
        &mut self.board
    }

    /// Who touched each page first, pages given back first.
    pub fn first_touches(&self) -> Vec<PageTouch> {
        let mut all = self.closed_touches.clone();
        all.extend(self.pages.iter().filter_map(Page::touch));
        all
    }

    /// All threads have met at `time`, when the machine has made `transactions`: a phase ends if it was long enough.
    pub fn barrier(&mut self, time: u64, transactions: u64) {
        if self.phases.ends_at_barrier(transactions, self.pool.len()) {
            self.end_phase("", time, transactions);
        }
    }

    /// The program marks the begin of a phase.
    pub fn mark(&mut self, name: &str, time: u64, transactions: u64) {
        if self.phases.ends_at_mark(name) {
            self.end_phase(name, time, transactions);
        }
    }

    /// All phases, the one that runs now included, if it has any traffic.
    pub fn phases(&self, time: u64) -> Vec<PhaseCounts> {
        let mut all = self.phases.closed().to_vec();
        let current = self.phases.current(self.growth(), time);
        if !current.traffic.is_empty() {
            all.push(current);
        }
        all
    }

    fn end_phase(&mut self, next: &str, time: u64, transactions: u64) {
        let phase = self.phases.current(self.growth(), time);
        let bases = self.pool.iter().map(Entry::sum).collect();
        self.phases.end(phase, next, bases, transactions);
    }

    /// Growth of all counters in the current phase, ascending by page and node.
    fn growth(&self) -> Vec<PageTraffic> {
        let mut all: Vec<PageTraffic> = Vec::new();
        for page in 0..self.pages.len() {
            let first = all.len();
            for (_, growth) in self.page_growth(page).filter(|(_, growth)| growth.local + growth.remote > 0) {
                match all[first..].iter_mut().find(|known| known.node == growth.node) {
                    Some(known) => {
                        known.local += growth.local;
                        known.remote += growth.remote;
                    }
                    None => all.push(growth),
                }
            }
        }
        all.sort_unstable_by_key(|growth| (growth.address, growth.node));
        all
    }

    /// Growth of a page's counters in the current phase, each with its number.
    fn page_growth(&self, page: usize) -> impl Iterator<Item = (usize, PageTraffic)> + '_ {
        let Page { address, home, .. } = self.pages[page];
        self.page_entries(page).map(move |at| {
            let entry = &self.pool[at];
            let growth = entry.sum().saturating_sub(self.phases.base(at));
            let (local, remote) = if entry.node == home { (growth, 0) } else { (0, growth) };
            (at, PageTraffic { address, node: entry.node, local, remote })
        })
    }

    /// The numbers of a page's counters.
    fn page_entries(&self, page: usize) -> impl Iterator<Item = usize> + '_ {
        let first = page * self.per_page();
        (first..first + self.per_page()).flat_map(move |head| {
            let next = |at: u32| (at != END).then_some(at);
            std::iter::successors(next(self.heads[head]), move |&at| next(self.pool[at as usize].next))
                .map(|at| at as usize)
        })
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
        let Page { address, home, .. } = self.pages[page];
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
        self.closed_touches.extend(self.pages[page].touch());
        let grown: Vec<_> = self.page_growth(page).collect();
        for (entry, growth) in grown {
            self.phases.give_up(entry, growth);
        }
        self.recent.fill(NOTHING_RECENT);
        let first = page * self.per_page();
        for head in first..first + self.per_page() {
            let mut at = std::mem::replace(&mut self.heads[head], END);
            while at != END {
                self.free.push(at);
                let entry = &mut self.pool[at as usize];
                entry.counts = [0; 4];
                at = entry.next;
            }
        }
    }
}

impl Observer for Card {
    fn transaction(&mut self, transaction: &Transaction) {
        let &Transaction { cpu, node, event, page, address, code, .. } = transaction;
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
        if transaction.moves_copy() {
            let thread = self.thread_of_cpu[usize::from(cpu)];
            let line = (u64::from(page) << self.page_bits | offset) >> self.contests.line_bits();
            self.contests.note(line, thread, offset, event != Event::Read, code);
        }
        if self.board.is_on() {
            self.board.count(transaction, self.thread_of_cpu[usize::from(cpu)]);
        }
    }

    fn thread_runs(&mut self, cpu: u16, thread: u16) {
        let before = std::mem::replace(&mut self.thread_of_cpu[usize::from(cpu)], thread);
        if before != thread {
            self.recent[usize::from(cpu)] = NOTHING_RECENT;
        }
    }

    fn page_begins(&mut self, page: u32, address: u64, home: u16, touch: FirstTouch) {
        let page = page as usize;
        if page < self.pages.len() {
            self.close(page);
        } else {
            self.pages.resize(page + 1, Page::default());
            self.heads.resize((page + 1) * self.per_page(), END);
        }
        let thread = self.thread_of_cpu[usize::from(touch.cpu)];
        self.pages[page] = Page { address, home, thread, code: touch.code };
    }
}

impl Entry {
    fn sum(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }
}

impl Page {
    /// Page 0 of a program is never touched: such a number has not been used.
    fn touch(&self) -> Option<PageTouch> {
        let &Page { address, thread, code, .. } = self;
        (address != 0).then_some(PageTouch { address, thread, code })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOUCH: FirstTouch = FirstTouch { cpu: 0, code: 0 };

    fn transaction(cpu: u16, page: u32, address: u64, event: Event) -> Transaction {
        Transaction {
            cpu,
            node: cpu / 4,
            home: 0,
            event,
            page,
            address,
            code: 0,
            invalidates: false,
            intervenes: false,
            time: 0,
        }
    }

    #[test]
    fn every_transaction_is_counted_once_where_it_happened() {
        let mut card = Card::new(16, 4096, 4096, 32);
        for page in 0..8 {
            card.page_begins(page, u64::from(page) << 12, 0, TOUCH);
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
        card.page_begins(0, 0x1000, 1, TOUCH);
        card.transaction(&transaction(0, 0, 0x1000, Event::Write));
        card.page_begins(0, 0x9000, 2, TOUCH);
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
            card.page_begins(0, 0x1000, 0, TOUCH);
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
