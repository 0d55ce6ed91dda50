//! From a block's events to the numbers its hooks carry.
//!
//! The first hook of a segment counts the whole segment, in one addition; each hook knows how much of that still lies
//! *ahead* of it, so that a miss can take it back, run at the exact instruction, and give it on again. Instructions
//! without a hook in their segment go to a neighbouring segment of the same block, and a block without any hook gets
//! one plain addition. Law: the sum of what a block counts is the sum of its instructions, except that every read and
//! every write counts at least one (contract) and an excess that this forces is taken back from what follows in the block.

use super::blocks::{Block, Event, Form};
use super::called::CalledHook;

/// What to put in place of, or before, a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit<'a> {
    /// Replaces a marker or a call.
    Hook(Hook<'a>),
    /// Goes before a line.
    Count(Count),
}

/// A hook with its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook<'a> {
    /// The access.
    pub form: Form<'a>,
    /// What the segment counts in all, if this is its first hook.
    pub segment: Option<u64>,
    /// The contract's IMM of this access alone.
    pub immediate: u64,
    /// What the segment has counted that is not yet due when this access happens: itself and all later.
    pub ahead: u64,
}

impl Hook<'_> {
    /// Instructions of the segment after this access: its stamp lies that much before the count.
    pub fn remaining_instructions(&self) -> u32 {
        u32::try_from((self.ahead - self.immediate) & 0xffff_ffff).unwrap_or(u32::MAX)
    }
}

/// A plain count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Instructions.
    pub instructions: u32,
    /// Whether the end of the quantum is looked for here (loops without an access must end, too).
    pub checks_limit: bool,
}

/// The edits of one block, each with its line; and the instructions for which there was no safe place.
pub fn solve<'a>(block: &Block<'a>) -> (Vec<(usize, Edit<'a>)>, u32) {
    let mut segments = segments(block);
    if segments.iter().all(|segment| segment.hooks.is_empty()) {
        return count_alone(block, &segments);
    }
    fold_hookless(&mut segments);
    let mut edits = Vec::new();
    let mut debt = 0;
    for segment in &segments {
        if !segment.hooks.is_empty() {
            debt = settle(segment, debt, &mut edits);
        }
    }
    (edits, 0)
}

/// A run of instructions between calls.
#[derive(Debug, Default)]
struct Segment<'a> {
    /// Hooks with the instructions since the hook before.
    hooks: Vec<(i32, usize, Form<'a>)>,
    /// Instructions after the last hook, or all of them.
    tail: i32,
}

fn segments<'a>(block: &Block<'a>) -> Vec<Segment<'a>> {
    let mut segments = vec![];
    let mut now = Segment::default();
    for event in &block.events {
        let (line, hook) = match event {
            Event::Instructions(count) => {
                now.tail += count;
                continue;
            }
            Event::Call => {
                segments.push(std::mem::take(&mut now));
                continue;
            }
            Event::Hook(line, form) => {
                if matches!(form, Form::Called(_)) {
                    // The move of the address to its register is the instrumentation's.
                    now.tail -= 1;
                }
                (*line, form.clone())
            }
        };
        let since = std::mem::take(&mut now.tail);
        now.hooks.push((since, line, hook));
    }
    segments.push(now);
    segments
}

fn count_alone<'a>(block: &Block<'a>, segments: &[Segment<'a>]) -> (Vec<(usize, Edit<'a>)>, u32) {
    let total: i32 = segments.iter().map(|segment| segment.tail).sum();
    let Ok(instructions @ 1..) = u32::try_from(total) else { return (vec![], 0) };
    match block.flags_dead_at {
        Some(line) => {
            (vec![(line, Edit::Count(Count { instructions, checks_limit: block.is_loop_head }))], 0)
        }
        None => (vec![], instructions),
    }
}

/// Moves the instructions of segments without hooks to the segment with hooks before them, or else after.
fn fold_hookless(segments: &mut [Segment<'_>]) {
    let mut waiting = 0;
    let mut last_hooked: Option<usize> = None;
    for at in 0..segments.len() {
        if segments[at].hooks.is_empty() {
            let tail = std::mem::take(&mut segments[at].tail);
            match last_hooked {
                Some(hooked) => segments[hooked].tail += tail,
                None => waiting += tail,
            }
        } else {
            segments[at].hooks[0].0 += std::mem::take(&mut waiting);
            last_hooked = Some(at);
        }
    }
}

/// Gives each hook of `segment` its numbers; returns the excess to be taken back later.
fn settle<'a>(segment: &Segment<'a>, debt: i32, edits: &mut Vec<(usize, Edit<'a>)>) -> i32 {
    let mut balance = -debt;
    let mut immediates = Vec::with_capacity(segment.hooks.len());
    for (since, _, hook) in &segment.hooks {
        let access = match hook {
            Form::Inline(marker) => marker.access,
            Form::Called(CalledHook::Access(marker)) => marker.access,
            Form::Called(CalledHook::Range(access)) => *access,
        };
        let (fewest, kind) = (access.fewest_instructions(), access.immediate());
        balance += since;
        let counted = u32::try_from(balance).unwrap_or(0).max(fewest);
        balance -= i32::try_from(counted).unwrap_or(i32::MAX);
        immediates.push(kind + u64::from(counted));
    }
    balance += segment.tail;
    let tail = u32::try_from(balance).unwrap_or(0);
    let debt = (-balance).max(0);

    let total = immediates.iter().sum::<u64>() + u64::from(tail);
    let mut ahead = total;
    for (at, ((_, line, form), immediate)) in segment.hooks.iter().zip(immediates).enumerate() {
        let segment = (at == 0).then_some(total);
        edits.push((*line, Edit::Hook(Hook { form: form.clone(), segment, immediate, ahead })));
        ahead -= immediate;
    }
    debt
}
