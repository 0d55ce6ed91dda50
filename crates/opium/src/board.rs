//! The programmable part of the card: filters with their counters, secondary counters, thresholds, and the limits of the
//! hardware.
//!
//! Each filter gets a copy of each transaction; one whose kind, direction and address match adds 1 to the counter of its
//! granule and accessor. A secondary counter adds 1 when any filter that it shadows did. With [`CardModel::Opium`] the board
//! has what the prototype's had: one card in each node, which sees what passes between the node and the interconnect.
//!
//! Departure from the hardware: a filter of an area takes one of the card's filters for each allocation of that area, where
//! the prototype's library needed physically contiguous memory for that.

use crate::facts::{CardEvent, FilterCount, FilterRecord, SecondaryRecord};
use crate::filter::{By, FilterSpec, Granularity, SecondarySpec, Target};
use crate::{CardError, Kinds};
use olifant_sim::{Transaction, mix};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Which card counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CardModel {
    /// No limits, and local transactions are seen too.
    #[default]
    Unlimited,
    /// The prototype's: 32 filters, 512 Ki counters of 36 bits, 16 secondary counters.
    Opium,
}

/// Filters of the prototype's card. Source: the paper named in `filter.rs`.
const OPIUM_FILTERS: usize = 32;
/// Counters of the prototype's card: a memory of 512 Ki words. Source: as above.
const OPIUM_COUNTERS: u64 = 512 << 10;
/// The largest value of its counters, which have 36 bits. Source: as above.
const OPIUM_LARGEST: u64 = (1 << 36) - 1;
/// Secondary counters of the prototype's card. Source: as above.
const OPIUM_SECONDARIES: usize = 16;

/// What the card is programmed to do.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardProgram {
    /// The card.
    pub model: CardModel,
    /// Its filters.
    pub filters: Vec<FilterSpec>,
    /// Its secondary counters.
    pub secondaries: Vec<SecondarySpec>,
}

/// Hash of counters' keys: the same in each run, and cheaper than the default, which guards against chosen keys.
#[derive(Default)]
struct KeyHash(u64);

impl Hasher for KeyHash {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u16(&mut self, word: u16) {
        self.write_u64(u64::from(word));
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0 ^ word);
    }
}

struct Filter {
    spec: FilterSpec,
    kinds: Kinds,
    granule_bits: u32,
    /// First addresses and ends of what it watches, ascending and disjoint.
    spans: Vec<(u64, u64)>,
    /// By first address of the granule and number of the accessor.
    counts: HashMap<(u64, u16), u64, BuildHasherDefault<KeyHash>>,
    total: u64,
    lost: u64,
    refused: Option<String>,
}

struct Secondary {
    spec: SecondarySpec,
    /// Numbers of the filters that it shadows.
    filters: Vec<usize>,
    count: u64,
}

/// The programmed card. A filter's number is its place in the order of programming.
pub struct Board {
    model: CardModel,
    line_bytes: u64,
    page_bytes: u64,
    filters: Vec<Filter>,
    secondaries: Vec<Secondary>,
    events: Vec<CardEvent>,
    /// Events that [`Board::take_events`] has given out.
    taken: usize,
    is_on: bool,
}

impl Board {
    /// A card without filters, for a machine with these lines and pages.
    pub fn new(line_bytes: u64, page_bytes: u64) -> Self {
        Self {
            model: CardModel::Unlimited,
            line_bytes,
            page_bytes,
            filters: Vec::new(),
            secondaries: Vec::new(),
            events: Vec::new(),
            taken: 0,
            is_on: false,
        }
    }

    /// Programs all of it, and begins to count if there is a filter. Filters of areas wait to be armed.
    ///
    /// # Errors
    /// What the card cannot do, or a secondary counter that shadows a filter that there isn't.
    pub fn program(&mut self, program: &CardProgram) -> Result<(), CardError> {
        self.model = program.model;
        for filter in &program.filters {
            self.add(filter.clone())?;
        }
        for secondary in &program.secondaries {
            self.add_secondary(secondary.clone())?;
        }
        self.is_on = !self.filters.is_empty();
        Ok(())
    }

