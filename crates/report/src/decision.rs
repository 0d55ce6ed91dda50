//! What a plan decided for an area, and the words for it.

use crate::identity::frames;
use olifant_opium::profile::{Area, AreaKind, Profile};
use olifant_placement::{AreaPlan, Decision, FOR_SMALL, FOR_STACKS, Place, Plan, Run};

/// The index of the plan's entry for `area`: the one that the runtime applies, else advice that moves nothing.
pub(crate) fn entry_for(plan: &Plan, profile: &Profile, area: &Area) -> Option<usize> {
    let symbol = match area.kind {
        AreaKind::Global => Some(area.name.as_str()),
        AreaKind::Stack => Some(FOR_STACKS),
        AreaKind::Small => Some(FOR_SMALL),
        AreaKind::Heap | AreaKind::Mapping | AreaKind::Other => None,
    };
    let path = frames(profile, area).iter().map(|frame| Place {
        function: &frame.function,
        file: &frame.file,
        line: frame.line,
    });
    let by_site = || plan.for_allocation(path.clone(), area.bytes, area.ordinal);
    let applied = match symbol {
        Some(FOR_SMALL) => by_site().or_else(|| plan.for_symbol(FOR_SMALL)),
        Some(symbol) => plan.for_symbol(symbol),
        None => by_site(),
    };
    let is_advice = |entry: &&AreaPlan| match (&entry.area, symbol) {
        (olifant_placement::AreaMatch::Symbol(name), Some(symbol)) => name == symbol,
        (site, None) => site.is_allocation(path.clone(), area.bytes, area.ordinal),
        _ => false,
    };
    let entry = applied.or_else(|| plan.areas.iter().find(is_advice))?;
    plan.areas.iter().position(|known| std::ptr::eq(known, entry))
}

/// The decision in a few words.
pub(crate) fn words(decision: &Decision) -> String {
    match decision {
        Decision::Policy(policy) => policy.to_string(),
        Decision::Blocks(runs) => blocks(runs),
        Decision::Parts(nodes) => {
            let mut numbers: Vec<u16> = nodes.iter().map(|node| node.0).collect();
            let parts = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            format!("{parts} equal parts on nodes {}", crate::text::ranges(&numbers))
        }
        Decision::Replicate => "advice: replicate".to_owned(),
        Decision::Pad => "advice: pad".to_owned(),
    }
}

/// Few runs are told one by one, many by the nodes they visit.
fn blocks(runs: &[Run]) -> String {
    const FEW: usize = 4;
    if runs.len() <= FEW {
        let run = |run: &Run| format!("{} on node {}", run.pages, run.node);
        return format!("blocks of pages: {}", runs.iter().map(run).collect::<Vec<_>>().join(", "));
    }
    let pages: u64 = runs.iter().map(|run| run.pages).sum();
    let mut nodes: Vec<u16> = runs.iter().map(|run| run.node.0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let nodes = crate::text::ranges(&nodes);
    format!("{} blocks, {pages} pages in all, on nodes {nodes}", runs.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_machine::NodeId;
    use olifant_placement::MemoryPolicy;

    #[test]
    fn decisions_are_told_in_a_few_words() {
        let run = |node| Run { pages: 8, node: NodeId(node) };
        assert_eq!(words(&Decision::Policy(MemoryPolicy::Striped { pages: 2 })), "striped:2");
        assert_eq!(
            words(&Decision::Blocks(vec![run(0), run(1)])),
            "blocks of pages: 8 on node 0, 8 on node 1"
        );
        let many = (0..16).map(|index| run(index % 4)).collect();
        assert_eq!(words(&Decision::Blocks(many)), "16 blocks, 128 pages in all, on nodes 0-3");
    }
}
