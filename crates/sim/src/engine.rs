//! The machine's datapath: what happens to an access that a hook could not serve.
//!
//! First level, TLB, second level, then a transaction on the node's bus (`transaction`). The engine knows processors,
//! not threads; who runs where and when is the scheduler's.

use crate::cache::{LINES, LineCache};
use crate::clock::Clock;
use crate::counters::{CpuCounters, NodeCounts};
use crate::cpu::{COUNT_LIMIT, Cpu, Need};
use crate::directory::Directory;
use crate::level1::Level1;
use crate::network::{Interconnect, LinkCounts};
use crate::observer::{FirstTouch, Observer};
use crate::pages::{PageTable, Placement, Translation};
use crate::protocol::Event;
use crate::random::Random;
use crate::record::{Increment, Record};
use crate::setup::{Costs, Shape, SimError, costs, geometry};
use crate::timeline::{Occupancy, Timeline};
use crate::tlb::Tlb;
use crate::transaction::cpu_number;
use olifant_machine::{Machine, NodeId, Routes};
use olifant_placement::MemoryPolicy;

/// Stamps are moved down before they reach this.
const STAMP_LIMIT: u32 = 1 << 31;

/// One node's bus, with the memory behind it.
pub(crate) struct Bus {
    pub(crate) timeline: Timeline,
    pub(crate) line: Occupancy,
    pub(crate) address_only: Occupancy,
    pub(crate) transactions: u64,
    pub(crate) remote_transactions: u64,
}

/// The simulated machine without its scheduler.
pub struct Engine<O> {
    pub(crate) shape: Shape,
    pub(crate) costs: Costs,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) buses: Vec<Bus>,
    pub(crate) network: Interconnect,
    pub(crate) directory: Directory,
    pub(crate) pages: PageTable,
    pub(crate) observer: O,
    /// Processors whose watched line was taken, with the cycle.
    pub(crate) woken: Vec<(u16, u64)>,
    /// Room for `transact`, kept so that it does not allocate.
    pub(crate) scratch_holders: Vec<u16>,
    pub(crate) scratch_nodes: Vec<u16>,
}

/// An access as the engine sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) cpu: usize,
    pub(crate) address: u64,
    pub(crate) code: u64,
    pub(crate) is_write: bool,
}

impl<O: Observer> Engine<O> {
    /// An empty machine. `default_instructions` are charged per access by hooks that carry no count.
    /// # Errors  If the machine breaks a law or has a value that the engine does not handle.
    pub fn new(
        machine: &Machine,
        memory: MemoryPolicy,
        seed: u64,
        default_instructions: u32,
        observer: O,
    ) -> Result<Self, SimError> {
        machine.check().map_err(|law| SimError::Law { machine: machine.name.clone(), law })?;
        let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
        let routes = Routes::new(&machine.network, &ids)
            .map_err(|source| SimError::Unreachable { machine: machine.name.clone(), source })?;
        let shape = Shape::new(machine)?;
        let costs = costs(machine);
        let processor = &machine.processor;
        let mut placed: Vec<(u16, u16)> = (0..)
            .zip(&machine.nodes)
            .flat_map(|(index, node)| node.cpus.iter().map(move |cpu| (cpu.0, index)))
            .collect();
        placed.sort_unstable();
        let level2_sets = shape.level2_set_mask + 1;
        let cpus = placed.iter().map(|&(_, node)| Cpu {
            node,
            level1: Level1::new(
                shape.level1_sets,
                processor.l1.ways as usize,
                shape.level1_line,
                default_instructions,
            ),
            level2: LineCache::new(level2_sets, processor.l2.ways as usize),
            tlb: Tlb::new(processor.tlb.entries as usize, processor.tlb.ways as usize),
            clock: Clock::new(processor.cpi, processor.window_instructions, processor.outstanding_misses),
            counters: CpuCounters::default(),
            deadline: 0,
            count_limit: 0,
            watched: Vec::new(),
        });
        Ok(Self {
            shape,
            cpus: cpus.collect(),
            buses: ids
                .iter()
                .map(|_| Bus {
                    timeline: Timeline::default(),
                    line: Occupancy::from_cycles(costs.line_occupancy),
                    address_only: Occupancy::from_cycles(costs.address_only_occupancy),
                    transactions: 0,
                    remote_transactions: 0,
                })
                .collect(),
            network: Interconnect::new(machine, &routes),
            directory: Directory::new(placed.len()),
            pages: PageTable::new(geometry(machine, &routes), memory, Random::new(seed)),
            observer,
            costs,
            woken: Vec::new(),
            scratch_holders: Vec::new(),
            scratch_nodes: Vec::new(),
        })
    }

