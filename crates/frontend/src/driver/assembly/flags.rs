//! Where the arithmetic flags are dead, so that a count may be added: `add` is the only way to count without a register.
//!
//! Inside a block any instruction that overwrites all flags without reading one marks such a place (`lines`). A block
//! without one is fine if the flags are dead where it begins: each path from there overwrites them before it reads them.

use std::collections::HashMap;

use super::blocks::Block;
use super::lines::{self, Flow};

/// What a block does with the flags it begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Use {
    /// Leaves them to what follows.
    #[default]
    Passes,
    /// Overwrites them unread.
    Kills,
    /// Reads them, or may.
    Reads,
}

impl Use {
    /// What one instruction does.
    pub fn of(mnemonic: &str, operands: &str) -> Use {
        if lines::flags_are_dead_before(mnemonic, operands) {
            return Use::Kills;
        }
        match lines::flow(mnemonic) {
            // To another function, which takes no flags; or who knows where.
            Flow::Leaves if mnemonic.starts_with('j') && !operands.starts_with(".L") => {
                if operands.starts_with('*') { Use::Reads } else { Use::Kills }
            }
            Flow::Leaves => Use::Passes,
            Flow::Branches => Use::Reads,
            Flow::Calls | Flow::Falls if reads(mnemonic) => Use::Reads,
            Flow::Calls | Flow::Falls => Use::Passes,
        }
    }
}

fn reads(mnemonic: &str) -> bool {
    ["set", "cmov", "adc", "sbb", "rcl", "rcr", "pushf", "lahf", "cmc", "fcmov", "into"]
        .iter()
        .any(|name| mnemonic.starts_with(name))
}

/// Gives the blocks that begin with dead flags their first line as a place to count, if they have no other.
pub fn find_places(blocks: &mut [Block<'_>]) {
    let by_label: HashMap<&str, usize> =
        blocks.iter().enumerate().filter_map(|(at, block)| Some((block.label?, at))).collect();
    let dead: Vec<bool> = (0..blocks.len()).map(|at| begins_with_dead_flags(blocks, &by_label, at)).collect();
    for (block, is_dead) in blocks.iter_mut().zip(dead) {
        if is_dead && block.flags_dead_at.is_none() {
            block.flags_dead_at = block.first_line;
        }
    }
}

fn begins_with_dead_flags(blocks: &[Block<'_>], by_label: &HashMap<&str, usize>, at: usize) -> bool {
    let mut now = at;
    for _ in 0..blocks.len() {
        let Some(block) = blocks.get(now) else { return false };
        match block.flags {
            Use::Kills => return true,
            Use::Reads => return false,
            // A block that passes its flags on has one successor: the target of its jump, or the next one.
            Use::Passes => {
                now = match block.jumps_to {
                    None => now + 1,
                    Some(label) => match by_label.get(label) {
                        Some(target) => *target,
                        None => return false,
                    },
                };
            }
        }
    }
    // Round and round without ever looking at the flags.
    true
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{Targets, cut};
    use super::*;

    fn places(text: &str) -> Vec<Option<usize>> {
        let text: Vec<&str> = text.lines().collect();
        let blocks = cut(&text, 0, text.len(), &Targets::find(&text));
        blocks.iter().filter(|block| !block.events.is_empty()).map(|block| block.flags_dead_at).collect()
    }

    #[test]
    fn a_block_of_moves_counts_at_its_start_if_its_successor_overwrites_the_flags() {
        let text = "\tjne\t.L2\n\tmovl\t$7, %eax\n\tjmp\t.L3\n.L2:\n\tmovl\t$8, %eax\n.L3:\n\taddl\t$1, %eax\n\tret\n";
        assert_eq!(places(text), [None, Some(1), Some(4), Some(6)]);
    }

    #[test]
    fn a_block_between_a_compare_and_its_second_branch_has_no_place() {
        let text = "\tcmpl\t$3, %eax\n\tja\t.L2\n\tmovl\t$7, %ecx\n\tje\t.L2\n\tret\n.L2:\n\tmovl\t$1, %eax\n\tjmp\t*%rdx\n";
        assert_eq!(places(text), [Some(0), None, Some(4), None]);
    }

    #[test]
    fn conditional_moves_and_carries_read_the_flags() {
        assert_eq!(Use::of("cmovel", "%eax, %ecx"), Use::Reads);
        assert_eq!(Use::of("sbbl", "%eax, %eax"), Use::Reads);
        assert_eq!(Use::of("leaq", "8(%rax), %rax"), Use::Passes);
        assert_eq!(Use::of("jmp", "other_function"), Use::Kills);
    }
}
