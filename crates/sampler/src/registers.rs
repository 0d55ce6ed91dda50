//! The registers of a sampled thread, and what the next instructions would make of them.
//!
//! Followed are the instructions that compilers make addresses and loop counts with; what any other writes is unknown
//! from then on, and so is everything that comes from memory. An unknown is never guessed.

use iced_x86::{Code, ConditionCode, Instruction, Mnemonic, OpKind, Register};

/// Registers that a sample holds, by the numbers of asm/perf_regs.h: ax bx cx dx si di bp sp ip flags, then r8 to r15.
pub const SAMPLED: u64 = 0x00ff_03ff;

/// In the order of iced's registers (rax rcx rdx rbx rsp rbp rsi rdi r8 ...): the place in a sample.
const PLACES: [usize; 16] = [0, 2, 3, 1, 7, 6, 4, 5, 10, 11, 12, 13, 14, 15, 16, 17];
const FLAGS_PLACE: usize = 9;

/// What is known of a thread's registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers {
    general: [Value; 16],
    flags: Flags,
    /// Unknown values so far.
    unknowns: u32,
}

/// A value, or which of the unknown ones: a copy of an unknown value is the same unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Known(u64),
    Unknown(u32),
}

impl Value {
    fn known(self) -> Option<u64> {
        match self {
            Value::Known(value) => Some(value),
            Value::Unknown(_) => None,
        }
    }
}

/// The flags that conditions are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Flags {
    carry: Option<bool>,
    zero: Option<bool>,
    sign: Option<bool>,
    overflow: Option<bool>,
    parity: Option<bool>,
}

impl Registers {
    /// Of a sample with the registers [`SAMPLED`]; nothing if it has others.
    pub fn of_sample(sample: &[u64]) -> Option<Registers> {
        if sample.len() != SAMPLED.count_ones() as usize {
            return None;
        }
        let bit = |number: u32| Some(sample[FLAGS_PLACE] >> number & 1 == 1);
        let flags = Flags { carry: bit(0), parity: bit(2), zero: bit(6), sign: bit(7), overflow: bit(11) };
        Some(Registers { general: PLACES.map(|place| Value::Known(sample[place])), flags, unknowns: 0 })
    }

    /// The value of a register; segment bases of 64-bit code are 0, but for FS and GS, which nobody told us.
    pub fn value(&self, register: Register) -> Option<u64> {
        if register.is_segment_register() {
            return (!matches!(register, Register::FS | Register::GS)).then_some(0);
        }
        let value = self.place(register)?.known()?;
        match register.size() {
            8 => Some(value),
            4 => Some(value & 0xffff_ffff),
            2 => Some(value & 0xffff),
            // AH and its like are bits 8 to 15; nobody makes addresses of them.
            _ if matches!(register, Register::AH | Register::BH | Register::CH | Register::DH) => None,
            _ => Some(value & 0xff),
        }
    }

    /// The condition of a branch, if its flags are known.
    pub fn holds(&self, condition: ConditionCode) -> Option<bool> {
        let Flags { carry, zero, sign, overflow, parity } = self.flags;
        let less = || Some(sign? != overflow?);
        Some(match condition {
            ConditionCode::o => overflow?,
            ConditionCode::no => !overflow?,
            ConditionCode::b => carry?,
            ConditionCode::ae => !carry?,
            ConditionCode::e => zero?,
            ConditionCode::ne => !zero?,
            ConditionCode::be => carry? || zero?,
            ConditionCode::a => !(carry? || zero?),
            ConditionCode::s => sign?,
            ConditionCode::ns => !sign?,
            ConditionCode::p => parity?,
            ConditionCode::np => !parity?,
            ConditionCode::l => less()?,
            ConditionCode::ge => !less()?,
            ConditionCode::le => zero? || less()?,
            ConditionCode::g => !(zero? || less()?),
            ConditionCode::None => return None,
        })
    }

    /// What is left of the counter of a repeated instruction.
    pub fn repetitions(&self) -> Option<u64> {
        self.value(Register::RCX)
    }