    /// Number of processors.
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The node of a processor.
    pub fn node_of(&self, cpu: usize) -> u16 {
        self.cpus[cpu].node
    }

    /// The block that the hooks of the thread on `cpu` use.
    pub fn fast_path(&self, cpu: usize) -> &[Record] {
        self.cpus[cpu].level1.records()
    }

    /// The monitor.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The monitor, to change.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The page table.
    pub fn pages(&self) -> &PageTable {
        &self.pages
    }

    /// One access by `cpu` that its hook could not serve; counts it.
    pub fn access(&mut self, cpu: usize, address: u64, increment: Increment, code: u64) {
        let header = self.cpus[cpu].level1.header();
        header.count(increment);
        self.touch(Access { cpu, address, code, is_write: increment.is_write() });
    }

    /// An access to every line of `address .. address + bytes`, as a copy loop by 8 bytes would make them.
    pub fn range(&mut self, cpu: usize, address: u64, bytes: u64, is_write: bool, code: u64) {
        if bytes == 0 {
            return;
        }
        let line = self.shape.level1_line as u64;
        let end = address + bytes;
        let mut at = address;
        while at < end {
            let next = ((at | (line - 1)) + 1).min(end);
            let words = (next - at).div_ceil(8);
            let counters = &mut self.cpus[cpu].counters;
            *if is_write { &mut counters.writes } else { &mut counters.reads } += words;
            #[allow(clippy::cast_possible_truncation)]
            self.cpus[cpu].level1.header().add_instructions(words as u32);
            self.touch(Access { cpu, address: at, code, is_write });
            at = next;
        }
    }

    /// An access, counted already: the processor serves it by itself, or after it got what it lacks.
    #[inline]
    fn touch(&mut self, access: Access) {
        let Access { cpu, address, is_write, .. } = access;
        let need = self.cpus[cpu].serve(&self.shape, self.costs.level2_hit, address, is_write);
        if need != Need::Nothing {
            self.provide(access, need);
        }
    }

    /// Gets the processor what it lacks for an access.
    #[inline(never)]
    fn provide(&mut self, access: Access, mut need: Need) {
        let Access { cpu, address, is_write, .. } = access;
        if need == Need::Translation {
            self.walk(access);
            need = self.cpus[cpu].serve(&self.shape, self.costs.level2_hit, address, is_write);
        }
        match need {
            Need::Nothing | Need::Translation => {}
            Need::Permission(place) => {
                self.transact(Event::Upgrade, access, place.translation, place.line);
                self.cpus[cpu].permit(place, address);
            }
            Need::Line(place) => {
                let event = if is_write { Event::Write } else { Event::Read };
                let state = self.transact(event, access, place.translation, place.line);
                if let Some(victim) = self.cpus[cpu].level2.insert(place.set, place.line, state) {
                    self.evict(cpu, victim);
                }
                self.cpus[cpu].receive(address, state);
            }
        }
    }

    /// The TLB lacks the page: takes its translation from the page table, placing the page at its first touch.
    #[inline(never)]
    fn walk(&mut self, access: Access) {
        let page = access.address >> self.shape.page_bits;
        let cpu = &mut self.cpus[access.cpu];
        cpu.counters.tlb_misses += 1;
        cpu.clock.stall(cpu.level1.header_ref().stamp(), self.costs.tlb_miss);
        let translation = self.back(access.address, access.cpu, access.code);
        self.cpus[access.cpu].tlb.insert(page, translation);
    }

