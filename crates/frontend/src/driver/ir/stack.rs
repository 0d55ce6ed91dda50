//! Which pointers are stack slots that nobody else can see, at a fixed place: the accesses that are left out.
//!
//! Such a slot (a local variable whose address goes nowhere) is always a hit in the nearest cache, and at -O0 nearly every
//! access is one. A local array with a variable index, and any variable whose address is passed on, counts.
//! The test errs on the side of counting.

use std::collections::{HashMap, HashSet};

use super::instruction::{Instruction, local_names};
use super::types::Operand;

/// The private slots of one function.
#[derive(Debug, Default)]
pub struct StackSlots<'a> {
    /// Pointers at a fixed offset into an `alloca`, with its name.
    fixed: HashMap<&'a str, &'a str>,
    /// `alloca`s whose address goes somewhere.
    captured: HashSet<&'a str>,
}

impl<'a> StackSlots<'a> {
    /// Looks through the lines of a function.
    pub fn find(body: &[&'a str]) -> StackSlots<'a> {
        let instructions: Vec<Instruction<'a>> =
            body.iter().filter_map(|line| Instruction::parse(line)).collect();
        if !instructions.iter().any(|instruction| instruction.opcode == "alloca") {
            return StackSlots::default();
        }
        // Blocks need not stand in the order of dominance, so derived pointers are looked for until none is new.
        let mut fixed: HashMap<&str, &str> = HashMap::new();
        let mut derived: HashMap<&str, &str> = HashMap::new();
        loop {
            let before = derived.len();
            for instruction in &instructions {
                let Some(result) = instruction.result else { continue };
                match instruction.opcode {
                    "alloca" => {
                        fixed.insert(result, result);
                        derived.insert(result, result);
                    }
                    "bitcast" | "getelementptr" => {
                        let Some(base) = base(instruction) else { continue };
                        if let Some(root) = derived.get(base.value).copied() {
                            derived.insert(result, root);
                            if fixed.contains_key(base.value) && has_constant_indices(base.rest) {
                                fixed.insert(result, root);
                            }
                        }
                    }
                    _ => {}
                }
            }
            if derived.len() == before {
                break;
            }
        }
        let mut captured = HashSet::new();
        for instruction in &instructions {
            captured.extend(names_given_away(instruction).filter_map(|name| derived.get(name).copied()));
        }
        StackSlots { fixed, captured }
    }

    /// Whether an access through `pointer` is left out.
    pub fn is_private_slot(&self, pointer: &str) -> bool {
        self.fixed.get(pointer).is_some_and(|root| !self.captured.contains(root))
    }
}

/// The pointer a `bitcast` or `getelementptr` starts from.
fn base<'a>(instruction: &Instruction<'a>) -> Option<Operand<'a>> {
    if instruction.opcode == "bitcast" {
        let operand = Operand::parse(instruction.rest)?;
        return Some(Operand { rest: "", ..operand });
    }
    let mut text = instruction.rest;
    while let Some(rest) = ["inbounds ", "nuw ", "nusw "].iter().find_map(|flag| text.strip_prefix(flag)) {
        text = rest;
    }
    let element = super::types::type_length(text)?;
    Operand::parse(text[element..].strip_prefix(", ")?)
}

/// Whether `, i64 0, i32 1, !dbg !7` names no variable.
fn has_constant_indices(indices: &str) -> bool {
    !indices.contains('%')
}

/// Names whose value this instruction hands to someone the pass doesn't follow.
fn names_given_away<'a>(instruction: &Instruction<'a>) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    match instruction.opcode {
        "load" | "alloca" | "bitcast" | "getelementptr" => Box::new(std::iter::empty()),
        "store" => {
            let text = instruction.rest.strip_prefix("atomic ").unwrap_or(instruction.rest);
            let text = text.strip_prefix("volatile ").unwrap_or(text);
            match Operand::parse(text) {
                Some(value) => Box::new(local_names(value.value)),
                None => Box::new(local_names(instruction.rest)),
            }
        }
        "call"
            if ["@llvm.lifetime.", "@llvm.dbg.", "@llvm.mem"]
                .iter()
                .any(|name| instruction.rest.contains(name)) =>
        {
            Box::new(std::iter::empty())
        }
        _ => Box::new(local_names(instruction.rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_at_a_fixed_place_is_private_until_its_address_is_given_away() {
        let body = [
            "  %1 = alloca i32, align 4",
            "  %2 = alloca [8 x i32], align 16",
            "  %3 = alloca i32, align 4",
            "  %4 = getelementptr inbounds [8 x i32], [8 x i32]* %2, i64 0, i64 3",
            "  %5 = getelementptr inbounds [8 x i32], [8 x i32]* %2, i64 0, i64 %i",
            "  %6 = bitcast i32* %3 to i8*",
            "  store i32 7, i32* %1, align 4",
            "  call void @f(i8* %6)",
        ];
        let slots = StackSlots::find(&body);
        assert!(slots.is_private_slot("%1"));
        assert!(slots.is_private_slot("%4"));
        assert!(!slots.is_private_slot("%5"), "a variable index");
        assert!(!slots.is_private_slot("%3"), "captured through a cast");
        assert!(!slots.is_private_slot("%p"));
    }

    #[test]
    fn storing_an_address_gives_it_away_and_storing_through_it_does_not() {
        let slots =
            StackSlots::find(&["  %a = alloca ptr", "  %b = alloca i32", "  store ptr %b, ptr %a, align 8"]);
        assert!(slots.is_private_slot("%a"));
        assert!(!slots.is_private_slot("%b"));
        let slots = StackSlots::find(&["  %a = alloca i32", "  %c = select i1 %x, ptr %a, ptr %b"]);
        assert!(!slots.is_private_slot("%a"));
    }
}
