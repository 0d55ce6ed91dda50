//! One process under study: its threads, its memory, and the accesses seen so far.

use crate::data_source::{DataSource, Level, Operation};
use crate::hotdeck::{Cell, HotDeck, Instruction};
use crate::modules::Files;
use crate::random::Random;
use crate::record::Sample;
use crate::registers::Registers;
use crate::space::Space;
use crate::walk::{Visit, Walker};
use olifant_opium::profile::Thread;
use olifant_sys::{Pid, read_process_memory};
use std::collections::HashMap;

/// The place of the stack pointer among the sampled registers.
const STACK_POINTER: usize = 7;

/// A process.
#[derive(Default)]
pub struct Process {
    /// What lies where.
    pub space: Space,
    /// In the order of their creation.
    pub threads: Vec<Thread>,
    numbers: HashMap<i32, u16>,
    /// Accesses.
    pub deck: HotDeck,
    /// Home nodes by page, as far as they were asked for.
    pub homes: HashMap<u64, Option<u16>>,
    walker: Walker,
    way: Vec<Visit>,
    /// Samples taken.
    pub samples: u64,
    /// Of those, the ones with no access ahead.
    pub idle: u64,
}

/// What stays the same for all samples.
pub struct Setting<'a> {
    /// The node of each cpu.
    pub node_of: &'a dyn Fn(u32) -> u16,
    /// The home of memory that a cpu found on its own node, or (true) on another, if that tells it.
    pub home_of: &'a dyn Fn(u32, bool) -> Option<u16>,
    /// Bytes per granule.
    pub granule_bytes: u64,
}

impl Process {
    /// A process that was forked from this one: the same memory, one thread.
    pub fn forked(&self) -> Process {
        Process { space: self.space.forked(), ..Process::default() }
    }

    /// The process runs a new program.
    pub fn exec(&mut self) {
        *self = Process::default();
    }

    /// The number of a thread, which begins to exist with its first record.
    pub fn thread(&mut self, thread: i32, time_ns: u64) -> u16 {
        let next = u16::try_from(self.threads.len()).unwrap_or(u16::MAX);
        let number = *self.numbers.entry(thread).or_insert(next);
        if number == next && usize::from(next) == self.threads.len() {
            self.threads.push(Thread { started: time_ns, ended: time_ns, ..Thread::default() });
        }
        number
    }

    /// A thread has a name.
    pub fn name(&mut self, thread: i32, name: &str, time_ns: u64) {
        let number = self.thread(thread, time_ns);
        if let Some(thread) = self.threads.get_mut(usize::from(number)) {
            name.clone_into(&mut thread.name);
        }
    }

    /// A thread has ended; its number may come again for another.
    pub fn end(&mut self, thread: i32, time_ns: u64) {
        if let Some(number) = self.numbers.remove(&thread)
            && let Some(thread) = self.threads.get_mut(usize::from(number))
        {
            thread.ended = time_ns;
        }
    }

    /// A sample that tells the address itself; where the data came from may tell the page's home.
    pub fn take_address(&mut self, sample: &Sample, setting: &Setting) {
        let thread = self.arrive(sample, setting);
        let source = DataSource::decode(sample.data_source);
        let is_write = source.operation == Operation::Store;
        let visit = Visit { code: sample.code, address: Some(sample.address), is_write };
        self.count(thread, visit, sample, setting);
        if source.level == Level::Memory {
            let granule = sample.address / setting.granule_bytes * setting.granule_bytes;
            let home = (setting.home_of)(sample.cpu, source.is_remote);
            if home.is_some() {
                self.homes.insert(granule, home);
            }
        }
    }

    /// A sample of registers: one of the accesses ahead is taken.
    pub fn take_registers(
        &mut self,
        sample: &Sample,
        random: &mut Random,
        files: &mut Files,
        setting: &Setting,
    ) {
        let thread = self.arrive(sample, setting);
        if self.space.took_new_code() {
            self.walker.forget();
        }
        let Some(registers) = Registers::of_sample(&sample.registers) else { return };
        let (space, process) = (&self.space, Pid(sample.process));
        let mut read = |address: u64, into: &mut [u8]| {
            let from_file = space.read_code(address, into, files).filter(|count| *count > 0);
            // Code without a file: the kernel's page of fast calls, or made at run time.
            from_file.or_else(|| read_process_memory(process, address, into).ok()).unwrap_or(0)
        };
        match self.walker.pick(sample.code, &registers, random, &mut read) {
            Some((chosen, visits)) => {
                self.way.clear();
                self.way.extend(visits.iter().filter(|visit| visit.address.is_some()));
                for visit in std::mem::take(&mut self.way) {
                    if let Some(cell) = self.cell(thread, visit, sample, setting) {
                        self.deck.donate(instruction(thread, visit), cell);
                    }
                }
                self.count(thread, chosen, sample, setting);
            }
            None => self.idle += 1,
        }
    }

    fn arrive(&mut self, sample: &Sample, setting: &Setting) -> u16 {
        self.samples += 1;
        let number = self.thread(sample.thread, sample.time_ns);
        if let Some(thread) = self.threads.get_mut(usize::from(number)) {
            thread.cpu = u16::try_from(sample.cpu).unwrap_or(u16::MAX);
            thread.node = (setting.node_of)(sample.cpu);
            thread.ended = thread.ended.max(sample.time_ns);
        }
        number
    }

    fn count(&mut self, thread: u16, visit: Visit, sample: &Sample, setting: &Setting) {
        match self.cell(thread, visit, sample, setting) {
            Some(cell) => self.deck.see(instruction(thread, visit), cell),
            None => self.deck.miss(instruction(thread, visit)),
        }
    }

    /// Where an access goes; its area begins to exist with it.
    fn cell(&mut self, thread: u16, visit: Visit, sample: &Sample, setting: &Setting) -> Option<Cell> {
        let address = visit.address?;
        let stack_pointer = sample.registers.get(STACK_POINTER).copied().unwrap_or(0);
        let area = self.space.area_at(address, thread, stack_pointer, sample.time_ns);
        let granule = address / setting.granule_bytes * setting.granule_bytes;
        self.homes.entry(granule).or_insert(None);
        Some(Cell { area, granule, node: (setting.node_of)(sample.cpu) })
    }
}

fn instruction(thread: u16, visit: Visit) -> Instruction {
    Instruction { thread, code: visit.code, is_write: visit.is_write }
}