    /// Goes on to after `instruction`; `written` are all registers that it may change.
    pub fn step(&mut self, instruction: &Instruction, written: &[Register]) {
        let result = self.result(instruction);
        let flags = self.flags_after(instruction);
        let stack = self.value(Register::RSP);
        let copy = self.copied_unknown(instruction);
        for register in written {
            let unknown = self.new_unknown();
            self.set(*register, unknown);
        }
        if let Some((register, value)) = result {
            match register.size() {
                8 => self.set(register, Value::Known(value)),
                4 => self.set(register, Value::Known(value & 0xffff_ffff)),
                // The rest of the register stays, which is not worth following.
                _ => {}
            }
        } else if let Some(copy) = copy {
            self.set(instruction.op0_register(), copy);
        }
        if instruction.is_stack_instruction() {
            // `pop rsp` and `leave` take the stack pointer from elsewhere.
            let is_set = match instruction.mnemonic() {
                Mnemonic::Leave | Mnemonic::Enter => true,
                Mnemonic::Pop => instruction.op0_register() == Register::RSP,
                _ => false,
            };
            let moved = i64::from(instruction.stack_pointer_increment());
            if let Some(stack) = stack.filter(|_| !is_set) {
                self.set(Register::RSP, Value::Known(stack.wrapping_add_signed(moved)));
            }
        }
        if let Some(flags) = flags {
            self.flags = flags;
        }
    }

