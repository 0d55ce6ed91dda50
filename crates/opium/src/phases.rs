//! Phases: what each node did with each page between barriers.
//!
//! Nothing is counted twice for it. At a barrier the counters of all granules are compared with what they were at the last one;
//! their growth is the phase. That walk is only made when at least [`TRANSACTIONS_PER_ENTRY`] transactions for each counter
//! have passed since the last, so it costs less than the counting itself; shorter stretches between barriers are joined to the
//! next. A run with very many phases has neighbours joined, two and two, so that at most [`MOST_PHASES`] are kept.

use std::collections::BTreeMap;

/// Phases that are kept; more are not told apart on a page.
const MOST_PHASES: usize = 64;
/// Marks beyond this number are ignored: each is kept under its own name.
const MOST_MARKED: usize = 1024;
/// Transactions for each counter before the counters are walked at a barrier.
const TRANSACTIONS_PER_ENTRY: u64 = 16;

/// What a node did with a page in one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTraffic {
    /// The page's first address.
    pub address: u64,
    /// The node that made the transactions.
    pub node: u16,
    /// Transactions from the page's home.
    pub local: u64,
    /// Transactions from elsewhere.
    pub remote: u64,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseCounts {
    /// The program's mark, or empty.
    pub name: String,
    /// Its first cycle.
    pub begin: u64,
    /// Its end.
    pub end: u64,
    /// Stretches between barriers that it is made of.
    pub stretches: u32,
    /// Ascending by (address, node).
    pub traffic: Vec<PageTraffic>,
}

/// The phases of a run so far.
#[derive(Default)]
pub(crate) struct Phases {
    closed: Vec<PhaseCounts>,
    /// By counter: its value when the current phase began.
    bases: Vec<u64>,
    /// Growth of counters in the current phase that were given up since.
    given_up: Vec<PageTraffic>,
    name: String,
    begin: u64,
    stretches: u32,
    /// Transactions of the machine when the current phase began.
    transactions_before: u64,
}

impl Phases {
    /// Whether a barrier at which the machine has made so many transactions ends the phase; if not, the stretch is joined to it.
    pub(crate) fn ends_at_barrier(&mut self, transactions: u64, counters: usize) -> bool {
        self.stretches += 1;
        transactions - self.transactions_before >= TRANSACTIONS_PER_ENTRY * counters as u64
    }

    /// Whether a mark named `name` begins another phase.
    pub(crate) fn ends_at_mark(&mut self, name: &str) -> bool {
        if self.name == name || self.closed.len() >= MOST_MARKED {
            return false;
        }
        self.stretches += 1;
        true
    }

    /// A counter's value when the phase began.
    pub(crate) fn base(&self, counter: usize) -> u64 {
        self.bases.get(counter).copied().unwrap_or(0)
    }

    /// A counter is given up, and may count something else from 0 on.
    pub(crate) fn give_up(&mut self, counter: usize, growth: PageTraffic) {
        if growth.local + growth.remote > 0 {
            self.given_up.push(growth);
        }
        if let Some(base) = self.bases.get_mut(counter) {
            *base = 0;
        }
    }

    /// The current phase, if it ended now; `growth` has one entry at most for a page and a node, in ascending order.
    pub(crate) fn current(&self, growth: Vec<PageTraffic>, end: u64) -> PhaseCounts {
        let traffic = if self.given_up.is_empty() {
            growth
        } else {
            sum(self.given_up.iter().copied().chain(growth).collect())
        };
        PhaseCounts {
            name: self.name.clone(),
            begin: self.begin,
            end,
            stretches: self.stretches.max(1),
            traffic,
        }
    }

    /// Ends the current phase; the next is called `name`, and counters have the values `bases` now.
    pub(crate) fn end(&mut self, phase: PhaseCounts, name: &str, bases: Vec<u64>, transactions: u64) {
        self.begin = phase.end;
        if !phase.traffic.is_empty() {
            self.closed.push(phase);
        }
        name.clone_into(&mut self.name);
        self.given_up.clear();
        self.bases = bases;
        self.stretches = 0;
        self.transactions_before = transactions;
        if self.closed.len() > MOST_PHASES {
            self.join_neighbours();
        }
    }

