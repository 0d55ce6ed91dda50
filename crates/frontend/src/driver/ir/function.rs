//! Instruments one function: goes through its lines once and puts hooks before the accesses.

use std::fmt::Write;

use super::super::assembly::Access;
use super::atomics;
use super::hooks::{Accessed, HookWriter};
use super::instruction::{Instruction, debug_suffix, is_label};
use super::run::Run;
use super::stack::StackSlots;
use super::types::{Operand, scalar_bytes, type_length};

/// How a function is to be instrumented.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// It may use vector registers.
    pub has_vectors: bool,
    /// Its values all have names, so lines may be moved.
    pub may_move: bool,
}

/// Rewrites the body (the lines between `define` and `}`) into `out`.
pub fn instrument(body: &[&str], how: How, hooks: &mut HookWriter, out: &mut String) {
    let mut function = Function { slots: StackSlots::find(body), how, hooks, out, run: Run::default() };
    for line in body {
        function.line(line);
    }
    function.run.flush(function.out);
}

struct Function<'a, 'h> {
    slots: StackSlots<'a>,
    how: How,
    hooks: &'h mut HookWriter,
    out: &'h mut String,
    run: Run<'a>,
}

impl<'a> Function<'a, '_> {
    fn line(&mut self, line: &'a str) {
        if is_label(line) {
            self.run.flush(self.out);
        } else if let Some(instruction) = Instruction::parse(line) {
            if atomics::is_atomic(&instruction) {
                self.run.flush(self.out);
                if atomics::rewrite(line, &instruction, self.how.has_vectors, self.hooks, self.out) {
                    return;
                }
            }
            match instruction.opcode {
                "load" => self.load(line, &instruction),
                "store" => self.store(line, &instruction),
                "call" if instruction.rest.contains(" @llvm.mem") => {
                    self.memory_intrinsic(line, &instruction)
                }
                "fence" => self.run.flush(self.out),
                _ if instruction.is_real_call() => self.run.flush(self.out),
                _ => {}
            }
        }
        self.run.push(line);
    }

    fn load(&mut self, line: &'a str, instruction: &Instruction<'a>) {
        let (text, is_volatile) = qualifiers(instruction.rest);
        let Some(length) = type_length(text) else { return };
        let (kind, rest) = text.split_at(length);
        let Some(pointer) = rest.strip_prefix(", ").and_then(Operand::parse) else { return };
        if !self.is_counted(&pointer) {
            return;
        }
        let bytes = scalar_bytes(kind);
        let alignment = alignment(pointer.rest, bytes);
        match bytes.filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8) && alignment >= *bytes && is_volatile) {
            Some(bytes) => self.volatile_read(line, &pointer, bytes),
            None => self.hook(&Accessed {
                access: Access::Read,
                pointer,
                kind,
                bytes,
                alignment,
                debug: debug_suffix(line),
            }),
        }
    }

    fn store(&mut self, line: &'a str, instruction: &Instruction<'a>) {
        let (text, _) = qualifiers(instruction.rest);
        let Some(value) = Operand::parse(text) else { return };
        let Some(pointer) = value.rest.strip_prefix(", ").and_then(Operand::parse) else { return };
        if self.is_counted(&pointer) {
            let bytes = scalar_bytes(value.kind);
            let alignment = alignment(pointer.rest, bytes);
            let debug = debug_suffix(line);
            self.hook(&Accessed {
                access: Access::Write,
                pointer,
                kind: value.kind,
                bytes,
                alignment,
                debug,
            });
        }
    }

    fn hook(&mut self, accessed: &Accessed<'a>) {
        if !self.how.may_move {
            self.run.flush(self.out);
        }
        self.run.hook(accessed, self.how.has_vectors, self.hooks, self.out);
    }

    /// `llvm.memcpy`, `memmove` and `memset`: the code generator may write them in line or call the C library, so the
    /// ranges are counted here and the instruction stays.
    fn memory_intrinsic(&mut self, line: &'a str, instruction: &Instruction<'a>) {
        let Some((name, arguments)) =
            instruction.rest.split_once(" @llvm.").and_then(|(_, rest)| rest.split_once('('))
        else {
            return;
        };
        let Some(target) = Operand::parse(arguments) else { return };
        let Some(source) = target.rest.strip_prefix(", ").and_then(Operand::parse) else { return };
        let Some(size) = source.rest.strip_prefix(", ").and_then(Operand::parse) else { return };
        let debug = debug_suffix(line);
        if name.starts_with("memcpy") || name.starts_with("memmove") {
            self.range(
                Access::Read,
                &source,
                argument_alignment(source_text(arguments, &source)),
                &size,
                debug,
            );
        } else if !name.starts_with("memset") {
            return;
        }
        self.range(Access::Write, &target, argument_alignment(source_text(arguments, &target)), &size, debug);
    }

    fn range(
        &mut self,
        access: Access,
        pointer: &Operand<'a>,
        alignment: u32,
        size: &Operand<'a>,
        debug: &'a str,
    ) {
        if !self.is_counted(pointer) {
            return;
        }
        match size.value.parse::<u32>() {
            Ok(0) => {}
            Ok(bytes) if bytes <= 32 => {
                self.hook(&Accessed {
                    access,
                    pointer: *pointer,
                    kind: "i8",
                    bytes: Some(bytes),
                    alignment,
                    debug,
                });
            }
            _ => {
                self.run.flush(self.out);
                let bytes = self.as_i64(size, debug);
                self.hooks.range(access, pointer, &bytes, debug, self.out);
            }
        }
    }

    fn as_i64(&mut self, size: &Operand<'a>, debug: &str) -> String {
        if size.kind == "i64" || size.value.parse::<u64>().is_ok() {
            return size.value.to_owned();
        }
        let name = self.hooks.fresh_name();
        let _ = writeln!(self.out, "  {name} = zext {} {} to i64{debug}", size.kind, size.value);
        name
    }

    /// A volatile read may be a spin-wait: the runtime looks at it.
    fn volatile_read(&mut self, line: &str, pointer: &Operand<'a>, bytes: u32) {
        self.run.flush(self.out);
        let debug = debug_suffix(line);
        let (address, kind) = self.hooks.as_bytes(pointer, debug, self.out);
        self.hooks.declare(format!("declare void @__tsan_volatile_read{bytes}({kind})"));
        let _ = writeln!(self.out, "  call void @__tsan_volatile_read{bytes}({kind} {address}){debug}");
    }

    /// Ordinary memory that others can see; the %gs and %fs address spaces are not.
    fn is_counted(&self, pointer: &Operand<'_>) -> bool {
        !pointer.kind.contains("addrspace(") && !self.slots.is_private_slot(pointer.value)
    }
}

/// The text behind `atomic` and `volatile`, and whether it was volatile.
fn qualifiers(text: &str) -> (&str, bool) {
    let text = text.strip_prefix("atomic ").unwrap_or(text);
    match text.strip_prefix("volatile ") {
        Some(text) => (text, true),
        None => (text, false),
    }
}

/// The `, align N` of a load or store; without one the type's own size stands for it.
fn alignment(rest: &str, bytes: Option<u32>) -> u32 {
    number_after(rest, ", align ").unwrap_or(bytes.unwrap_or(1).next_power_of_two())
}

fn argument_alignment(argument: &str) -> u32 {
    number_after(argument, " align ").unwrap_or(1)
}

/// The text of one argument, from its type to its value.
fn source_text<'a>(arguments: &'a str, operand: &Operand<'a>) -> &'a str {
    let end = arguments.len() - operand.rest.len();
    let from = arguments[..end - operand.value.len()].rfind(", ").unwrap_or(0);
    &arguments[from..end]
}

fn number_after(text: &str, word: &str) -> Option<u32> {
    let digits = &text[text.find(word)? + word.len()..];
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}
