//! The plain machine: the protocol a second time, written from `docs/protocol.md` and `docs/simulator.md` alone, to
//! check the engine count for count. Lists for caches, a map for the directory, one function per event, no time.
//!
//! Lines are named by their virtual address, since every page has one frame. Data is carried along with the copies, so
//! that each read can be checked against the last write.

mod lru;
mod pages;
mod protocol;
mod sizes;

use crate::counts::{Counts, OfCpu, OfLink, OfNode};
use lru::Lru;
use olifant_machine::{Machine, NodeId, Routes};
use olifant_placement::MemoryPolicy;
use pages::Pages;
use protocol::Entry;
use sizes::Sizes;
use std::collections::BTreeMap;

/// State of a line in a second-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Shared,
    Exclusive,
    Modified,
}

/// A line in a second-level cache, with its data.
#[derive(Debug, Clone)]
struct Copy {
    state: State,
    words: Words,
}

/// Data of a line: its 8-byte words.
type Words = Vec<u64>;

struct Processor {
    node: usize,
    /// Line address to whether it may be written.
    level1: Lru<bool>,
    /// Line address to copy.
    level2: Lru<Copy>,
    tlb: Lru<()>,
}

/// The plain machine.
pub struct Plain {
    machine: Machine,
    sizes: Sizes,
    ids: Vec<NodeId>,
    routes: Routes,
    cpus: Vec<Processor>,
    directory: BTreeMap<u64, Entry>,
    memory: BTreeMap<u64, Words>,
    pages: Pages,
    of_cpu: Vec<OfCpu>,
    of_node: Vec<OfNode>,
    of_link: Vec<OfLink>,
    last_written: BTreeMap<u64, u64>,
    writes: u64,
    /// Uses of the first level, and what became of them.
    uses: u64,
    level1_hits: u64,
    level2_hits: u64,
    /// Lines brought into second levels; dropped by them for want of room; taken from them by other processors, or
    /// with their page.
    fills: u64,
    evictions: u64,
    invalidations: u64,
}

impl Plain {
    pub fn new(machine: &Machine, policy: MemoryPolicy, seed: u64) -> Self {
        let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
        let routes = Routes::new(&machine.network, &ids).unwrap();
        let mut numbers: Vec<(u16, usize)> = Vec::new();
        for (node, described) in machine.nodes.iter().enumerate() {
            numbers.extend(described.cpus.iter().map(|cpu| (cpu.0, node)));
        }
        numbers.sort_unstable();
        let processor = &machine.processor;
        let sizes = Sizes::new(machine);
        let cpus = numbers.iter().map(|&(_, node)| Processor {
            node,
            level1: Lru::new(sizes.level1_sets, processor.l1.ways),
            level2: Lru::new(sizes.level2_sets, processor.l2.ways),
            tlb: Lru::new(sizes.tlb_sets, processor.tlb.ways),
        });
        Self {
            cpus: cpus.collect(),
            pages: Pages::new(machine, &routes, policy, seed),
            of_cpu: vec![OfCpu::default(); numbers.len()],
            of_node: vec![OfNode::default(); ids.len()],
            of_link: vec![OfLink::default(); machine.network.links.len()],
            machine: machine.clone(),
            sizes,
            ids,
            routes,
            directory: BTreeMap::new(),
            memory: BTreeMap::new(),
            last_written: BTreeMap::new(),
            writes: 0,
            uses: 0,
            level1_hits: 0,
            level2_hits: 0,
            fills: 0,
            evictions: 0,
            invalidations: 0,
        }
    }

    pub fn read(&mut self, cpu: usize, address: u64) {
        self.of_cpu[cpu].reads += 1;
        self.touch(cpu, address, false);
    }

    pub fn write(&mut self, cpu: usize, address: u64) {
        self.of_cpu[cpu].writes += 1;
        self.touch(cpu, address, true);
    }