    /// Phases that ended.
    pub(crate) fn closed(&self) -> &[PhaseCounts] {
        &self.closed
    }

    fn join_neighbours(&mut self) {
        let mut joined: Vec<PhaseCounts> = Vec::new();
        let mut may_join = false;
        for phase in self.closed.drain(..) {
            match joined.last_mut() {
                Some(last) if may_join && last.name == phase.name => {
                    last.end = phase.end;
                    last.stretches += phase.stretches;
                    last.traffic.extend(phase.traffic);
                    last.traffic = sum(std::mem::take(&mut last.traffic));
                    may_join = false;
                }
                _ => {
                    joined.push(phase);
                    may_join = true;
                }
            }
        }
        self.closed = joined;
    }
}

/// Sums by page and node.
fn sum(traffic: Vec<PageTraffic>) -> Vec<PageTraffic> {
    let mut sums: BTreeMap<(u64, u16), PageTraffic> = BTreeMap::new();
    for part in traffic {
        let sum =
            sums.entry((part.address, part.node)).or_insert(PageTraffic { local: 0, remote: 0, ..part });
        sum.local += part.local;
        sum.remote += part.remote;
    }
    sums.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(address: u64, node: u16, local: u64) -> Vec<PageTraffic> {
        vec![PageTraffic { address, node, local, remote: 1 }]
    }

    /// Ends the current phase at `time` with some traffic of page `page`.
    fn end(phases: &mut Phases, page: u64, time: u64, next: &str) {
        let phase = phases.current(grown(page, 0, time), time);
        phases.end(phase, next, vec![time], time);
    }

    #[test]
    fn a_stretch_with_little_traffic_is_joined_to_the_next() {
        let mut phases = Phases::default();
        assert!(!phases.ends_at_barrier(TRANSACTIONS_PER_ENTRY * 10 - 1, 10));
        assert!(phases.ends_at_barrier(TRANSACTIONS_PER_ENTRY * 10, 10));
        end(&mut phases, 0x1000, 500, "");
        assert_eq!(
            (phases.closed()[0].begin, phases.closed()[0].end, phases.closed()[0].stretches),
            (0, 500, 2)
        );
        assert_eq!(phases.base(0), 500);
        assert_eq!(phases.base(7), 0, "a counter that began since");
    }

    #[test]
    fn joining_neighbours_keeps_every_transaction() {
        let mut phases = Phases::default();
        for time in 1..=1000 {
            phases.ends_at_barrier(time, 0);
            end(&mut phases, time % 7 * 0x1000 + 0x1000, time, "");
        }
        assert!(phases.closed().len() <= MOST_PHASES);
        let traffic = || phases.closed().iter().flat_map(|phase| &phase.traffic);
        assert_eq!(traffic().map(|part| part.local).sum::<u64>(), 1000 * 1001 / 2);
        assert_eq!(traffic().map(|part| part.remote).sum::<u64>(), 1000);
        assert!(phases.closed().windows(2).all(|pair| pair[0].end == pair[1].begin));
    }

    #[test]
    fn marked_phases_keep_their_names() {
        let mut phases = Phases::default();
        for round in 0..200 {
            let name = ["solve", "exchange"][round % 2];
            assert!(phases.ends_at_mark(name));
            end(&mut phases, 0x1000, round as u64 + 1, name);
        }
        assert!(!phases.ends_at_mark("exchange"), "it is in this phase already");
        let names: Vec<&str> = phases.closed()[1..].iter().map(|phase| phase.name.as_str()).collect();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn what_a_page_did_before_it_was_given_back_counts() {
        let mut phases = Phases::default();
        phases.give_up(0, grown(0x2000, 1, 5)[0]);
        let phase = phases.current(grown(0x2000, 1, 7), 10);
        assert_eq!(phase.traffic, [PageTraffic { address: 0x2000, node: 1, local: 12, remote: 2 }]);
    }
}
