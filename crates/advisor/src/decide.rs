//! Decisions: for each group of areas the shortest form that loses next to nothing against the best homes.
//!
//! For one area, in this order: a copy per node if it is only read; striping if it is used evenly; one node; blocks.
//! A stripe of several pages is never used to follow a pattern: stripes go by address, and the next run's addresses
//! may differ. For many allocations of one site: one policy, and single entries for members
//! that it would serve badly.

use crate::case::{Case, Usage};
use crate::groups::Group;
use crate::options::{BREVITY_LOSS, EVEN_WITHIN, MANY_ALLOCATIONS, MOSTLY, NEGLIGIBLE_AREA};
use crate::reason;
use crate::replicate::is_replicable;
use crate::runs;
use olifant_opium::profile::AreaKind;
use olifant_placement::{AreaMatch, AreaPlan, Decision, MemoryPolicy, Run};

/// Pages dealt one by one.
pub(crate) const STRIPED: Decision = Decision::Policy(MemoryPolicy::Striped { pages: 1 });
/// An area may be put on one node only if no more of its traffic than this is even (and could be dealt out).
const LITTLE: f64 = 0.2;

/// The entries for a group; counts of remote accesses are filled in by the forecast.
pub(crate) fn decide(case: &Case, group: &Group) -> Vec<AreaPlan> {
    if let [only] = group.areas[..]
        && let Some(name) = single_name(case, group, only)
    {
        let (decision, reason) = decide_area(case, only);
        return vec![entry(name, decision, reason)];
    }
    decide_many(case, group)
}

/// One area alone in its group keeps the group's shorter name, unless the site also made areas without traffic.
fn single_name(case: &Case, group: &Group, area: usize) -> Option<AreaMatch> {
    match case.profile.areas[area].kind {
        AreaKind::Stack | AreaKind::Small => None,
        _ => group.single_out(case.profile, area),
    }
}

fn entry(area: AreaMatch, decision: Decision, reason: String) -> AreaPlan {
    AreaPlan { area, decision, reason, remote_before: 0, remote_after: 0 }
}

/// The decision for one area.
fn decide_area(case: &Case, area: usize) -> (Decision, String) {
    let usage = case.usage(&[area]);
    if !case.is_tight
        && let Some(reading) = is_replicable(case, area)
    {
        return (Decision::Replicate, reason::replicate(case, &reading));
    }
    let weight = case.weight(area);
    let slack = part(weight, BREVITY_LOSS);
    let budget = case.best_cost(area) + slack;
    if !case.is_tight {
        let is_even = case.pages(area) > 1 && usage.share(usage.even) >= MOSTLY;
        if is_even && case.cost_striped(area) <= budget + part(weight, EVEN_WITHIN) {
            return (STRIPED, reason::even(case, &usage));
        }
        let (leader, _) = usage.leader();
        let node = majority(case, area).unwrap_or(leader);
        let may_concentrate = case.pages(area) == 1 || usage.share(usage.even) <= LITTLE;
        if may_concentrate && case.cost_on(area, node) <= budget {
            return (on_node(case, node), reason::one_node(case, &usage, node));
        }
    }
    let stretches = runs::stretches(case.demand.of_area(area), |piece| case.home(piece));
    // Where memory is short even a page without traffic stays where it fits.
    let stretches = if case.is_tight {
        stretches
    } else {
        runs::shorten(stretches, slack, |piece, node| case.cost_at(piece, node))
    };
    let pages = runs::pages(&stretches, case.demand, case.pages(area));
    if let [(_, node)] = pages[..] {
        return (on_node(case, node), reason::one_node(case, &usage, node));
    }
    let local: u64 = stretches
        .iter()
        .flat_map(|s| (s.first..s.end).map(move |piece| (piece, s.node)))
        .flat_map(|(piece, node)| case.demand.entries(piece).iter().map(move |entry| (entry, node)))
        .filter(|(entry, node)| case.thread_nodes[entry.thread] == *node)
        .map(|(entry, _)| entry.packets())
        .sum();
    let runs = pages.into_iter().map(|(pages, node)| Run { pages, node: case.layout.ids[node] }).collect();
    (Decision::Blocks(runs), reason::blocks(&usage, local))
}

