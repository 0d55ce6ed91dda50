//! From the registers of an interrupted thread to one access that it was about to make.
//!
//! An interrupt comes late: a thread that waits for a load is found at the instruction behind it. Taking the access of
//! that instruction would give a loop's whole time to one of its arrays. So one of the next [`WINDOW`] accesses is
//! taken at random, each to a line that none before it went to: what follows on the same line, the first-level cache
//! serves, and a profile counts lines that are fetched. They are found by following the instructions from where the thread stood: registers are computed as far as
//! they can be (`registers.rs`), branches are taken by their flags where these are known, loops go on where they are not,
//! and the walk ends at any other branch that depends on what is unknown. Where an address depends on what was just loaded, the access is taken without its address; `hotdeck.rs` fills
//! it in from samples that stood right at the same instruction.

use crate::random::Random;
use crate::registers::{self, Registers};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register, UsedMemory,
};
use std::collections::HashMap;
use std::rc::Rc;

/// Accesses ahead of the interrupted instruction among which one is chosen: an iteration or two of most inner loops.
const WINDOW: usize = 16;
/// Instructions that are followed at most: enough for a window's accesses in code that computes much.
const LONGEST_WALK: usize = 192;
/// Bytes of a cache line.
const LINE: u64 = 64;
/// The longest instruction of the architecture, in bytes.
const LONGEST_INSTRUCTION: usize = 15;
/// Decoded instructions that are kept: more than the hot code of any program.
const MOST_KEPT: usize = 1 << 18;

/// One access on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// The instruction.
    pub code: u64,
    /// Where it goes, if that could be computed.
    pub address: Option<u64>,
    /// It writes (and may read, too).
    pub is_write: bool,
}

/// Follows code, and remembers what it has decoded.
pub struct Walker {
    factory: InstructionInfoFactory,
    known: HashMap<u64, Option<Rc<Step>>>,
    visits: Vec<Visit>,
    /// What the walk has met already: the line's number, or what an unknown address is made of.
    met: Vec<[Option<u64>; 3]>,
}

/// A decoded instruction.
struct Step {
    instruction: Instruction,
    accesses: Vec<(UsedMemory, bool)>,
    written: Vec<Register>,
    is_repeated: bool,
}

impl Default for Walker {
    fn default() -> Self {
        Walker {
            factory: InstructionInfoFactory::new(),
            known: HashMap::new(),
            visits: Vec::new(),
            met: Vec::new(),
        }
    }
}

impl Walker {
    /// An access that the thread at `code` with `registers` makes soon, and all on the way that was followed; nothing if
    /// there is none. `read` copies
    /// the code at an address and says how many bytes it got.
    pub fn pick(
        &mut self,
        code: u64,
        registers: &Registers,
        random: &mut Random,
        read: &mut dyn FnMut(u64, &mut [u8]) -> usize,
    ) -> Option<(Visit, &[Visit])> {
        let wanted = random.below(WINDOW);
        self.walk(code, registers.clone(), wanted + 1, random, read);
        // A path that ends early has no such access; another of its own then.
        let place = if wanted < self.visits.len() { wanted } else { random.below(self.visits.len()) };
        self.visits.get(place).map(|visit| (*visit, self.visits.as_slice()))
    }