    /// A copy loop over `bytes` by words of 8: a use of every first-level line, counted by words.
    pub fn range(&mut self, cpu: usize, address: u64, bytes: u64, is_write: bool) {
        let line = self.sizes.level1_line;
        let end = address + bytes;
        let mut at = address;
        while at < end {
            let next = (at / line * line + line).min(end);
            let words = (next - at).div_ceil(8);
            *if is_write { &mut self.of_cpu[cpu].writes } else { &mut self.of_cpu[cpu].reads } += words;
            self.touch(cpu, at, is_write);
            at = next;
        }
    }

    /// Pages leave memory and every cache, and nothing of them is written back.
    pub fn unmap(&mut self, start: u64, bytes: u64) {
        let page_bytes = self.sizes.page;
        for (page, placed) in self.pages.forget(start, bytes) {
            for line in (page..page + page_bytes).step_by(self.sizes.line as usize) {
                let set = self.level2_set_in(placed, line);
                for cpu in 0..self.cpus.len() {
                    if self.cpus[cpu].level2.remove(set, line).is_some() {
                        self.invalidations += 1;
                        self.drop_from_level1(cpu, line);
                    }
                }
                self.directory.remove(&line);
                self.memory.remove(&line);
                for word in (line..line + self.sizes.line).step_by(8) {
                    self.last_written.remove(&word);
                }
            }
            for cpu in 0..self.cpus.len() {
                let number = page / page_bytes;
                let set = number % self.sizes.tlb_sets;
                self.cpus[cpu].tlb.remove(set, number);
            }
        }
    }

    /// All counts up to now.
    pub fn counts(&self) -> Counts {
        let mut nodes = self.of_node.clone();
        for (node, counts) in nodes.iter_mut().enumerate() {
            counts.pages = self.pages.used(node);
        }
        Counts { cpus: self.of_cpu.clone(), nodes, links: self.of_link.clone() }
    }

    /// Accesses are hits and misses at both levels; what came into the second levels has left them or is there.
    pub fn assert_conservation(&self, what: &str) {
        let sum = |part: fn(&OfCpu) -> u64| self.of_cpu.iter().map(part).sum::<u64>();
        let (level1_misses, level2_misses) = (sum(|cpu| cpu.level1_misses), sum(|cpu| cpu.level2_misses));
        assert_eq!(self.uses, self.level1_hits + level1_misses, "first level, {what}");
        assert_eq!(level1_misses, self.level2_hits + level2_misses, "second level, {what}");
        assert_eq!(self.fills, level2_misses, "fills, {what}");
        let resident: u64 = self.cpus.iter().map(|cpu| cpu.level2.len()).sum();
        assert_eq!(self.fills, self.evictions + self.invalidations + resident, "lines, {what}");
    }

    /// One use of an address: first level, second level, bus.
    fn touch(&mut self, cpu: usize, address: u64, is_write: bool) {
        let (set, line1) = self.level1_place(address);
        let line = address / self.sizes.line * self.sizes.line;
        self.uses += 1;
        let found = self.cpus[cpu].level1.take_note(set, line1).copied();
        self.level1_hits += u64::from(found.is_some());
        match found {
            Some(true) => {}
            Some(false) if !is_write => {}
            Some(false) => {
                self.translate(cpu, address);
                self.gain_permission(cpu, line);
                if let Some(may_write) = self.cpus[cpu].level1.peek(set, line1) {
                    *may_write = true;
                }
            }
            None => {
                self.of_cpu[cpu].level1_misses += 1;
                self.translate(cpu, address);
                self.bring_into_level2(cpu, line, is_write);
                let may_write = self.state_at(cpu, line) == Some(State::Modified);
                self.cpus[cpu].level1.add(set, line1, may_write);
            }
        }
        self.use_data(cpu, address, is_write);
        if found.is_none_or(|may_write| is_write && !may_write) {
            self.assert_one_writer_or_many_readers(line);
        }
    }