/// One policy for a group, and single entries for members that it would serve badly.
fn decide_many(case: &Case, group: &Group) -> Vec<AreaPlan> {
    let usage = case.usage(&group.areas);
    let (policy, reason) = common_policy(case, group, &usage);
    let mut losses: Vec<(u64, usize)> = Vec::new();
    for &area in &group.areas {
        let weight = case.weight(area);
        let loss = cost_with(case, area, &policy).saturating_sub(case.best_cost(area));
        let matters = usage.share(weight / crate::layout::NEAREST) >= NEGLIGIBLE_AREA;
        let is_served_badly = loss > part(weight, BREVITY_LOSS + EVEN_WITHIN);
        if group.can_single_out
            && (case.is_tight || matters && (is_served_badly || is_replicable(case, area).is_some()))
        {
            losses.push((loss, area));
        }
    }
    if group.areas.len() > MANY_ALLOCATIONS && !case.is_tight {
        losses.sort_unstable_by_key(|&(loss, area)| (core::cmp::Reverse(loss), area));
        losses.truncate(MANY_ALLOCATIONS);
        losses.sort_unstable_by_key(|&(_, area)| area);
    }
    let mut entries: Vec<AreaPlan> = losses
        .iter()
        .filter_map(|&(_, area)| {
            let (decision, reason) = decide_area(case, area);
            Some(entry(group.single_out(case.profile, area)?, decision, reason))
        })
        .collect();
    if entries.len() < group.areas.len() {
        entries.push(entry(group.name.clone(), Decision::Policy(policy), reason));
    }
    entries
}

/// The best single policy for a group.
fn common_policy(case: &Case, group: &Group, usage: &Usage) -> (MemoryPolicy, String) {
    let total = |policy: &MemoryPolicy| -> u64 {
        group.areas.iter().map(|&area| cost_with(case, area, policy)).sum()
    };
    let (leader, _) = usage.leader();
    let node = if case.layout.has_memory(leader) {
        leader
    } else {
        case.layout.memory_nodes().first().map_or(0, |&n| n)
    };
    let striped = MemoryPolicy::Striped { pages: 1 };
    let on_leader = MemoryPolicy::Node(case.layout.ids[node]);
    let (local_cost, striped_cost, leader_cost) =
        (total(&MemoryPolicy::Local), total(&striped), total(&on_leader));
    let slack = part(usage.total * crate::layout::NEAREST, BREVITY_LOSS);
    if group.kind == AreaKind::Stack
        || local_cost <= leader_cost.min(striped_cost) + slack && local_cost < striped_cost
    {
        let local: u64 =
            group.areas.iter().map(|&area| case.usage(&[area]).by_node[case.local_node(area)]).sum();
        return (MemoryPolicy::Local, reason::local(group, usage, local));
    }
    if striped_cost <= leader_cost + part(usage.total * crate::layout::NEAREST, EVEN_WITHIN) {
        return (striped, reason::even(case, usage));
    }
    (on_leader, reason::one_node(case, usage, node))
}

/// Packets times distance of an area under a policy.
fn cost_with(case: &Case, area: usize, policy: &MemoryPolicy) -> u64 {
    match policy {
        MemoryPolicy::Striped { .. } => case.cost_striped(area),
        MemoryPolicy::Node(id) => case.cost_on(area, case.layout.node_of_id(*id).unwrap_or(0)),
        _ => case.cost_on(area, case.local_node(area)),
    }
}

/// The node that is the best home of most of an area's traffic.
fn majority(case: &Case, area: usize) -> Option<usize> {
    let mut packets = vec![0u64; case.layout.len()];
    for piece in case.demand.of_area(area) {
        packets[case.home(piece)] +=
            case.demand.entries(piece).iter().map(|entry| entry.packets()).sum::<u64>();
    }
    (0..packets.len())
        .filter(|&node| packets[node] > 0)
        .max_by_key(|&node| (packets[node], core::cmp::Reverse(node)))
}

fn on_node(case: &Case, node: usize) -> Decision {
    Decision::Policy(MemoryPolicy::Node(case.layout.ids[node]))
}

/// A share of a cost, rounded down.
pub(crate) fn part(cost: u64, share: f64) -> u64 {
    // Shares lie between 0 and 1, so the product fits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let part = (cost as f64 * share) as u64;
    part
}