    /// Forgets decoded code: other code may be at its addresses now.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Fills `visits` with up to `count` accesses from `code` on.
    fn walk(
        &mut self,
        mut code: u64,
        mut registers: Registers,
        count: usize,
        random: &mut Random,
        read: &mut dyn FnMut(u64, &mut [u8]) -> usize,
    ) {
        self.visits.clear();
        self.met.clear();
        let mut callers = Vec::new();
        for _ in 0..LONGEST_WALK {
            let Some(step) = self.step(code, read) else { return };
            self.visit(code, &step, &registers);
            if self.visits.len() >= count || registers::is_end(&step.instruction) {
                return;
            }
            let instruction = &step.instruction;
            let next = instruction.next_ip();
            code = match instruction.flow_control() {
                FlowControl::UnconditionalBranch => instruction.near_branch_target(),
                FlowControl::ConditionalBranch => {
                    let target = instruction.near_branch_target();
                    match registers.holds(instruction.condition_code()) {
                        Some(is_taken) => {
                            if is_taken {
                                target
                            } else {
                                next
                            }
                        }
                        // Loops go on more often than they end.
                        None if target < next => target,
                        // Either way may be the usual one; threads that stand behind the branch know theirs.
                        None if self.visits.is_empty() => {
                            if random.below(2) == 0 {
                                target
                            } else {
                                next
                            }
                        }
                        None => return,
                    }
                }
                FlowControl::Call => {
                    callers.push(next);
                    instruction.near_branch_target()
                }
                FlowControl::Return => match callers.pop() {
                    Some(caller) => caller,
                    None => return,
                },
                _ => next,
            };
            registers.step(instruction, &step.written);
        }
    }

    /// Adds the accesses of one instruction.
    fn visit(&mut self, code: u64, step: &Step, registers: &Registers) {
        let rounds = if step.is_repeated {
            // Unknown: it runs at least once, or the thread would not stand before it.
            usize::try_from(registers.repetitions().unwrap_or(1)).unwrap_or(LONGEST_WALK).min(LONGEST_WALK)
        } else {
            1
        };
        for round in 0..rounds {
            for (memory, is_write) in &step.accesses {
                let ahead = round as u64 * step.instruction.memory_size().size() as u64;
                let address = memory
                    .virtual_address(0, |register, _, _| registers.value(register))
                    .map(|address| address.wrapping_add(ahead));
                let line = match address {
                    Some(address) => [Some(address / LINE), None, None],
                    None => {
                        let [base, index] = registers.basis(memory.base(), memory.index());
                        [base, index, Some(memory.displacement() / LINE)]
                    }
                };
                if !self.met.contains(&line) {
                    self.met.push(line);
                    self.visits.push(Visit { code, address, is_write: *is_write });
                }
            }
        }
    }

    fn step(&mut self, code: u64, read: &mut dyn FnMut(u64, &mut [u8]) -> usize) -> Option<Rc<Step>> {
        if let Some(step) = self.known.get(&code) {
            return step.clone();
        }
        if self.known.len() >= MOST_KEPT {
            self.known.clear();
        }
        let mut bytes = [0; LONGEST_INSTRUCTION];
        let length = read(code, &mut bytes).min(LONGEST_INSTRUCTION);
        let step = self.decode(code, &bytes[..length]).map(Rc::new);
        self.known.insert(code, step.clone());
        step
    }