    /// The translation of an address, whose page is placed if it is not yet, for code that runs on `cpu`.
    fn back(&mut self, address: u64, cpu: usize, code: u64) -> Translation {
        let is_new = self.pages.lookup(address).is_none();
        let translation = self.pages.translate(address, self.cpus[cpu].node);
        if is_new {
            let lines = (translation.slot() as usize + 1) << self.shape.page_line_bits;
            assert!(lines <= LINES as usize, "the program uses more than {LINES} lines of memory");
            self.directory.grow(lines);
            let start = address >> self.shape.page_bits << self.shape.page_bits;
            let touch = FirstTouch { cpu: cpu_number(cpu), code };
            self.observer.page_begins(translation.slot(), start, translation.home(), touch);
        }
        translation
    }

    /// Takes frames for all pages of a range at once, in the order of their addresses, for a thread on `cpu`; it costs the
    /// thread nothing. Pages that have one keep it; those that go to who touches them first wait for that.
    pub fn lock(&mut self, start: u64, bytes: u64, cpu: usize) {
        let page = 1u64 << self.shape.page_bits;
        let first = start & !(page - 1);
        for address in (first..start + bytes).step_by(1 << self.shape.page_bits) {
            if !self.pages.waits_for_touch(address) {
                self.back(address, cpu, 0);
            }
        }
    }

    /// Says how the pages of a range are placed when they are touched.
    pub fn map(&mut self, start: u64, bytes: u64, node: u16, placement: Placement) {
        self.pages.map(start, bytes, node, placement);
    }

    /// Forgets a range: its pages leave memory, and every cache, without being written back.
    pub fn unmap(&mut self, start: u64, bytes: u64) {
        for page in self.pages.unmap(start, bytes) {
            let slot = page.translation.slot();
            for offset in 0..1 << self.shape.page_line_bits {
                self.purge(slot << self.shape.page_line_bits | offset, page.translation.colour());
            }
            for cpu in &mut self.cpus {
                cpu.level1.invalidate(page.virtual_page << self.shape.page_bits, 1 << self.shape.page_bits);
                cpu.tlb.remove(page.virtual_page);
            }
        }
    }

    fn purge(&mut self, line: u32, colour: u16) {
        let set = self.shape.level2_set(colour, line);
        let cpus = &mut self.cpus;
        self.directory.for_each(line, |holder| {
            cpus[usize::from(holder)].level2.remove(set, line);
            std::ops::ControlFlow::Continue(())
        });
        self.directory.clear(line);
    }

    /// The clock of a processor, in cycles, with every stall that began.
    pub fn now(&mut self, cpu: usize) -> u64 {
        let cpu = &mut self.cpus[cpu];
        cpu.clock.cycles(cpu.level1.header_ref().stamp())
    }

    /// Lets instructions pass that access nothing.
    pub fn charge(&mut self, cpu: usize, instructions: u64) {
        let mut left = instructions;
        while left > 0 {
            let part = left.min(COUNT_LIMIT);
            self.make_stamps_low(cpu);
            #[allow(clippy::cast_possible_truncation)]
            self.cpus[cpu].level1.header().add_instructions(part as u32);
            left -= part;
        }
    }

    /// Waits for all misses of a processor.
    pub fn drain(&mut self, cpu: usize) {
        let cpu = &mut self.cpus[cpu];
        cpu.clock.drain(cpu.level1.header_ref().stamp());
    }

    /// Processor `cpu` waits for the loss of any of the lines at `addresses`; false if it lacks one of them already.
    pub(crate) fn watch(&mut self, cpu: usize, addresses: &[u64]) -> bool {
        self.cpus[cpu].watched.clear();
        for &address in addresses {
            let Some(translation) = self.pages.lookup(address) else { return false };
            let line = self.shape.line(address, translation);
            let set = self.shape.level2_set(translation.colour(), line);
            let cpu = &mut self.cpus[cpu];
            if cpu.level2.state(set, line).is_none() {
                cpu.watched.clear();
                return false;
            }
            cpu.watched.push(line);
        }
        true
    }

