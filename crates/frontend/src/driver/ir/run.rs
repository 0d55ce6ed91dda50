//! A run: a stretch of one block without calls, whose hooks all stand at its beginning.
//!
//! Between a load and its use a hook would keep the code generator from making one instruction of both, and every value
//! alive there would cost a register; the instrumented program would execute other instructions than the plain one. So the
//! hooks of a run come first, in program order, and with them the address computations they need: instructions without
//! effects, which may stand anywhere between their operands and their users. An address that comes from a load of the same
//! run cannot; there a new run begins.

use std::collections::HashMap;

use super::super::assembly::Access;
use super::hooks::{Accessed, HookWriter};
use super::instruction::{Instruction, local_names};

/// The run in the making.
#[derive(Debug, Default)]
pub struct Run<'a> {
    /// Hooks and what they need.
    head: Vec<String>,
    /// The program's own lines since the run began; those moved to the head are empty.
    body: Vec<&'a str>,
    /// Where in the body a name is defined.
    defined: HashMap<&'a str, usize>,
    /// Hooked reads: by pointer, their place in the head and their bytes.
    reads: HashMap<&'a str, (usize, u32)>,
}

impl<'a> Run<'a> {
    /// Takes a line of the program.
    pub fn push(&mut self, line: &'a str) {
        if !self.head.is_empty()
            && let Some(result) = Instruction::parse(line).and_then(|instruction| instruction.result)
        {
            self.defined.insert(result, self.body.len());
        }
        self.body.push(line);
    }

    /// Writes everything to `out`; a new run begins.
    pub fn flush(&mut self, out: &mut String) {
        for line in self.head.drain(..) {
            out.push_str(&line);
        }
        for line in self.body.drain(..).filter(|line| !line.is_empty()) {
            out.push_str(line);
            out.push('\n');
        }
        self.defined.clear();
        self.reads.clear();
    }

    /// Puts a hook for `accessed` at the run's beginning, or at that of a new run. The access itself is pushed later.
    pub fn hook(
        &mut self,
        accessed: &Accessed<'a>,
        has_vectors: bool,
        hooks: &mut HookWriter,
        out: &mut String,
    ) {
        if !self.is_open() || !self.hoist(accessed.pointer.value) {
            self.flush(out);
        }
        let pointer = accessed.pointer.value;
        let mut text = String::new();
        if accessed.access == Access::Write
            && let Some((at, _)) =
                self.reads.remove(pointer).filter(|(_, read)| Some(*read) == accessed.bytes)
        {
            let update = Accessed { access: Access::ReadWrite, ..*accessed };
            hooks.access(&update, has_vectors, &mut text);
            self.head[at] = text;
            return;
        }
        if let Some(bytes) = accessed.bytes.filter(|_| accessed.access == Access::Read) {
            self.reads.insert(pointer, (self.head.len(), bytes));
        }
        hooks.access(accessed, has_vectors, &mut text);
        self.head.push(text);
    }

    /// Whether the run has a hook already; lines before the first one are not held back.
    fn is_open(&self) -> bool {
        !self.head.is_empty()
    }

    /// Moves what `pointer` is computed from to the head; `false` (and nothing moved) if that cannot be.
    fn hoist(&mut self, pointer: &'a str) -> bool {
        let mut needed = Vec::new();
        let mut waiting: Vec<usize> = self.definitions(pointer);
        while let Some(at) = waiting.pop() {
            if needed.contains(&at) {
                continue;
            }
            let Some(instruction) = Instruction::parse(self.body[at]).filter(has_no_effect) else {
                return false;
            };
            waiting.extend(self.definitions(instruction.rest));
            needed.push(at);
        }
        needed.sort_unstable();
        for at in needed {
            let line = std::mem::take(&mut self.body[at]);
            if let Some(result) = Instruction::parse(line).and_then(|instruction| instruction.result) {
                self.defined.remove(result);
            }
            self.head.push(format!("{line}\n"));
        }
        true
    }

    /// Where in the body the names in `text` are defined.
    fn definitions(&self, text: &str) -> Vec<usize> {
        local_names(text).filter_map(|name| self.defined.get(name).copied()).collect()
    }
}

/// Whether an instruction only computes a value, and can do so at any earlier place where its operands are known.
fn has_no_effect(instruction: &Instruction<'_>) -> bool {
    match instruction.opcode {
        "getelementptr" | "bitcast" | "add" | "sub" | "mul" | "shl" | "lshr" | "ashr" | "and" | "or"
        | "xor" => true,
        "sext" | "zext" | "trunc" | "inttoptr" | "ptrtoint" | "addrspacecast" | "select" | "icmp"
        | "freeze" => true,
        "extractvalue" | "insertvalue" => true,
        "call" => ["@llvm.threadlocal.address.", "@llvm.smax.", "@llvm.smin.", "@llvm.umax.", "@llvm.umin."]
            .iter()
            .any(|name| instruction.rest.contains(name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::types::Operand;
    use super::*;

    fn read<'a>(pointer: &'a str) -> Accessed<'a> {
        let pointer = Operand::parse(pointer).unwrap();
        Accessed { access: Access::Read, pointer, kind: "i32", bytes: Some(4), alignment: 4, debug: "" }
    }

    #[test]
    fn address_computations_move_up_with_their_hook_and_loads_end_a_run() {
        let (mut run, mut hooks, mut out) = (Run::default(), HookWriter::default(), String::new());
        run.hook(&read("ptr %p"), true, &mut hooks, &mut out);
        run.push("  %1 = load ptr, ptr %p, align 8");
        run.push("  %2 = add i64 %i, 1");
        run.push("  %3 = getelementptr i32, ptr %q, i64 %2");
        run.hook(&read("ptr %3"), true, &mut hooks, &mut out);
        run.push("  %4 = load i32, ptr %3, align 4");
        assert!(out.is_empty(), "one run so far");
        run.hook(&read("ptr %1"), true, &mut hooks, &mut out);
        run.push("  %5 = load i32, ptr %1, align 4");
        run.flush(&mut out);
        let order: Vec<&str> = out.lines().map(|line| line.trim().split(" = ").next().unwrap()).collect();
        assert_eq!(order, ["%olifant.1", "%2", "%3", "%olifant.2", "%1", "%4", "%olifant.3", "%5"]);
    }

    #[test]
    fn a_read_and_a_write_of_one_place_become_one_hook() {
        let (mut run, mut hooks, mut out) = (Run::default(), HookWriter::default(), String::new());
        run.hook(&read("ptr %p"), true, &mut hooks, &mut out);
        run.push("  %1 = load i32, ptr %p, align 4");
        run.hook(&Accessed { access: Access::Write, ..read("ptr %p") }, true, &mut hooks, &mut out);
        run.push("  store i32 7, ptr %p, align 4");
        run.flush(&mut out);
        assert_eq!(out.matches("#OLIFANT update 4 4").count(), 1);
        assert_eq!(out.matches("#OLIFANT").count(), 1);
    }
}
