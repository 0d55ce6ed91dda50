//! Which registers a stretch of code uses, and so which the slow path's entry must preserve.
//!
//! Vector registers are the caller's to save by the ABI, so what a function doesn't name it doesn't hold: an entry
//! saves no more than the function's own text names. Hooks' own scratch registers are dead when the entry is called.

use super::lines::{self, Line};

/// The highest vector state in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Vectors {
    /// None.
    #[default]
    None,
    /// %xmm0 to %xmm7.
    Xmm8,
    /// %xmm0 to %xmm15.
    Xmm16,
    /// %ymm0 to %ymm15.
    Ymm,
    /// %zmm0 to %zmm31 and the masks.
    Zmm,
}

/// What the entry must save, and how hooks spell vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Saved {
    /// Vector registers.
    pub vectors: Vectors,
    /// The x87 stack (long double, MMX).
    pub uses_x87: bool,
    /// VEX-encoded instructions are about: legacy ones in between would be slow.
    pub uses_vex: bool,
}

impl Saved {
    /// Looks through the lines of a function; markers don't count.
    pub fn of(text: &[&str]) -> Saved {
        let mut saved = Saved::default();
        for line in text {
            if let Line::Instruction(mnemonic, operands) = lines::classify(line) {
                saved.uses_vex |= mnemonic.starts_with('v') && !mnemonic.starts_with("ver");
                saved.uses_x87 |= mnemonic.starts_with('f');
                saved.add_operands(operands);
            }
        }
        saved
    }

    fn add_operands(&mut self, operands: &str) {
        for (at, _) in operands.match_indices('%') {
            let rest = &operands[at + 1..];
            let vectors = if let Some(number) = rest.strip_prefix("xmm") {
                match leading_number(number) {
                    0..=7 => Vectors::Xmm8,
                    8..=15 => Vectors::Xmm16,
                    _ => Vectors::Zmm,
                }
            } else if let Some(number) = rest.strip_prefix("ymm") {
                if leading_number(number) < 16 { Vectors::Ymm } else { Vectors::Zmm }
            } else if rest.starts_with("zmm") || is_mask(rest) {
                Vectors::Zmm
            } else {
                self.uses_x87 |= rest.starts_with("st") || rest.starts_with("mm");
                Vectors::None
            };
            self.vectors = self.vectors.max(vectors);
        }
    }

    /// The entry of the slow path (crates/runtime/hooks/entries.S).
    pub fn entry(self) -> &'static str {
        match (self.vectors, self.uses_x87) {
            (Vectors::None, false) => "__olifant_enter_general",
            (Vectors::Xmm8, false) => "__olifant_enter_xmm8",
            (Vectors::Xmm16, false) => "__olifant_enter_xmm16",
            (Vectors::Ymm, false) => "__olifant_enter_ymm",
            (Vectors::Zmm, false) => "__olifant_enter_zmm",
            (Vectors::None | Vectors::Xmm8 | Vectors::Xmm16, true) => "__olifant_enter_x87",
            (Vectors::Ymm, true) => "__olifant_enter_ymm_x87",
            (Vectors::Zmm, true) => "__olifant_enter_zmm_x87",
        }
    }
}

fn leading_number(text: &str) -> u32 {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().unwrap_or(u32::MAX)
}

fn is_mask(register: &str) -> bool {
    register.strip_prefix('k').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The 32-bit name of a 64-bit register.
pub fn half(register: &str) -> String {
    let name = register.trim_start_matches('%');
    if name.starts_with('r') && name[1..].starts_with(|c: char| c.is_ascii_digit()) {
        format!("%{name}d")
    } else {
        format!("%e{}", &name[1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_saves_what_the_function_names() {
        let entry = |text: &[&str]| Saved::of(text).entry();
        assert_eq!(entry(&["\tmovl (%rax), %ecx"]), "__olifant_enter_general");
        assert_eq!(entry(&["\taddsd %xmm7, %xmm0"]), "__olifant_enter_xmm8");
        assert_eq!(entry(&["\taddsd %xmm8, %xmm0"]), "__olifant_enter_xmm16");
        assert_eq!(entry(&["\tvaddpd %ymm1, %ymm2, %ymm3"]), "__olifant_enter_ymm");
        assert_eq!(entry(&["\tvaddpd %xmm17, %xmm2, %xmm3"]), "__olifant_enter_zmm");
        assert_eq!(entry(&["\tkmovw %k1, %eax"]), "__olifant_enter_zmm");
        assert_eq!(entry(&["\tfldt (%rax)"]), "__olifant_enter_x87");
        assert_eq!(entry(&["\t#OLIFANT read 8 8 (%rax) %rcx %rdx %xmm12"]), "__olifant_enter_general");
    }

    #[test]
    fn a_register_and_its_half_are_the_same_register() {
        for (whole, part) in
            [("%rax", "%eax"), ("%rsi", "%esi"), ("%r8", "%r8d"), ("%r15", "%r15d"), ("%rbp", "%ebp")]
        {
            assert_eq!(half(whole), part);
        }
    }
}