    /// Processor `cpu` waits for no line any more.
    pub(crate) fn stop_watching(&mut self, cpu: usize) {
        self.cpus[cpu].watched.clear();
    }

    /// Moves a processor's clock forward to `cycle` with nothing to do.
    pub fn idle_until(&mut self, cpu: usize, cycle: u64) {
        let now = self.now(cpu);
        let cpu = &mut self.cpus[cpu];
        cpu.counters.idle_cycles += cycle.saturating_sub(now);
        cpu.clock.advance_to(cpu.level1.header_ref().stamp(), cycle);
    }

    /// Moves a processor's clock forward to `cycle` in a loop of `instructions` with `reads` that finds no change.
    pub fn poll_until(&mut self, cpu: usize, cycle: u64, instructions: u64, reads: u64) {
        let now = self.now(cpu);
        let cpu = &mut self.cpus[cpu];
        let spent = cpu.clock.instructions_in(cycle.saturating_sub(now));
        let polls = spent / instructions.max(1);
        cpu.counters.instructions += polls * instructions.max(1);
        cpu.counters.reads += polls * reads;
        cpu.clock.advance_to(cpu.level1.header_ref().stamp(), cycle);
    }

    /// Lets `cpu` run until its clock reaches `cycle`, at least one instruction and at most what the hooks' counters can
    /// hold.
    #[allow(clippy::cast_possible_truncation)]
    pub fn run_until(&mut self, cpu: usize, cycle: u64) {
        self.make_stamps_low(cpu);
        self.fold_counts(cpu);
        let cpu = &mut self.cpus[cpu];
        let stamp = cpu.level1.header_ref().stamp();
        cpu.deadline = cycle;
        cpu.count_limit = stamp + COUNT_LIMIT as u32;
        let room = cpu.clock.instructions_until(stamp, cycle).clamp(1, COUNT_LIMIT) as u32;
        cpu.level1.header().set_limit(stamp + room);
    }

    /// Whether `cpu` has used up what `run_until` gave it.
    pub fn is_due(&self, cpu: usize) -> bool {
        let header = self.cpus[cpu].level1.header_ref();
        header.stamp() >= header.limit()
    }

    /// Reads and writes that hooks counted since the last fold.
    pub(crate) fn fold_counts(&mut self, cpu: usize) -> (u64, u64) {
        let cpu = &mut self.cpus[cpu];
        let (reads, writes) = cpu.level1.header_ref().accesses();
        cpu.level1.header().clear_accesses();
        cpu.counters.reads += reads;
        cpu.counters.writes += writes;
        (reads, writes)
    }

    /// Counters of a processor, up to now. Looking changes nothing: a checkpoint must not move a run.
    pub fn counters(&self, cpu: usize) -> CpuCounters {
        let cpu = &self.cpus[cpu];
        let header = cpu.level1.header_ref();
        let (reads, writes) = header.accesses();
        CpuCounters {
            instructions: cpu.counters.instructions + u64::from(header.stamp()),
            reads: cpu.counters.reads + reads,
            writes: cpu.counters.writes + writes,
            ..cpu.counters
        }
    }

    /// What passed a node.
    pub fn node_counts(&self, node: usize) -> NodeCounts {
        let bus = &self.buses[node];
        NodeCounts {
            transactions: bus.transactions,
            remote_transactions: bus.remote_transactions,
            bus_busy_cycles: bus.timeline.busy_cycles(),
            unit: self.network.unit(node),
            pages: self.pages.used()[node],
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.buses.len()
    }

    /// What crossed each link, in the machine's order.
    pub fn link_counts(&self) -> Vec<LinkCounts> {
        self.network.links().collect()
    }

    fn make_stamps_low(&mut self, cpu: usize) {
        let cpu = &mut self.cpus[cpu];
        let stamp = cpu.level1.header_ref().stamp();
        if stamp >= STAMP_LIMIT {
            cpu.clock.ticks(stamp);
            let by = STAMP_LIMIT - (1 << 24);
            cpu.clock.rebase(stamp, by);
            cpu.level1.rebase_stamps(by);
            cpu.counters.instructions += u64::from(by);
        }
    }
}