    fn translate(&mut self, cpu: usize, address: u64) {
        let page = address / self.sizes.page;
        let set = page % self.sizes.tlb_sets;
        if self.cpus[cpu].tlb.take_note(set, page).is_none() {
            self.of_cpu[cpu].tlb_misses += 1;
            self.pages.touch(address, self.cpus[cpu].node);
            self.cpus[cpu].tlb.add(set, page, ());
        }
    }

    /// The second level is asked for a line, and used.
    fn bring_into_level2(&mut self, cpu: usize, line: u64, is_write: bool) {
        let set = self.level2_set(line);
        if self.cpus[cpu].level2.take_note(set, line).is_some() {
            self.level2_hits += 1;
            if is_write {
                self.gain_permission(cpu, line);
            }
            return;
        }
        let copy = if is_write { self.write_miss(cpu, line) } else { self.read_miss(cpu, line) };
        self.of_cpu[cpu].level2_misses += 1;
        self.fills += 1;
        if let Some((victim, left)) = self.cpus[cpu].level2.add(set, line, copy) {
            self.evictions += 1;
            self.drop_from_level1(cpu, victim);
            if left.state == State::Modified {
                self.of_cpu[cpu].write_backs += 1;
                self.write_back(cpu, victim, left.words);
            }
        }
    }

    /// A line that the second level holds becomes modified there.
    fn gain_permission(&mut self, cpu: usize, line: u64) {
        if self.state_at(cpu, line) == Some(State::Shared) {
            self.of_cpu[cpu].upgrades += 1;
            self.upgrade(cpu, line);
        }
        self.copy_at(cpu, line).expect("the first level holds only what the second holds").state =
            State::Modified;
    }

    fn use_data(&mut self, cpu: usize, address: u64, is_write: bool) {
        let word = address / 8 * 8;
        let index = (word % self.sizes.line / 8) as usize;
        let line = address / self.sizes.line * self.sizes.line;
        if is_write {
            self.writes += 1;
            let value = self.writes;
            let copy = self.copy_at(cpu, line).expect("a written line is held");
            assert_eq!(copy.state, State::Modified, "line {line:#x} written by cpu {cpu}");
            copy.words[index] = value;
            self.last_written.insert(word, value);
        } else {
            let read = self.copy_at(cpu, line).expect("a read line is held").words[index];
            let written = self.last_written.get(&word).copied().unwrap_or(0);
            assert_eq!(read, written, "cpu {cpu} reads {word:#x}: what it got, what was written last");
        }
    }

    fn assert_one_writer_or_many_readers(&mut self, line: u64) {
        let states: Vec<State> = (0..self.cpus.len()).filter_map(|cpu| self.state_at(cpu, line)).collect();
        let alone = states.len() == 1;
        assert!(alone || states.iter().all(|&state| state == State::Shared), "line {line:#x}: {states:?}");
    }

    fn drop_from_level1(&mut self, cpu: usize, line: u64) {
        for part in (line..line + self.sizes.line).step_by(self.sizes.level1_line as usize) {
            let (set, line1) = self.level1_place(part);
            self.cpus[cpu].level1.remove(set, line1);
        }
    }

    fn copy_at(&mut self, cpu: usize, line: u64) -> Option<&mut Copy> {
        let set = self.level2_set(line);
        self.cpus[cpu].level2.peek(set, line)
    }

    fn state_at(&mut self, cpu: usize, line: u64) -> Option<State> {
        self.copy_at(cpu, line).map(|copy| copy.state)
    }

    /// The first level is virtually indexed: set and line of an address.
    fn level1_place(&self, address: u64) -> (u64, u64) {
        let line = address / self.sizes.level1_line;
        (line % self.sizes.level1_sets, line)
    }

    /// The second level is physically indexed: a frame's colour and the line's place in its page.
    fn level2_set(&self, line: u64) -> u64 {
        self.level2_set_in(self.pages.of(line), line)
    }

    fn level2_set_in(&self, page: pages::Page, line: u64) -> u64 {
        (page.colour * self.sizes.page + line % self.sizes.page) / self.sizes.line % self.sizes.level2_sets
    }
}