    /// Counts from now on, or no longer.
    pub fn switch(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// Whether it counts.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Programs a filter and returns its number.
    ///
    /// # Errors
    /// A granule smaller than a line, inbound transactions by thread, or what the card has not got.
    pub fn add(&mut self, mut spec: FilterSpec) -> Result<usize, CardError> {
        let wrong = |problem: String| CardError::Filter { text: spec.to_string(), problem };
        let granule_bytes = spec.granularity.bytes(self.line_bytes, self.page_bytes);
        if granule_bytes < self.line_bytes {
            return Err(wrong(format!(
                "the machine's line has {} bytes; a granule is no smaller",
                self.line_bytes
            )));
        }
        if self.filters.iter().any(|filter| filter.spec.name == spec.name) {
            return Err(wrong("another filter has this name: give one with name=".to_owned()));
        }
        let kinds = self.kinds(&spec)?;
        if spec.by != By::Node && kinds.meets(Kinds::INBOUND) {
            return Err(wrong(
                "inbound transactions are counted where they arrive, which is by node: use by=node, or outbound".to_owned(),
            ));
        }
        if self.model == CardModel::Opium && self.filters_in_use() == OPIUM_FILTERS {
            return Err(CardError::TooManyFilters { filter: spec.name, limit: OPIUM_FILTERS });
        }
        spec.granularity = Granularity::Bytes(granule_bytes);
        let target = spec.target.clone();
        self.filters.push(Filter {
            spec,
            kinds,
            granule_bits: granule_bytes.trailing_zeros(),
            spans: Vec::new(),
            counts: HashMap::default(),
            total: 0,
            lost: 0,
            refused: None,
        });
        let number = self.filters.len() - 1;
        let armed = match target {
            Target::All => self.arm(number, 0, u64::MAX),
            Target::Range { start, bytes } => self.arm(number, start, bytes),
            Target::Area(_) => Ok(()),
        };
        if armed.is_err() {
            self.filters.pop();
        }
        armed.map(|()| number)
    }

    /// What passes a filter, with what is usual where its text names none.
    fn kinds(&self, spec: &FilterSpec) -> Result<Kinds, CardError> {
        let is_opium = self.model == CardModel::Opium;
        let unseen = |what, remedy| Err(CardError::Unseen { filter: spec.name.clone(), what, remedy });
        if is_opium && spec.by != By::Node {
            return unseen("which thread or processor of a node made an access", "use by=node");
        }
        let mut kinds = spec.kinds.unwrap_or(Kinds::TRANSACTIONS);
        if is_opium && kinds.meets(Kinds::LOCAL) {
            return unseen(
                "a node's accesses to its own memory",
                "leave `local` out, or use --card unlimited",
            );
        }
        if kinds.names_no_event() {
            kinds = kinds.with(Kinds::TRANSACTIONS);
        }
        if kinds.names_no_direction() {
            kinds = kinds.with(Kinds::OUTBOUND);
            if !is_opium {
                kinds = kinds.with(Kinds::LOCAL);
            }
        }
        Ok(kinds)
    }

    /// Lets a filter watch a range: a new area of its name. What it watches already is watched on.
    ///
    /// # Errors
    /// If the card has not got the filters or counters for it; the filter's record keeps the text.
    pub fn arm(&mut self, number: usize, start: u64, bytes: u64) -> Result<(), CardError> {
        let armed = self.check(number, bytes);
        let filter = &mut self.filters[number];
        match &armed {
            Ok(()) => {
                let at = filter.spans.partition_point(|span| span.1 <= start);
                let end = start.saturating_add(bytes);
                match filter.spans.get_mut(at) {
                    // Memory that is given back and allocated again is the same area, perhaps of another size.
                    Some(span) if span.0 < end => *span = (span.0.min(start), span.1.max(end)),
                    _ => filter.spans.insert(at, (start, end)),
                }
            }
            Err(error) => filter.refused = Some(error.to_string()),
        }
        armed
    }

    fn check(&self, number: usize, bytes: u64) -> Result<(), CardError> {
        if self.model == CardModel::Unlimited {
            return Ok(());
        }
        let filter = &self.filters[number];
        let name = || filter.spec.name.clone();
        if !filter.spans.is_empty() && self.filters_in_use() == OPIUM_FILTERS {
            return Err(CardError::TooManyFilters { filter: name(), limit: OPIUM_FILTERS });
        }
        let needed = bytes.div_ceil(1 << filter.granule_bits);
        let left = OPIUM_COUNTERS - self.filters.iter().map(Filter::counters).sum::<u64>();
        if needed > left {
            let granule_bytes = 1 << filter.granule_bits;
            let limit = OPIUM_COUNTERS;
            return Err(CardError::TooManyCounters {
                filter: name(),
                bytes,
                granule_bytes,
                needed,
                left,
                limit,
            });
        }
        Ok(())
    }

    fn filters_in_use(&self) -> usize {
        self.filters.iter().map(|filter| filter.spans.len().max(1)).sum()
    }

    fn add_secondary(&mut self, spec: SecondarySpec) -> Result<(), CardError> {
        if self.model == CardModel::Opium && self.secondaries.len() == OPIUM_SECONDARIES {
            return Err(CardError::TooManySecondaries {
                count: self.secondaries.len() + 1,
                limit: OPIUM_SECONDARIES,
            });
        }
        let number = |name: &String| {
            self.filters.iter().position(|filter| filter.spec.name == *name).ok_or_else(|| {
                let names: Vec<&str> = self.filters.iter().map(|filter| filter.spec.name.as_str()).collect();
                let problem = format!("there is no filter {name:?}; filters are {}", names.join(", "));
                CardError::Secondary { text: spec.to_string(), problem }
            })
        };
        let filters = spec.filters.iter().map(number).collect::<Result<_, _>>()?;
        self.secondaries.push(Secondary { spec, filters, count: 0 });
        Ok(())
    }

    /// A transaction of `thread` passes.
    pub(crate) fn count(&mut self, transaction: &Transaction, thread: u16) {
        let kinds = Kinds::of(transaction);
        if transaction.node == transaction.home {
            self.pass(transaction, kinds, Kinds::LOCAL, transaction.node, thread);
        } else {
            self.pass(transaction, kinds, Kinds::OUTBOUND, transaction.node, thread);
            self.pass(transaction, kinds, Kinds::INBOUND, transaction.home, thread);
        }
    }

    fn pass(&mut self, transaction: &Transaction, kinds: Kinds, direction: Kinds, card: u16, thread: u16) {
        let largest = if self.model == CardModel::Opium { OPIUM_LARGEST } else { u64::MAX };
        let mut matched: u64 = 0;
        let mut is_wide = false;
        for (number, filter) in (0..).zip(&mut self.filters) {
            if !filter.kinds.pass(kinds, direction) {
                continue;
            }
            let Some(granule) = filter.granule(transaction.address) else { continue };
            let accessor = match filter.spec.by {
                By::Node => card,
                By::Thread => thread,
                By::Cpu => transaction.cpu,
            };
            if let Some(count) = filter.add(granule, accessor, largest)
                && filter.spec.threshold == Some(count)
            {
                self.events.push(CardEvent {
                    filter: number,
                    address: granule,
                    accessor,
                    count,
                    time: transaction.time,
                });
            }
            if number < 64 {
                matched |= 1 << number;
            } else {
                is_wide = true;
            }
        }
        if matched == 0 && !is_wide {
            return;
        }
        for secondary in &mut self.secondaries {
            let is_passed = secondary.spec.kinds.is_none_or(|only| passes(only, kinds, direction));
            let is_shadowing = secondary.filters.iter().any(|&filter| {
                if filter < 64 {
                    matched & 1 << filter != 0
                } else {
                    let filter = &self.filters[filter];
                    filter.kinds.pass(kinds, direction) && filter.granule(transaction.address).is_some()
                }
            });
            if is_passed && is_shadowing {
                secondary.count = (secondary.count + 1).min(largest);
            }
        }
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<CardEvent> {
        let new = self.events[self.taken..].to_vec();
        self.taken = self.events.len();
        new
    }

    /// The value at which a filter's counters raise events from now on.
    pub fn set_threshold(&mut self, number: usize, threshold: Option<u64>) {
        if let Some(filter) = self.filters.get_mut(number) {
            filter.spec.threshold = threshold;
        }
    }

    /// How many filters there are.
    pub fn filters(&self) -> usize {
        self.filters.len()
    }

    /// A filter's counters that are not 0, ascending by address and accessor.
    pub fn counts(&self, number: usize) -> Vec<FilterCount> {
        let Some(filter) = self.filters.get(number) else { return Vec::new() };
        let mut counts: Vec<FilterCount> = filter
            .counts
            .iter()
            .map(|(&(address, accessor), &count)| FilterCount { address, accessor, count })
            .collect();
        counts.sort_unstable_by_key(|count| (count.address, count.accessor));
        counts
    }

    /// The value of one counter; with `accessor` `None`, of all accessors together.
    pub fn value(&self, number: usize, address: u64, accessor: Option<u16>) -> u64 {
        let Some(filter) = self.filters.get(number) else { return 0 };
        let Some(granule) = filter.granule(address) else { return 0 };
        let of = |accessor: u16| filter.counts.get(&(granule, accessor)).copied().unwrap_or(0);
        match accessor {
            Some(accessor) => of(accessor),
            None => filter
                .counts
                .iter()
                .filter(|((address, _), _)| *address == granule)
                .map(|(_, count)| count)
                .sum(),
        }
    }

    /// Sets a filter's counters to 0; their thresholds can be reached again.
    pub fn clear(&mut self, number: usize) {
        if let Some(filter) = self.filters.get_mut(number) {
            filter.counts.clear();
        }
    }

    /// Everything as the profile keeps it.
    pub fn records(&self) -> (Vec<FilterRecord>, Vec<SecondaryRecord>, Vec<CardEvent>) {
        let filters = self.filters.iter().enumerate().map(|(number, filter)| FilterRecord {
            name: filter.spec.name.clone(),
            text: filter.spec.to_string(),
            granule_bytes: 1 << filter.granule_bits,
            kinds: filter.kinds.to_string(),
            by: filter.spec.by,
            ranges: filter.spans.iter().map(|&(start, end)| (start, end - start)).collect(),
            total: filter.total,
            lost: filter.lost,
            refused: filter.refused.clone(),
            counts: self.counts(number),
        });
        let secondaries = self.secondaries.iter().map(|secondary| SecondaryRecord {
            name: secondary.spec.name.clone(),
            text: secondary.spec.to_string(),
            count: secondary.count,
        });
        (filters.collect(), secondaries.collect(), self.events.clone())
    }

    /// The card.
    pub fn model(&self) -> CardModel {
        self.model
    }
}

/// Whether a subset of kinds lets a transaction pass; without a direction it takes every direction.
fn passes(only: Kinds, kinds: Kinds, direction: Kinds) -> bool {
    let only = if only.names_no_direction() { only.with(Kinds::DIRECTIONS) } else { only };
    let only = if only.names_no_event() { only.with(Kinds::TRANSACTIONS) } else { only };
    only.pass(kinds, direction)
}

impl Filter {
    /// First address of the granule of an address that it watches.
    #[inline]
    fn granule(&self, address: u64) -> Option<u64> {
        let span = self.spans.get(self.spans.partition_point(|span| span.1 <= address))?;
        (span.0 <= address).then(|| span.0 + ((address - span.0) >> self.granule_bits << self.granule_bits))
    }

    /// Adds 1; the new value, or `None` if the counter is full.
    fn add(&mut self, granule: u64, accessor: u16, largest: u64) -> Option<u64> {
        let count = self.counts.entry((granule, accessor)).or_insert(0);
        if *count == largest {
            self.lost += 1;
            return None;
        }
        *count += 1;
        self.total += 1;
        Some(*count)
    }

    /// Counters that it occupies.
    fn counters(&self) -> u64 {
        self.spans.iter().map(|span| (span.1 - span.0).div_ceil(1 << self.granule_bits)).sum()
    }
}
