//! Cuts a stretch of assembly into basic blocks and says what each holds that matters for counting.
//!
//! A block starts at a label that something may jump to and ends at the first instruction that may go elsewhere. A call
//! ends a *segment* inside the block: what is counted before the call must be counted when the callee runs.
//! A label that only debug or unwind tables name starts no block.

use std::collections::HashSet;

use super::called::{self, CalledHook};
use super::flags::{self, Use};
use super::lines::{self, AppSummary, Flow, Line};
use super::marker::Marker;

/// One thing in a block, in order.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// Machine instructions (weighted: the arguments of a hook's call count against it).
    Instructions(i32),
    /// The end of a segment; the call itself was counted before.
    Call,
    /// A hook on this line.
    Hook(usize, Form<'a>),
}

/// How a hook stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form<'a> {
    /// As a marker, to be replaced by code.
    Inline(Marker<'a>),
    /// As a call, to be replaced by code or by another call.
    Called(CalledHook),
}

/// A basic block.
#[derive(Debug, Clone, Default)]
pub struct Block<'a> {
    /// What it holds.
    pub events: Vec<Event<'a>>,
    /// The first line before which the flags are dead, where a count may be added without harm.
    pub flags_dead_at: Option<usize>,
    /// A loop may come back to its label.
    pub is_loop_head: bool,
    /// Its label, if it has one.
    pub label: Option<&'a str>,
    /// The line of its first instruction.
    pub first_line: Option<usize>,
    /// What it does with the flags it begins with.
    pub flags: Use,
    /// The local label that it jumps to at its end without a condition.
    pub jumps_to: Option<&'a str>,
}

/// Labels that control may reach, found over a whole file.
#[derive(Debug, Default)]
pub struct Targets<'a> {
    from_code: HashSet<&'a str>,
    from_data: HashSet<&'a str>,
}

impl<'a> Targets<'a> {
    /// Finds them. Landing pads are told from the bounds of call sites by their place in the unwinder's table: a bound
    /// is subtracted on the next line.
    pub fn find(text: &[&'a str]) -> Targets<'a> {
        let mut targets = Targets::default();
        let mut section = Section::Code;
        let mut in_app = false;
        let mut is_length = false;
        for (at, line) in text.iter().enumerate() {
            match lines::classify(line) {
                Line::AppStart => in_app = true,
                Line::AppEnd => in_app = false,
                Line::Instruction(_, operands) => targets.from_code.extend(local_labels(operands)),
                Line::Directive(name, rest) => {
                    if let Some(next) = Section::after(name, rest, section) {
                        section = next;
                    } else if in_app {
                        targets.from_code.extend(local_labels(rest));
                    } else if holds_data(name) && section == Section::Unwind {
                        let next_line = text.get(at + 1).copied().unwrap_or("");
                        is_length = !is_length && targets.add_unwind_entry(rest, next_line);
                    } else if holds_data(name) && section != Section::Debug {
                        targets.from_data.extend(local_labels(rest));
                    }
                }
                _ => {}
            }
        }
        targets
    }

    /// Takes a line of an unwinder's table that is no length; `true` if it is the start of a call site, whose length follows.
    fn add_unwind_entry(&mut self, rest: &'a str, next_line: &str) -> bool {
        let Some(first) = local_labels(rest).next() else { return false };
        let starts_call_site = local_labels(next_line).nth(1) == Some(first);
        if !starts_call_site {
            self.from_data.insert(first);
        }
        starts_call_site
    }

    fn starts_a_block(&self, label: &str) -> bool {
        !label.starts_with(".L") || self.from_code.contains(label) || self.from_data.contains(label)
    }
}

/// What a section holds, as far as labels go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Instructions.
    Code,
    /// Data that may hold addresses of code.
    Data,
    /// Debugging tables.
    Debug,
    /// The language-specific unwind tables.
    Unwind,
}

impl Section {
    /// The section after a directive that switches sections; `None` if it does not.
    pub fn after(name: &str, rest: &str, now: Section) -> Option<Section> {
        match name {
            ".text" => Some(Section::Code),
            ".data" | ".bss" => Some(Section::Data),
            ".subsection" => Some(now),
            ".previous" | ".popsection" => Some(Section::Code),
            ".section" | ".pushsection" => {
                let mut fields = rest.split(',');
                let section = fields.next().unwrap_or("").trim().trim_matches('"');
                let flags = fields.next().unwrap_or("");
                Some(if section.starts_with(".debug") || section.starts_with(".zdebug") {
                    Section::Debug
                } else if section.starts_with(".gcc_except_table") {
                    Section::Unwind
                } else if section.starts_with(".text") || flags.contains('x') {
                    Section::Code
                } else {
                    Section::Data
                })
            }
            _ => None,
        }
    }
}

fn holds_data(directive: &str) -> bool {
    matches!(
        directive,
        ".long"
            | ".quad"
            | ".word"
            | ".value"
            | ".short"
            | ".int"
            | ".byte"
            | ".2byte"
            | ".4byte"
            | ".8byte"
            | ".uleb128"
    ) || matches!(directive, ".set" | ".equ")
}

fn local_labels(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !lines::is_symbol_character(c)).filter(|word| word.starts_with(".L"))
}

