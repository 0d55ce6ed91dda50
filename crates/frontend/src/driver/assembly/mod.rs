//! The counting pass over assembly text: fills each hook with the number of machine instructions it stands for.
//!
//! Compilers write the assembly, with our markers (clang) or with calls of `__tsan_readN` (gcc) in it. Here machine
//! instructions are visible at last, so they are counted exactly as the processor would: by basic block (`blocks`),
//! the sum carried by the block's hooks (`counts`), whose code is written in place (`expand`).
//! Everything that is not a hook is copied byte for byte.
//!
//! Leaves out: instructions inside the C library and other uninstrumented code; blocks in which the flags are live from
//! end to end (reported as `uncounted`, a few in a thousand). Spills that the hooks themselves cause are
//! counted as the program's.

mod blocks;
mod called;
mod counts;
mod expand;
mod flags;
mod lines;
mod marker;
mod registers;

use std::collections::HashSet;
use std::fmt::Write;

pub use called::{LIBRARY_FUNCTIONS, replacement};
pub use marker::{Access, Marker};

use blocks::{Form, Section, Targets};
use called::{CalledHook, RANGE_HOOK};
use counts::Edit;
use expand::Expander;
use lines::{Flow, Line};
use registers::Saved;

/// The instrumented text and what was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Assembly, ready for the assembler.
    pub text: String,
    /// Hooks written.
    pub hooks: u32,
    /// Machine instructions for which there was no safe place to count.
    pub uncounted: u32,
}

/// What becomes of calls of library functions that the runtime has its own version of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryCalls {
    /// The IR pass has seen to them; those left were put in by the code generator for what was counted already.
    Keep,
    /// They go to the runtime.
    Rename,
}

/// Instruments the assembly `source`.
pub fn instrument(source: &str, library_calls: LibraryCalls) -> Counted {
    let text: Vec<&str> = source.lines().collect();
    let targets = Targets::find(&text);
    let own_names = defined_library_functions(&text);
    let (expander, counted) = (Expander::default(), Counted::default());
    let mut pass = Pass { text, targets, own_names, library_calls, expander, counted };
    pass.run();
    pass.counted
}

struct Pass<'a> {
    text: Vec<&'a str>,
    targets: Targets<'a>,
    own_names: HashSet<&'a str>,
    library_calls: LibraryCalls,
    expander: Expander,
    counted: Counted,
}

impl Pass<'_> {
    /// Goes through the file in stretches that end where a function's code ends.
    fn run(&mut self) {
        let mut from = 0;
        let mut in_app = false;
        let mut section = Section::Code;
        for at in 0..self.text.len() {
            match lines::classify(self.text[at]) {
                Line::AppStart => in_app = true,
                Line::AppEnd => in_app = false,
                Line::Label(name) if name.starts_with(".Lfunc_end") => {
                    self.stretch(from, at);
                    from = at;
                }
                Line::Directive(name, rest) if !in_app => {
                    let next = Section::after(name, rest, section);
                    if section == Section::Code
                        && (next.is_some() || matches!(name, ".cfi_endproc" | ".size"))
                    {
                        self.stretch(from, at);
                        from = at;
                    }
                    section = next.unwrap_or(section);
                }
                _ => {}
            }
        }
        self.stretch(from, self.text.len());
    }

    fn stretch(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        let saved = Saved::of(&self.text[from..to]);
        let mut edits: Vec<(usize, Edit<'_>)> = Vec::new();
        let blocks = blocks::cut(&self.text, from, to, &self.targets);
        for block in &blocks {
            let (block_edits, uncounted) = counts::solve(block);
            edits.extend(block_edits);
            self.counted.uncounted += uncounted;
        }
        edits.sort_by_key(|(line, _)| *line);
        let mut edits = edits.into_iter().peekable();
        let mut falls_through = true;
        for at in from..to {
            let mut is_replaced = false;
            while let Some((_, edit)) = edits.next_if(|(line, _)| *line == at) {
                let out = &mut self.counted.text;
                match edit {
                    Edit::Count(count) => self.expander.count(count, saved, out),
                    Edit::Hook(hook) => {
                        match &hook.form {
                            Form::Inline(marker) => self.expander.inline_hook(&hook, marker, saved, out),
                            Form::Called(CalledHook::Access(marker)) => {
                                // At a call no vector register holds anything.
                                let saved = Saved { uses_vex: saved.uses_vex, ..Saved::default() };
                                self.expander.inline_hook(&hook, marker, saved, out);
                                self.return_from_tail_call(at);
                            }
                            Form::Called(CalledHook::Range(access)) => {
                                self.expander.range_call(&hook, *access, out);
                                self.rename(at, RANGE_HOOK.0);
                            }
                        }
                        self.counted.hooks += 1;
                        is_replaced = true;
                    }
                }
            }
            if !is_replaced {
                self.copy(at);
            }
            match lines::classify(self.text[at]) {
                Line::Instruction(mnemonic, _) => falls_through = lines::flow(mnemonic) != Flow::Leaves,
                Line::Label(_) | Line::AppEnd => falls_through = true,
                _ => {}
            }
        }
        self.append_slow_paths(falls_through);
    }

    /// Copies a line; a call of a library function that the runtime has its own version of goes there.
    fn copy(&mut self, at: usize) {
        let line = self.text[at];
        if self.library_calls == LibraryCalls::Rename
            && let Line::Instruction(mnemonic, operands) = lines::classify(line)
            && matches!(lines::flow(mnemonic), Flow::Calls | Flow::Leaves)
            && let Some(name) = called::callee(operands)
            && !self.own_names.contains(name)
            && let Some(replacement) = called::replacement(name)
        {
            self.rename(at, &replacement);
            return;
        }
        self.counted.text.push_str(line);
        self.counted.text.push('\n');
    }

    /// A hook that was jumped to at the end of a function returned for it.
    fn return_from_tail_call(&mut self, at: usize) {
        if let Line::Instruction(mnemonic, _) = lines::classify(self.text[at])
            && lines::flow(mnemonic) == Flow::Leaves
        {
            self.counted.text.push_str("\tret\n");
        }
    }

    /// Writes the call on line `at` with `symbol` as its callee, called the same way (PLT, GOT or directly).
    fn rename(&mut self, at: usize, symbol: &str) {
        let Line::Instruction(mnemonic, operands) = lines::classify(self.text[at]) else { return };
        let star = if operands.starts_with('*') { "*" } else { "" };
        let suffix = operands.find('@').map_or("", |suffix| &operands[suffix..]);
        let _ = writeln!(self.counted.text, "\t{mnemonic}\t{star}{symbol}{suffix}");
    }

    fn append_slow_paths(&mut self, falls_through: bool) {
        let slow_paths = self.expander.take_slow_paths();
        if slow_paths.is_empty() {
            return;
        }
        let out = &mut self.counted.text;
        if falls_through {
            let label = self.expander.fresh_label();
            let _ = write!(out, "\tjmp\t.Lolifant_over{label}\n{slow_paths}.Lolifant_over{label}:\n");
        } else {
            out.push_str(&slow_paths);
        }
    }
}

fn defined_library_functions<'a>(text: &[&'a str]) -> HashSet<&'a str> {
    text.iter()
        .filter_map(|line| match lines::classify(line) {
            Line::Label(name) if LIBRARY_FUNCTIONS.contains(&name) => Some(name),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
