//! Which entry of a plan is for an area: the one rule that the advisor writes for and every runtime applies.
//!
//! An allocation is known by its call path. An entry matches it if a frame of the path has the entry's function, file
//! and line, and its size and ordinal agree; an empty file, line 0, an absent size or ordinal match any. Naming a frame
//! further out serves programs that allocate through a wrapper, where the innermost frame is always the same. Of
//! several matching entries the most particular wins: one with an ordinal before one without, then one with a size
//! before one without, then the earlier one.

use crate::plan::{AreaMatch, AreaPlan, Decision, Plan};

/// The symbol that stands for the stacks of all threads. No linker symbol has parentheses in this place.
pub const FOR_STACKS: &str = "(stacks)";
/// The symbol that stands for all small allocations, which share pages.
pub const FOR_SMALL: &str = "(small allocations)";

/// One frame of a call path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place<'n> {
    /// Function name.
    pub function: &'n str,
    /// Source file; empty if unknown.
    pub file: &'n str,
    /// Line; 0 if unknown.
    pub line: u32,
}

impl Plan {
    /// The entry for an allocation: its call path, innermost first, its size, and its ordinal among the allocations of
    /// the same path and size. Advice to pad moves nothing and is passed over.
    pub fn for_allocation<'n>(
        &self,
        path: impl Iterator<Item = Place<'n>> + Clone,
        bytes: u64,
        ordinal: u32,
    ) -> Option<&AreaPlan> {
        self.movers().find(|area| area.area.is_allocation(path.clone(), bytes, ordinal))
    }

    /// The entry for a global by its symbol, or for [`FOR_STACKS`] or [`FOR_SMALL`].
    pub fn for_symbol(&self, symbol: &str) -> Option<&AreaPlan> {
        self.movers().find(|area| matches!(&area.area, AreaMatch::Symbol(name) if name == symbol))
    }

    /// The entries that move something, the most particular first: of several that match an area, the first holds.
    pub fn movers(&self) -> impl Iterator<Item = &AreaPlan> {
        let mut movers: Vec<&AreaPlan> =
            self.areas.iter().filter(|area| area.decision != Decision::Pad).collect();
        // The sort is stable, so among equals the earlier entry stays first.
        movers.sort_by_key(|area| match &area.area {
            AreaMatch::Site { bytes, ordinal, .. } => (ordinal.is_none(), bytes.is_none()),
            AreaMatch::Symbol(_) => (true, true),
        });
        movers.into_iter()
    }
}

impl AreaMatch {
    /// Whether this names the allocation; see [`Plan::for_allocation`].
    pub fn is_allocation<'n>(
        &self,
        mut path: impl Iterator<Item = Place<'n>>,
        bytes: u64,
        ordinal: u32,
    ) -> bool {
        match self {
            AreaMatch::Symbol(_) => false,
            AreaMatch::Site { function, file, line, bytes: size, ordinal: number } => {
                size.is_none_or(|size| size == bytes)
                    && number.is_none_or(|number| number == ordinal)
                    && path.any(|place| {
                        place.function == function
                            && (file.is_empty() || place.file == file)
                            && (*line == 0 || place.line == *line)
                    })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryPolicy;
    use olifant_machine::NodeId;

    fn entry(line: u32, bytes: Option<u64>, ordinal: Option<u32>, node: u16) -> AreaPlan {
        AreaPlan {
            area: AreaMatch::Site { function: "grow".into(), file: "list.c".into(), line, bytes, ordinal },
            decision: Decision::Policy(MemoryPolicy::Node(NodeId(node))),
            reason: String::new(),
            remote_before: 0,
            remote_after: 0,
        }
    }

    fn node_for(plan: &Plan, bytes: u64, ordinal: u32) -> Option<Decision> {
        let path = [
            Place { function: "xmalloc", file: "util.c", line: 7 },
            Place { function: "grow", file: "list.c", line: 40 },
        ];
        plan.for_allocation(path.into_iter(), bytes, ordinal).map(|area| area.decision.clone())
    }

    fn on(node: u16) -> Option<Decision> {
        Some(Decision::Policy(MemoryPolicy::Node(NodeId(node))))
    }

    #[test]
    fn the_most_particular_entry_wins_and_then_the_earlier() {
        let plan = Plan {
            areas: vec![
                entry(0, None, None, 0),
                entry(40, Some(64), None, 1),
                entry(40, Some(64), Some(2), 2),
                entry(40, Some(64), None, 3),
            ],
            ..Plan::default()
        };
        assert_eq!(node_for(&plan, 64, 2), on(2));
        assert_eq!(node_for(&plan, 64, 0), on(1));
        assert_eq!(node_for(&plan, 128, 2), on(0));
    }

    #[test]
    fn another_line_size_or_ordinal_is_not_matched() {
        let plan = Plan {
            areas: vec![entry(41, None, None, 0), entry(40, Some(8), None, 0), entry(40, None, Some(1), 0)],
            ..Plan::default()
        };
        assert_eq!(node_for(&plan, 64, 0), None);
    }

    #[test]
    fn advice_to_pad_hides_no_other_entry() {
        let symbol = |decision| AreaPlan {
            area: AreaMatch::Symbol("counters".into()),
            decision,
            ..entry(0, None, None, 0)
        };
        let striped = Decision::Policy(MemoryPolicy::Striped { pages: 1 });
        let plan = Plan { areas: vec![symbol(Decision::Pad), symbol(striped.clone())], ..Plan::default() };
        assert_eq!(plan.for_symbol("counters").map(|area| &area.decision), Some(&striped));
        assert_eq!(plan.for_symbol("other"), None);
    }
}
