//! The text of the inlined fast path and of its slow path (contract: crates/runtime/hooks/README.md).
//!
//! The fast path compares the line's tag with the four ways at once, and stores the stamp of the way that holds it. The
//! slow path stands after the function's code: it makes room below the red zone, pushes the address and a pointer to the
//! site's numbers, and calls an entry that preserves every register the function uses.

use std::fmt::Write;

use super::called::RANGE_HOOK;
use super::counts::{Count, Hook};
use super::marker::{Access, Marker};
use super::registers::{Saved, half};

/// Offsets of the contract's block, from the GS base.
mod block {
    pub const STAMP: u32 = 0;
    pub const LIMIT: u32 = 8;
    pub const SET_MASK: u32 = 12;
    pub const READ_TAGS: u32 = 64;
    pub const WRITE_TAGS: u32 = 80;
    pub const STAMPS: u32 = 96;
}
/// `tag(a) = a >> TAG_SHIFT`.
const TAG_SHIFT: u32 = 10;
/// The red zone below the stack pointer (System V ABI).
const RED_ZONE: u32 = 128;
/// No L1 line is shorter.
const SHORTEST_LINE: u32 = 32;

/// What the slow path is to do: the last word of a site, known to crates/runtime/hooks/slow.c.
#[derive(Clone, Copy)]
enum Operation {
    Miss = 0,
    Update = 1,
    ReadRange = 2,
    WriteRange = 3,
    UpdateRange = 4,
    Yield = 5,
}

impl Operation {
    fn of(access: Access) -> Operation {
        match access {
            Access::Read | Access::Write => Operation::Miss,
            Access::ReadWrite => Operation::Update,
        }
    }

    fn of_range(access: Access) -> Operation {
        match access {
            Access::Read => Operation::ReadRange,
            Access::Write => Operation::WriteRange,
            Access::ReadWrite => Operation::UpdateRange,
        }
    }
}

/// Writes the hooks of one file; makes labels unique and keeps slow paths until their function ends.
#[derive(Debug, Default)]
pub struct Expander {
    next_label: u32,
    slow_paths: String,
}

impl Expander {
    /// The slow paths collected since the last call.
    pub fn take_slow_paths(&mut self) -> String {
        std::mem::take(&mut self.slow_paths)
    }

    /// A label no other part of the file uses.
    pub fn fresh_label(&mut self) -> u32 {
        self.next_label += 1;
        self.next_label
    }

    /// Writes an inlined hook to `out`.
    pub fn inline_hook(&mut self, hook: &Hook<'_>, marker: &Marker<'_>, saved: Saved, out: &mut String) {
        let site = self.fresh_label();
        if let Some(total) = hook.segment {
            self.segment_head(total, marker.offset, saved.entry(), out);
        }
        match marker.vector {
            Some(vector) => {
                if marker.may_straddle {
                    self.straddle_check(hook, marker, site, saved, out);
                }
                fast_path(hook, marker, vector, site, saved, out);
                self.slow_path(hook, marker, site, Operation::of(marker.access), saved);
            }
            None => {
                let _ = writeln!(out, "\tjmp\t.Lolifant_slow{site}");
                let operation = if marker.may_straddle {
                    Operation::of_range(marker.access)
                } else {
                    Operation::of(marker.access)
                };
                self.slow_path(hook, marker, site, operation, saved);
            }
        }
        let _ = writeln!(out, ".Lolifant_end{site}:");
    }

    /// Writes what goes before the call that counts a range: its site's numbers in an argument register.
    pub fn range_call(&mut self, hook: &Hook<'_>, access: Access, out: &mut String) {
        if let Some(total) = hook.segment {
            // %rax is free before a call that is not variadic, and what the call may clobber is dead.
            self.segment_head(total, "%rax", Saved::default().entry(), out);
        }
        let site = self.fresh_label();
        let _ = writeln!(out, "\tleaq\t.Lolifant_site_called{site}(%rip), {}", RANGE_HOOK.1);
        write_site(&format!("called{site}"), hook, 0, Operation::of_range(access), &mut self.slow_paths);
    }

    /// Writes a plain count to `out`, before a line where the flags are dead.
    pub fn count(&mut self, count: Count, saved: Saved, out: &mut String) {
        if count.checks_limit {
            // No register is known to be free, and below the red zone nothing is ours without moving the stack pointer.
            let label = self.fresh_label();
            let _ = write!(
                out,
                "\tleaq\t-{RED_ZONE}(%rsp), %rsp\n\
                 \tpushq\t%rax\n\
                 \tmovl\t%gs:{}, %eax\n\
                 \tcmpl\t%gs:{}, %eax\n\
                 \tpopq\t%rax\n\
                 \tleaq\t{RED_ZONE}(%rsp), %rsp\n\
                 \tjae\t.Lolifant_yield{label}\n\
                 .Lolifant_go{label}:\n",
                block::STAMP,
                block::LIMIT,
            );
            self.yield_path(label, saved.entry());
        }
        let _ = writeln!(out, "\taddl\t${}, %gs:{}", count.instructions, block::STAMP);
    }

    /// Looks for the quantum's end, then counts the whole segment.
    fn segment_head(&mut self, total: u64, register: &str, entry: &str, out: &mut String) {
        let label = self.fresh_label();
        let half = half(register);
        let _ = write!(
            out,
            "\tmovl\t%gs:{}, {half}\n\
             \tcmpl\t%gs:{}, {half}\n\
             \tjae\t.Lolifant_yield{label}\n\
             .Lolifant_go{label}:\n\
             \tmovabsq\t${total}, {register}\n\
             \taddq\t{register}, %gs:{}\n",
            block::STAMP,
            block::LIMIT,
            block::STAMP,
        );
        self.yield_path(label, entry);
    }