    fn decode(&mut self, code: u64, bytes: &[u8]) -> Option<Step> {
        let mut decoder = Decoder::with_ip(64, bytes, code, DecoderOptions::NONE);
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        let info = self.factory.info(&instruction);
        let accesses = info.used_memory().iter().filter_map(|memory| {
            let is_write = match memory.access() {
                OpAccess::Read | OpAccess::CondRead => false,
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => true,
                // Computing an address, or asking for a line ahead of time, is no access.
                OpAccess::None | OpAccess::NoMemAccess => return None,
            };
            Some((*memory, is_write))
        });
        let written = info.used_registers().iter().filter_map(|used| {
            let is_written = !matches!(
                used.access(),
                OpAccess::Read | OpAccess::CondRead | OpAccess::None | OpAccess::NoMemAccess
            );
            is_written.then(|| used.register())
        });
        let is_repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        Some(Step {
            accesses: accesses.collect(),
            written: written.collect(),
            is_repeated: is_repeated && instruction.is_string_instruction(),
            instruction,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const CODE: u64 = 0x40_0000;

    /// Registers of a sample, by their places there.
    fn registers(values: &[(usize, u64)]) -> Registers {
        let mut sample = vec![0; registers::SAMPLED.count_ones() as usize];
        values.iter().for_each(|(place, value)| sample[*place] = *value);
        Registers::of_sample(&sample).unwrap()
    }

    /// Every access that is picked from the start of `code` in many tries.
    fn picked(code: &[u8], registers: &Registers) -> BTreeSet<(u64, Option<u64>, bool)> {
        let mut walker = Walker::default();
        let mut random = Random::new(3);
        let mut read = |address: u64, into: &mut [u8]| {
            let from = usize::try_from(address - CODE).unwrap();
            let rest = code.get(from..).unwrap_or_default();
            let count = rest.len().min(into.len());
            into[..count].copy_from_slice(&rest[..count]);
            count
        };
        let mut picked = BTreeSet::new();
        for _ in 0..2000 {
            if let Some((visit, _)) = walker.pick(CODE, registers, &mut random, &mut read) {
                picked.insert((visit.code - CODE, visit.address, visit.is_write));
            }
        }
        picked
    }

    const DX: usize = 3;
    const SI: usize = 4;
    const DI: usize = 5;
    const CX: usize = 2;

    #[test]
    fn a_loop_is_followed_to_its_end_and_each_line_counts_once() {
        // mov rax,[rdi+rcx*8]; add rcx,1; cmp rcx,rdx; jne back; mov [rsi],rax; syscall
        let code = b"\x48\x8b\x04\xcf\x48\x83\xc1\x01\x48\x39\xd1\x75\xf3\x48\x89\x06\x0f\x05";
        let expected = [(0, Some(0x1000), false), (0, Some(0x1040), false), (13, Some(0x9000), true)];
        assert_eq!(picked(code, &registers(&[(DI, 0x1000), (DX, 16), (SI, 0x9000)])), expected.into());
    }

    #[test]
    fn what_a_load_brings_is_unknown_and_its_fields_on_one_line_count_once() {
        // mov rdi,[rdi]; mov eax,[rdi+8]; mov rbx,[rdi+16]; mov [rdi+128],rbx; syscall
        let code = b"\x48\x8b\x3f\x8b\x47\x08\x48\x8b\x5f\x10\x48\x89\x9f\x80\x00\x00\x00\x0f\x05";
        let expected = [(0, Some(0x2000), false), (3, None, false), (10, None, true)];
        assert_eq!(picked(code, &registers(&[(DI, 0x2000)])), expected.into());
    }

    #[test]
    fn a_repeated_instruction_reaches_as_far_as_its_counter_says() {
        // rep movsq; syscall
        let code = b"\xf3\x48\xa5\x0f\x05";
        let lines: BTreeSet<u64> = picked(code, &registers(&[(SI, 0x1000), (DI, 0x8000), (CX, 16)]))
            .into_iter()
            .map(|(_, address, is_write)| {
                let address = address.unwrap();
                assert_eq!(is_write, address >= 0x8000);
                address
            })
            .collect();
        assert_eq!(lines, [0x1000, 0x1040, 0x8000, 0x8040].into());
    }

    #[test]
    fn a_branch_that_depends_on_memory_ends_the_walk() {
        // mov rax,[rdi]; test rax,rax; je over; mov rbx,[rsi]; over: mov rbx,[rsi+64]; ret
        let code = b"\x48\x8b\x07\x48\x85\xc0\x74\x03\x48\x8b\x1e\x48\x8b\x5e\x40\xc3";
        assert_eq!(
            picked(code, &registers(&[(DI, 0x2000), (SI, 0x3000)])),
            [(0, Some(0x2000), false)].into()
        );
    }

    #[test]
    fn bytes_that_are_no_code_give_no_access() {
        assert_eq!(picked(b"\x06\x06\x06", &registers(&[])), BTreeSet::new());
        assert_eq!(picked(b"", &registers(&[])), BTreeSet::new());
    }
}