/// Cuts the lines `from..to` of `text` into blocks.
pub fn cut<'a>(text: &[&'a str], from: usize, to: usize, targets: &Targets<'_>) -> Vec<Block<'a>> {
    let loop_heads = loop_heads(text, from, to, targets);
    let calls_hooks = text[from..to].iter().any(|line| line.contains("__tsan_"));
    let mut blocks = Vec::new();
    let mut block = Block::default();
    let mut at_entry = false;
    let mut app: Option<AppSummary> = None;
    for (at, line) in text.iter().enumerate().take(to).skip(from) {
        if let Some(summary) = &mut app {
            match lines::classify(line) {
                Line::AppEnd => {
                    block
                        .events
                        .push(Event::Instructions(i32::try_from(summary.instructions).unwrap_or(i32::MAX)));
                    if summary.instructions > 0 {
                        // Nobody knows what it does with them.
                        block.note_flags(Use::Reads);
                    }
                    if summary.moves_control {
                        blocks.push(std::mem::take(&mut block));
                    }
                    app = None;
                }
                Line::Marker(rest) => match Marker::parse(rest) {
                    Some(marker) => block.events.push(Event::Hook(at, Form::Inline(marker))),
                    None => summary.instructions += 1,
                },
                _ => summary.add(line),
            }
            continue;
        }
        match lines::classify(line) {
            Line::AppStart => app = Some(AppSummary::default()),
            Line::Label(label) if targets.starts_a_block(label) => {
                let is_second_label = block.is_loop_head && block.events.is_empty();
                blocks.push(std::mem::take(&mut block));
                at_entry = !label.starts_with(".L");
                block.label = Some(label);
                block.is_loop_head = is_second_label || loop_heads.contains(label);
            }
            Line::Instruction(mnemonic, operands) => {
                let is_free = mnemonic == "endbr64";
                if block.flags_dead_at.is_none()
                    && !is_free
                    && (at_entry || lines::flags_are_dead_before(mnemonic, operands))
                {
                    block.flags_dead_at = Some(at);
                }
                at_entry &= is_free;
                if !is_free {
                    block.first_line.get_or_insert(at);
                }
                block.note_flags(Use::of(mnemonic, operands));
                if !(calls_hooks && lines::saves_around_call(mnemonic, operands)) {
                    add_instruction(&mut block, &mut blocks, at, mnemonic, operands);
                }
            }
            _ => {}
        }
    }
    blocks.push(block);
    flags::find_places(&mut blocks);
    blocks
}

impl Block<'_> {
    /// The first instruction that is not indifferent decides.
    fn note_flags(&mut self, by_instruction: Use) {
        if self.flags == Use::Passes {
            self.flags = by_instruction;
        }
    }
}

fn add_instruction<'a>(
    block: &mut Block<'a>,
    blocks: &mut Vec<Block<'a>>,
    at: usize,
    mnemonic: &str,
    operands: &'a str,
) {
    let flow = lines::flow(mnemonic);
    let callee = called::callee(operands);
    if let Some(hook) = callee.and_then(called::hook)
        && flow != Flow::Branches
    {
        block.events.push(Event::Hook(at, Form::Called(hook)));
    } else {
        let weight = callee.map_or(1, called::weight);
        block.events.push(Event::Instructions(weight));
        if flow == Flow::Calls {
            block.events.push(Event::Call);
        }
    }
    if flow == Flow::Leaves && operands.starts_with(".L") {
        block.jumps_to = Some(operands);
    }
    if matches!(flow, Flow::Branches | Flow::Leaves) {
        blocks.push(std::mem::take(block));
    }
}

/// Labels that a later line of the same stretch jumps to, or that a table of addresses names.
fn loop_heads<'a>(text: &[&'a str], from: usize, to: usize, targets: &Targets<'_>) -> HashSet<&'a str> {
    let mut defined: HashSet<&str> = HashSet::new();
    let mut heads = HashSet::new();
    for line in &text[from..to] {
        match lines::classify(line) {
            Line::Label(label) => {
                defined.insert(label);
                if targets.from_data.contains(label) {
                    heads.insert(label);
                }
            }
            Line::Instruction(mnemonic, operands)
                if matches!(lines::flow(mnemonic), Flow::Branches | Flow::Leaves) =>
            {
                heads.extend(local_labels(operands).filter(|label| defined.contains(label)));
            }
            _ => {}
        }
    }
    heads
}
