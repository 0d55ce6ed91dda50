//! What is impossible is refused with its cause, and changes nothing.

use crate::checks::{Named, Outcome};
use olifant_machine::{CpuId, CpuSet, NodeId, NodeSet};
use rset::{Cause, ResourceSet, SetPolicy, System, Tid};

/// All refusals that this machine can show.
pub fn all(system: &System) -> Vec<Named> {
    let mut found = vec![
        (
            "memory on a node that is not there is refused".to_owned(),
            refused(system, NodeId(1000), |cause| matches!(cause, Cause::NotOnline { .. })),
        ),
        (
            "cpus that are not there are refused, and the thread stays bound as it was".to_owned(),
            absent_cpus(system),
        ),
    ];
    let name = "memory on a node without memory is refused".to_owned();
    let bare = system.hierarchy().nodes().iter().find(|node| !node.has_memory);
    found.push((
        name,
        match bare {
            Some(node) => refused(system, node.id, |cause| matches!(cause, Cause::Memoryless { .. })),
            None => Outcome::Skipped("every node has memory".to_owned()),
        },
    ));
    found.extend(outside_the_cpuset(system));
    found.push((
        "more memory than a node has is refused before anything is killed".to_owned(),
        too_much(system),
    ));
    found
}

/// What the machine has and a cpuset withholds.
fn outside_the_cpuset(system: &System) -> Vec<Named> {
    let names = ["memory outside the cpuset is refused", "cpus outside the cpuset are refused"];
    let Ok(allowed) = system.allowed() else {
        return vec![(names[0].to_owned(), Outcome::Failed("what is allowed is not told".to_owned()))];
    };
    let withheld = system.hierarchy().system().difference(&allowed);
    let skipped = || Outcome::Skipped("the cpuset withholds nothing".to_owned());
    let memory = withheld.nodes.first().map_or_else(skipped, |node| {
        refused(system, node, |cause| matches!(cause, Cause::NodesOutsideCpuset { .. }))
    });
    let cpus = withheld.cpus.first().map_or_else(skipped, |cpu| {
        let mut cpus = allowed.cpus.clone();
        cpus.insert(cpu);
        let answer = system.bind_here(&ResourceSet::new(cpus, NodeSet::new()));
        match answer {
            Err(error) if matches!(error.cause(), Some(Cause::CpusOutsideCpuset { .. })) => {
                Outcome::Ok(error.to_string())
            }
            Err(error) => Outcome::Failed(error.to_string()),
            Ok(binding) => Outcome::Failed(format!("bound to cpus {}", binding.cpus)),
        }
    });
    names.into_iter().map(str::to_owned).zip([memory, cpus]).collect()
}

/// All of a node's memory at once, which is never free.
fn too_much(system: &System) -> Outcome {
    let Ok(allowed) = system.allowed() else {
        return Outcome::Failed("what is allowed is not told".to_owned());
    };
    let Some(node) = allowed.nodes.iter().last().filter(|_| allowed.nodes.len() > 1) else {
        return Outcome::Skipped(
            "one node with memory: were it not refused, this machine would suffer".to_owned(),
        );
    };
    let file = format!("/sys/devices/system/node/node{node}/meminfo");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let total = text
        .lines()
        .find(|line| line.contains("MemTotal:"))
        .and_then(|line| line.split_whitespace().nth_back(1));
    let Some(kilobytes) = total.and_then(|number| number.parse::<usize>().ok()) else {
        return Outcome::Failed("the node's size is not told".to_owned());
    };
    let set = ResourceSet::new(CpuSet::new(), [node].into_iter().collect());
    let options = rset::RegionOptions { populate: true, ..Default::default() };
    match system.allocate(kilobytes * 1024, &set, &SetPolicy::Any, &options) {
        Err(error) if matches!(error.cause(), Some(Cause::NoFreePages { .. })) => {
            Outcome::Ok(error.to_string())
        }
        Err(error) => Outcome::Failed(error.to_string()),
        Ok((_, found)) => Outcome::Failed(format!("it was allocated: {found}")),
    }
}

fn refused(system: &System, node: NodeId, is_right: fn(&Cause) -> bool) -> Outcome {
    let set = ResourceSet::new(CpuSet::new(), [node].into_iter().collect());
    let answer = system.allocate(1 << 16, &set, &SetPolicy::Node(node), &Default::default());
    match answer {
        Ok((_, found)) => Outcome::Failed(format!("it was allocated: {found}")),
        Err(error) if error.cause().is_some_and(is_right) => Outcome::Ok(error.to_string()),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

fn absent_cpus(system: &System) -> Outcome {
    let mut cpus = system.hierarchy().system().cpus.clone();
    cpus.insert(CpuId(60_000));
    let before = system.binding(Tid::CALLING);
    let answer = system.bind_here(&ResourceSet::new(cpus, NodeSet::new()));
    let after = system.binding(Tid::CALLING);
    match (answer, before, after) {
        (Err(error), Ok(before), Ok(after)) if before == after => match error.cause() {
            Some(Cause::NotOnline { .. }) => Outcome::Ok(error.to_string()),
            _ => Outcome::Failed(error.to_string()),
        },
        (Err(error), _, _) => Outcome::Failed(format!("the binding changed; {error}")),
        (Ok(_), _, _) => Outcome::Failed("it was bound".to_owned()),
    }
}
