//! `--show` and `--hardware`: what numactl prints, in its own form, because scripts read it.
//!
//! Two slips of numactl 2.0.16 are not copied: under the local policy and for policies that it has no name for, it
//! leaves the line of the preferred node open.
//! Source: the output of numactl 2.0.16; numactl(8).

use crate::{ExecError, World};
use core::fmt::Write as _;
use olifant_machine::{IdSet, NodeId, NodeSet, SetMember};
use olifant_sys::{PolicyFlags, PolicyMode};

/// The text of `--show`.
pub fn settings(world: &dyn World) -> Result<String, ExecError> {
    let policy = world.policy()?;
    let hierarchy = world.hierarchy()?;
    let first = policy.nodes.first().map_or_else(|| "0".to_owned(), |node| node.to_string());
    let (name, preferred) = match policy.mode {
        PolicyMode::Default => ("default", "current".to_owned()),
        PolicyMode::Local => ("local", "current".to_owned()),
        PolicyMode::Preferred => ("preferred", first),
        PolicyMode::Bind if policy.flags == PolicyFlags::Balancing => ("bind-balancing", first),
        PolicyMode::Bind => ("bind", first),
        PolicyMode::PreferredMany => ("preferred-many", format!("{first} (preferred-many)")),
        PolicyMode::Interleave => ("interleave", format!("{} (interleave next)", world.next_interleaved()?)),
        PolicyMode::WeightedInterleave => {
            ("weighted interleave", format!("{} (interleave next)", world.next_interleaved()?))
        }
    };
    let mut text = format!("policy: {name}\npreferred node: {preferred}\n");
    if matches!(policy.mode, PolicyMode::Interleave | PolicyMode::WeightedInterleave) {
        line(&mut text, "interleavemask", &policy.nodes);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "interleavenode: {}", world.next_interleaved()?);
    }
    let cpus = world.cpus()?;
    line(&mut text, "physcpubind", &cpus);
    let running = hierarchy.nodes().iter().filter(|node| !node.cpus.is_disjoint(&cpus)).map(|node| node.id);
    let running: NodeSet = running.collect();
    line(&mut text, "cpubind", &running);
    line(&mut text, "nodebind", &running);
    let allowed = &world.allowed()?.nodes;
    line(&mut text, "membind", if policy.mode == PolicyMode::Bind { &policy.nodes } else { allowed });
    line(&mut text, "preferred", &policy.nodes);
    Ok(text)
}

/// The text of `--hardware`; cpus as ranges with `compact`.
pub fn hardware(world: &dyn World, compact: bool) -> Result<String, ExecError> {
    let hierarchy = world.hierarchy()?;
    let nodes: NodeSet = hierarchy.nodes().iter().map(|node| node.id).collect();
    let mut text = format!("available: {} nodes ({nodes})\n", nodes.len());
    for node in hierarchy.nodes() {
        let cpus = if compact { format!(" {}", node.cpus) } else { spaced(&node.cpus) };
        let (total, free) = world.memory_of(node.id)?;
        let id = node.id;
        let megabytes = |bytes: u64| bytes >> 20;
        let _ = writeln!(text, "node {id} cpus:{}", cpus.trim_end());
        let _ =
            writeln!(text, "node {id} size: {} MB\nnode {id} free: {} MB", megabytes(total), megabytes(free));
    }
    text.push_str("node distances:\nnode ");
    for id in &nodes {
        let _ = write!(text, "{:>3} ", id.0);
    }
    text.push('\n');
    for from in &nodes {
        let _ = write!(text, "{:>3}: ", from.0);
        for to in &nodes {
            let _ = write!(text, "{:>3} ", distance(world, from, to)?);
        }
        text.push('\n');
    }
    Ok(text)
}

fn distance(world: &dyn World, from: NodeId, to: NodeId) -> Result<u64, ExecError> {
    Ok(world.hierarchy()?.distance(from, to).unwrap_or(0))
}

/// `name: 0 1 2 `, with the blank at the end that numactl leaves.
fn line<M: SetMember>(text: &mut String, name: &str, set: &IdSet<M>) {
    let members = spaced(set);
    let _ = writeln!(text, "{name}: {}{}", members.trim_start(), if members.is_empty() { "" } else { " " });
}

/// ` 0 1 2`
fn spaced<M: SetMember>(set: &IdSet<M>) -> String {
    set.iter().map(|member| format!(" {}", member.number())).collect()
}
