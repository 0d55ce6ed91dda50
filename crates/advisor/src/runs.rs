//! From homes of pieces to runs of pages: short, complete from the area's first page to its last.
//!
//! Pages that nobody touched belong to the run before them. A run that costs little to give up is absorbed by the run
//! before it, as long as all of that costs no more than a small share of the area's traffic.

use crate::demand::Demand;

/// Rounds of absorption; each may make neighbours equal and so new candidates.
const MOST_ROUNDS: usize = 4;

/// Consecutive pieces with one home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Index of the first piece.
    pub first: usize,
    /// Index after the last.
    pub end: usize,
    /// Their home.
    pub node: usize,
}

/// Stretches of equal homes among an area's pieces.
pub(crate) fn stretches(pieces: core::ops::Range<usize>, home: impl Fn(usize) -> usize) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for piece in pieces {
        push(&mut stretches, Stretch { first: piece, end: piece + 1, node: home(piece) });
    }
    stretches
}

/// Absorbs stretches into the one before them while their loss stays within `budget`; `cost(piece, node)` is what a
/// piece costs on a node.
pub(crate) fn shorten(
    mut stretches: Vec<Stretch>,
    mut budget: u64,
    cost: impl Fn(usize, usize) -> u64,
) -> Vec<Stretch> {
    for _ in 0..MOST_ROUNDS {
        let loss = |index: usize| -> u64 {
            let (stretch, node) = (&stretches[index], stretches[index - 1].node);
            let moved: u64 = (stretch.first..stretch.end).map(|piece| cost(piece, node)).sum();
            let stayed: u64 = (stretch.first..stretch.end).map(|piece| cost(piece, stretch.node)).sum();
            moved.saturating_sub(stayed)
        };
        let mut by_loss: Vec<(u64, usize)> = (1..stretches.len()).map(|index| (loss(index), index)).collect();
        by_loss.sort_unstable();
        let mut absorbed = vec![false; stretches.len()];
        for (loss, index) in by_loss {
            // Neither neighbour may be absorbed in the same round, or the loss would not be what was reckoned.
            let is_quiet = !absorbed[index - 1] && absorbed.get(index + 1) != Some(&true);
            if loss <= budget && is_quiet {
                budget -= loss;
                absorbed[index] = true;
            }
        }
        if !absorbed.contains(&true) {
            break;
        }
        let mut shorter: Vec<Stretch> = Vec::new();
        for (stretch, is_absorbed) in stretches.into_iter().zip(absorbed) {
            let node = if is_absorbed {
                shorter.last().map_or(stretch.node, |last| last.node)
            } else {
                stretch.node
            };
            push(&mut shorter, Stretch { node, ..stretch });
        }
        stretches = shorter;
    }
    stretches
}

/// Pages on nodes, from the area's first page to its last.
pub(crate) fn pages(stretches: &[Stretch], demand: &Demand, area_pages: u64) -> Vec<(u64, usize)> {
    let mut runs = Vec::with_capacity(stretches.len());
    let mut from = 0;
    for (index, stretch) in stretches.iter().enumerate() {
        let next = stretches.get(index + 1).map(|next| demand.pieces[next.first].first_page);
        let to = next.unwrap_or(area_pages.max(from + 1));
        runs.push((to - from, stretch.node));
        from = to;
    }
    runs
}

fn push(stretches: &mut Vec<Stretch>, next: Stretch) {
    match stretches.last_mut() {
        Some(last) if last.node == next.node => last.end = next.end,
        _ => stretches.push(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_given_up_stays_within_the_budget(
            homes in prop::collection::vec(0usize..4, 1..60),
            costs in prop::collection::vec(1u64..100, 60),
            budget in 0u64..500,
        ) {
            let cost = |piece: usize, node: usize| if node == homes[piece] { 0 } else { costs[piece] };
            let before = stretches(0..homes.len(), |piece| homes[piece]);
            let after = shorten(before.clone(), budget, cost);
            let lost: u64 =
                after.iter().flat_map(|s| (s.first..s.end).map(move |piece| cost(piece, s.node))).sum();
            prop_assert!(lost <= budget, "{} of {}", lost, budget);
            prop_assert!(after.len() <= before.len());
            let covered: Vec<usize> = after.iter().flat_map(|s| s.first..s.end).collect();
            prop_assert_eq!(covered, (0..homes.len()).collect::<Vec<_>>());
            prop_assert!(after.windows(2).all(|pair| pair[0].node != pair[1].node));
        }
    }
}