    /// The register that an instruction computes and its new value, for those that are followed.
    fn result(&self, instruction: &Instruction) -> Option<(Register, u64)> {
        if instruction.op_count() == 0 || instruction.op0_kind() != OpKind::Register {
            return None;
        }
        let target = instruction.op0_register();
        let bits = u32::try_from(target.size() * 8).ok()?;
        let old = || self.value(target);
        let other = || self.operand(instruction, 1);
        let shift = || other().and_then(|count| u32::try_from(count).ok()).map(|count| count & (bits - 1));
        let value = match instruction.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movzx => other()?,
            Mnemonic::Movsxd => sign_extended(other()?, 32),
            Mnemonic::Cdqe => sign_extended(self.value(Register::EAX)?, 32),
            Mnemonic::Lea => {
                instruction.virtual_address(1, 0, |register, _, _| self.value_or_zero_segment(register))?
            }
            Mnemonic::Add => old()?.wrapping_add(other()?),
            Mnemonic::Sub => old()?.wrapping_sub(other()?),
            Mnemonic::Inc => old()?.wrapping_add(1),
            Mnemonic::Dec => old()?.wrapping_sub(1),
            Mnemonic::Neg => 0_u64.wrapping_sub(old()?),
            Mnemonic::And => old()? & other()?,
            Mnemonic::Or => old()? | other()?,
            Mnemonic::Xor if is_same_register(instruction) => 0,
            Mnemonic::Xor => old()? ^ other()?,
            Mnemonic::Shl => old()?.wrapping_shl(shift()?),
            Mnemonic::Shr => old()?.wrapping_shr(shift()?),
            Mnemonic::Imul if instruction.op_count() == 2 => old()?.wrapping_mul(other()?),
            Mnemonic::Imul if instruction.op_count() == 3 => {
                other()?.wrapping_mul(self.operand(instruction, 2)?)
            }
            _ => return None,
        };
        Some((target, value))
    }

    /// The flags after an instruction; nothing if it leaves them alone.
    fn flags_after(&self, instruction: &Instruction) -> Option<Flags> {
        let touched = instruction.rflags_modified();
        if touched == 0 {
            return None;
        }
        let unknown = Flags::default();
        let size = match instruction.op0_kind() {
            OpKind::Register => instruction.op0_register().size(),
            _ => instruction.memory_size().size(),
        };
        if !matches!(size, 1 | 2 | 4 | 8) || instruction.op_count() == 0 {
            return Some(unknown);
        }
        let bits = size * 8;
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let sign_of = |value: u64| value >> (bits - 1) & 1 == 1;
        let of_result = |result: u64| Flags {
            zero: Some(result & mask == 0),
            sign: Some(sign_of(result)),
            parity: Some((result & 0xff).count_ones().is_multiple_of(2)),
            ..unknown
        };
        let left = self.operand(instruction, 0);
        let right = self.operand(instruction, 1);
        let flags = match (instruction.mnemonic(), left, right) {
            (Mnemonic::Cmp | Mnemonic::Sub, Some(left), Some(right)) => {
                let (left, right) = (left & mask, right & mask);
                let result = left.wrapping_sub(right);
                let overflow = sign_of(left) != sign_of(right) && sign_of(result) != sign_of(left);
                Flags { carry: Some(left < right), overflow: Some(overflow), ..of_result(result) }
            }
            (Mnemonic::Add, Some(left), Some(right)) => {
                let (left, right) = (left & mask, right & mask);
                let result = left.wrapping_add(right);
                let overflow = sign_of(left) == sign_of(right) && sign_of(result) != sign_of(left);
                Flags { carry: Some(result & mask < left), overflow: Some(overflow), ..of_result(result) }
            }
            (Mnemonic::Xor, ..) if is_same_register(instruction) => {
                Flags { carry: Some(false), overflow: Some(false), ..of_result(0) }
            }
            (
                mnemonic @ (Mnemonic::Test | Mnemonic::And | Mnemonic::Or | Mnemonic::Xor),
                Some(left),
                Some(right),
            ) => {
                let result = match mnemonic {
                    Mnemonic::Or => left | right,
                    Mnemonic::Xor => left ^ right,
                    _ => left & right,
                };
                Flags { carry: Some(false), overflow: Some(false), ..of_result(result) }
            }
            // These leave the carry as it is, and overflow only at the ends of the numbers.
            (Mnemonic::Inc, Some(left), _) => Flags {
                carry: self.flags.carry,
                overflow: Some(left & mask == mask >> 1),
                ..of_result(left.wrapping_add(1))
            },
            (Mnemonic::Dec, Some(left), _) => Flags {
                carry: self.flags.carry,
                overflow: Some(left & mask == (mask >> 1) + 1),
                ..of_result(left.wrapping_sub(1))
            },
            _ => unknown,
        };
        Some(flags)
    }

    /// The value of an operand that is a register or a constant.
    fn operand(&self, instruction: &Instruction, number: u32) -> Option<u64> {
        if number >= instruction.op_count() {
            return None;
        }
        match instruction.op_kind(number) {
            OpKind::Register => self.value(instruction.op_register(number)),
            OpKind::Memory => None,
            _ => instruction.try_immediate(number).ok(),
        }
    }

    fn value_or_zero_segment(&self, register: Register) -> Option<u64> {
        if register.is_segment_register() { Some(0) } else { self.value(register) }
    }

    /// What an address is made of where it cannot be computed: the same for two addresses that differ by the difference
    /// of their displacements.
    pub fn basis(&self, base: Register, index: Register) -> [Option<u64>; 2] {
        [base, index].map(|register| {
            self.place(register).map(|value| match value {
                Value::Known(value) => value,
                // Past every address that user code can have.
                Value::Unknown(number) => 1 << 63 | u64::from(number),
            })
        })
    }

    /// The unknown value that a 64-bit copy of a register brings.
    fn copied_unknown(&self, instruction: &Instruction) -> Option<Value> {
        let is_copy = instruction.mnemonic() == Mnemonic::Mov
            && instruction.op0_kind() == OpKind::Register
            && instruction.op1_kind() == OpKind::Register
            && instruction.op0_register().is_gpr64();
        if is_copy { self.place(instruction.op1_register()) } else { None }
    }

    fn new_unknown(&mut self) -> Value {
        self.unknowns += 1;
        Value::Unknown(self.unknowns)
    }

    fn place(&self, register: Register) -> Option<Value> {
        let full = register.full_register();
        full.is_gpr64().then(|| self.general[full.number()])
    }

    fn set(&mut self, register: Register, value: Value) {
        let full = register.full_register();
        if full.is_gpr64() {
            self.general[full.number()] = value;
        }
    }
}

/// Whether both operands are one register, which then becomes 0 whatever it was.
fn is_same_register(instruction: &Instruction) -> bool {
    instruction.op1_kind() == OpKind::Register && instruction.op0_register() == instruction.op1_register()
}

fn sign_extended(value: u64, bits: u32) -> u64 {
    let unused = 64 - bits;
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

/// Whether an instruction ends the path that can be followed: the next one is not known from the code alone.
pub fn is_end(instruction: &Instruction) -> bool {
    use iced_x86::FlowControl;
    matches!(
        instruction.flow_control(),
        FlowControl::IndirectBranch
            | FlowControl::IndirectCall
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend
            | FlowControl::Exception
    ) || matches!(instruction.code(), Code::Syscall | Code::INVALID)
}
