//! Reasons: why a decision was made, in words that a person understands.

use crate::case::{Case, Usage};
use crate::groups::Group;
use crate::replicate::Reading;
use olifant_opium::profile::AreaKind;
use olifant_placement::compact_list;

/// Above this share a node may be said to use an area alone.
const MOST: f64 = 0.5;

/// For a whole area on one node.
pub(crate) fn one_node(case: &Case, usage: &Usage, node: usize) -> String {
    let share = usage.share(usage.by_node[node]);
    let id = case.layout.ids[node];
    let threads = threads_on(case, node);
    if share > MOST {
        format!("{} of its traffic comes from node {id} ({threads})", percent(share))
    } else {
        format!("node {id} ({threads}) uses it as much as any other: {} of its traffic", percent(share))
    }
}

/// For blocks.
pub(crate) fn blocks(usage: &Usage, local: u64) -> String {
    format!(
        "nodes use pages of their own: with each page where it is used most, {} of the traffic is local",
        percent(usage.share(local))
    )
}

/// For striping by pages.
pub(crate) fn even(case: &Case, usage: &Usage) -> String {
    let users = usage.by_node.iter().filter(|&&packets| packets > 0).count();
    if users == 0 {
        return "hardly used: pages dealt in turn".to_owned();
    }
    let who =
        if users == case.layout.len() { format!("all {users} nodes") } else { format!("{users} nodes") };
    format!("used evenly by {who}: pages dealt in turn")
}

/// For striping that keeps one node from being overloaded.
pub(crate) fn balance(case: &Case, usage: &Usage) -> String {
    let (leader, share) = usage.leader();
    format!(
        "no node dominates (node {} leads with {}): pages dealt in turn, since one node's bus and unit would limit all",
        case.layout.ids[leader],
        percent(share)
    )
}

/// For `local`.
pub(crate) fn local(group: &Group, usage: &Usage, local: u64) -> String {
    let share = percent(usage.share(local));
    match group.kind {
        AreaKind::Stack => {
            format!("{share} of the traffic on stacks comes from the stack's own thread's node")
        }
        _ => format!("{share} of the traffic comes from the node of the thread that allocates"),
    }
}

/// For data that is only read.
pub(crate) fn replicate(case: &Case, reading: &Reading) -> String {
    let filled =
        reading.writer.map_or_else(String::new, |thread| format!(" after thread {thread} filled it"));
    format!(
        "only read{filled}, by {} nodes: a copy on each costs {} bytes per node",
        reading.nodes, case.profile.areas[reading.area].bytes
    )
}

/// `threads 8-11`, `thread 3`.
pub(crate) fn threads(numbers: &[u16]) -> String {
    let word = if numbers.len() == 1 { "thread" } else { "threads" };
    format!("{word} {}", compact_list(numbers))
}

/// A share as a person writes it; 100 % only where nothing is missing.
pub(crate) fn percent(share: f64) -> String {
    let percent = (share * 100.0).round();
    let percent = if share < 1.0 { percent.min(99.0) } else { percent };
    format!("{percent} %")
}

fn threads_on(case: &Case, node: usize) -> String {
    let on_node = (0u16..).zip(&case.thread_nodes).filter(|&(_, &at)| at == node).map(|(thread, _)| thread);
    let numbers: Vec<u16> = on_node.collect();
    if numbers.is_empty() { "no threads".to_owned() } else { threads(&numbers) }
}