    /// Sends an access that crosses a boundary of the shortest line to the range function.
    fn straddle_check(
        &mut self,
        hook: &Hook<'_>,
        marker: &Marker<'_>,
        site: u32,
        saved: Saved,
        out: &mut String,
    ) {
        let last_start = SHORTEST_LINE - marker.bytes.min(SHORTEST_LINE);
        let half = half(marker.offset);
        load_address(marker.address, marker.offset, out);
        let _ = write!(
            out,
            "\tandl\t${}, {half}\n\tcmpl\t${last_start}, {half}\n\tja\t.Lolifant_range{site}\n",
            SHORTEST_LINE - 1,
        );
        self.enter(hook, marker, &format!("range{site}"), site, Operation::of_range(marker.access), saved);
    }

    fn slow_path(
        &mut self,
        hook: &Hook<'_>,
        marker: &Marker<'_>,
        site: u32,
        operation: Operation,
        saved: Saved,
    ) {
        self.enter(hook, marker, &format!("slow{site}"), site, operation, saved);
    }

    fn enter(
        &mut self,
        hook: &Hook<'_>,
        marker: &Marker<'_>,
        name: &str,
        site: u32,
        operation: Operation,
        saved: Saved,
    ) {
        let out = &mut self.slow_paths;
        let register = marker.offset;
        let _ = writeln!(out, ".Lolifant_{name}:");
        load_address(marker.address, register, out);
        let _ = write!(
            out,
            "\tleaq\t-{RED_ZONE}(%rsp), %rsp\n\
             \tpushq\t{register}\n\
             \tleaq\t.Lolifant_site_{name}(%rip), {register}\n\
             \tpushq\t{register}\n\
             \tcallq\t*{}@GOTPCREL(%rip)\n\
             \tleaq\t{}(%rsp), %rsp\n\
             \tjmp\t.Lolifant_end{site}\n",
            saved.entry(),
            RED_ZONE + 16,
        );
        write_site(name, hook, marker.bytes, operation, out);
    }

    fn yield_path(&mut self, label: u32, entry: &str) {
        // Two pushes as at every site, but no free register: the address pushed is not looked at.
        let _ = write!(
            self.slow_paths,
            ".Lolifant_yield{label}:\n\
             \tleaq\t-{}(%rsp), %rsp\n\
             \tpushq\t%rax\n\
             \tleaq\t.Lolifant_site_yield{label}(%rip), %rax\n\
             \txchgq\t%rax, (%rsp)\n\
             \tcallq\t*{}@GOTPCREL(%rip)\n\
             \tleaq\t{}(%rsp), %rsp\n\
             \tjmp\t.Lolifant_go{label}\n\
             .Lolifant_site_yield{label}:\n\
             \t.quad\t0, 0, 0, {}\n",
            RED_ZONE + 8,
            entry,
            RED_ZONE + 16,
            Operation::Yield as u32,
        );
    }
}

/// From the address to the stamp of the way that holds its line.
fn fast_path(hook: &Hook<'_>, marker: &Marker<'_>, vector: &str, site: u32, saved: Saved, out: &mut String) {
    let (offset, tag) = (marker.offset, marker.tag);
    let (offset_half, tag_half) = (half(offset), half(tag));
    let v = if saved.uses_vex { "v" } else { "" };
    let compared = if saved.uses_vex { format!("{vector}, {vector}") } else { vector.to_owned() };
    let tags = match marker.access {
        Access::Read => block::READ_TAGS,
        // What may be written may be read.
        Access::Write | Access::ReadWrite => block::WRITE_TAGS,
    };
    load_address(marker.address, tag, out);
    let _ = write!(
        out,
        "\tmovl\t{tag_half}, {offset_half}\n\
         \tshrq\t${TAG_SHIFT}, {tag}\n\
         \t{v}movd\t{tag_half}, {vector}\n\
         \t{v}pshufd\t$0, {vector}, {vector}\n\
         \tandl\t%gs:{}, {offset_half}\n\
         \t{v}pcmpeqd\t%gs:{tags}(,{offset},2), {compared}\n\
         \t{v}movmskps\t{vector}, {tag_half}\n\
         \ttestl\t{tag_half}, {tag_half}\n\
         \tje\t.Lolifant_slow{site}\n\
         \ttzcntl\t{tag_half}, {tag_half}\n\
         \tleaq\t({offset},{tag},2), {offset}\n\
         \tmovl\t%gs:{}, {tag_half}\n",
        block::SET_MASK,
        block::STAMP,
    );
    let remaining = hook.remaining_instructions();
    if remaining != 0 {
        let _ = writeln!(out, "\tsubl\t${remaining}, {tag_half}");
    }
    let _ = writeln!(out, "\tmovl\t{tag_half}, %gs:{}(,{offset},2)", block::STAMPS);
}

/// The numbers of a hook, as crates/runtime/hooks/slow.c reads them.
fn write_site(name: &str, hook: &Hook<'_>, bytes: u32, operation: Operation, out: &mut String) {
    let _ = write!(
        out,
        ".Lolifant_site_{name}:\n\t.quad\t{}, {}, {bytes}, {}\n",
        hook.ahead, hook.immediate, operation as u32,
    );
}

/// Puts the address that `operand` denotes into `register`. `lea` leaves out the segment base, which a thread-local
/// variable's operand has: the word at %fs:0 is that base.
fn load_address(operand: &str, register: &str, out: &mut String) {
    let _ = match operand.strip_prefix("%fs:") {
        Some(rest) => writeln!(out, "\tleaq\t{rest}, {register}\n\taddq\t%fs:0, {register}"),
        None => writeln!(out, "\tleaq\t{operand}, {register}"),
    };
}
