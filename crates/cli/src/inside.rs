//! What the preload library is told, made complete: a plan's names found in the program, its numbers turned into the host's,
//! and the environment with which the program finds all of it.

use crate::output;
use crate::rules;
use crate::session::read_plan;
use anyhow::{anyhow, bail};
use olifant_exec::{Inside, environment, locate, why_not};
use olifant_frontend::inside::InsideSpec;
use olifant_frontend::spec::{AreaKey, AreaRule, Place};
use olifant_machine::{CpuId, Machine, NodeId};
use olifant_placement::{MemoryPolicy, Plan};
use std::ffi::{OsStr, OsString};

/// A program's variables, and what the rules of its plan are for.
pub struct Entry {
    /// Variables that the program is to have; none if the library cannot get into it.
    pub environment: Vec<(&'static str, OsString)>,
    /// What each rule is for.
    pub names: Vec<String>,
}

/// Makes the specification complete and writes it down; `becomes_it` if this process becomes the program. A program that
/// cannot be entered starts without; a remark says so.
pub fn enter(inside: Inside, program: &OsStr, becomes_it: bool) -> anyhow::Result<Entry> {
    let mut spec = inside.spec;
    let names = match &inside.plan {
        Some(path) => add_plan(&mut spec, &read_plan(path)?, program)?,
        None => Vec::new(),
    };
    if let Some(reason) = why_not(program).filter(|_| !spec.has_children) {
        output::say(&format!("olifant: {reason}"));
        return Ok(Entry { environment: Vec::new(), names });
    }
    Ok(Entry { environment: environment(&spec, becomes_it)?, names })
}

/// Adds what a plan says; gives what each rule is for.
fn add_plan(spec: &mut InsideSpec, plan: &Plan, program: &OsStr) -> anyhow::Result<Vec<String>> {
    let host = olifant_host::find_machine(&olifant_host::Root::new("/"))?;
    let numbers = Numbers::of(&host, plan)?;
    let file = locate(program).ok_or_else(|| anyhow!("{}: no such program", program.to_string_lossy()))?;
    let found = rules::resolve(&file, Some(plan))?;
    for remark in &found.remarks {
        output::say(&format!("olifant: {remark}"));
    }
    let mut names = Vec::new();
    for (rule, name) in found.rules.into_iter().zip(found.names) {
        if is_for_the_host(&rule) {
            spec.rules.push(numbers.rule(rule)?);
            names.push(name);
        } else if !is_by_first_touch(&rule) {
            output::say(&format!(
                "olifant: plan: {name} stay where they are touched first; the entry is left out"
            ));
        }
    }
    if !plan.threads.is_empty() {
        spec.threads.order =
            plan.threads.iter().map(|&cpu| numbers.cpu(cpu)).collect::<anyhow::Result<_>>()?;
    }
    Ok(names)
}

/// Stacks and what shares pages with others are placed by the threads that touch them first, which are bound.
fn is_for_the_host(rule: &AreaRule) -> bool {
    !matches!(rule.area, AreaKey::Stacks | AreaKey::Small)
}

fn is_by_first_touch(rule: &AreaRule) -> bool {
    matches!(rule.place, Place::Policy(MemoryPolicy::Local | MemoryPolicy::FirstTouch))
}

/// Plans number nodes and cpus from 0 without gaps, node by node; the host may not.
struct Numbers {
    nodes: Vec<NodeId>,
    cpus: Vec<CpuId>,
}

impl Numbers {
    fn of(host: &Machine, plan: &Plan) -> anyhow::Result<Numbers> {
        let configuration = host.configuration();
        if !plan.configuration.is_empty() && plan.configuration != configuration {
            bail!(
                "the plan is for {} {} and this computer is {configuration}: make a plan with --on host, or for a machine \
                 of {configuration}",
                plan.machine,
                plan.configuration
            );
        }
        Ok(Numbers {
            nodes: host.nodes.iter().map(|node| node.id).collect(),
            cpus: host.nodes.iter().flat_map(|node| node.cpus.clone()).collect(),
        })
    }

    fn cpu(&self, cpu: CpuId) -> anyhow::Result<CpuId> {
        let found = self.cpus.get(usize::from(cpu.0)).copied();
        found.ok_or_else(|| {
            anyhow!("the plan places a thread on cpu {cpu}; this computer has {}", self.cpus.len())
        })
    }

    fn node(&self, node: NodeId) -> anyhow::Result<NodeId> {
        let found = self.nodes.get(usize::from(node.0)).copied();
        found.ok_or_else(|| {
            anyhow!("the plan places pages on node {node}; this computer has {}", self.nodes.len())
        })
    }

    fn rule(&self, mut rule: AreaRule) -> anyhow::Result<AreaRule> {
        match &mut rule.place {
            Place::Policy(MemoryPolicy::Node(node)) => *node = self.node(*node)?,
            Place::Policy(_) => {}
            Place::Blocks(runs) => {
                for run in runs {
                    run.node = self.node(run.node)?;
                }
            }
            Place::Parts(nodes) => {
                for node in nodes {
                    *node = self.node(*node)?;
                }
            }
        }
        Ok(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plans_numbers_count_nodes_and_cpus_of_the_host_in_order() {
        let numbers = Numbers { nodes: vec![NodeId(0), NodeId(4)], cpus: [0, 2, 1, 8].map(CpuId).to_vec() };
        assert_eq!(numbers.node(NodeId(1)).unwrap(), NodeId(4));
        assert_eq!(numbers.cpu(CpuId(3)).unwrap(), CpuId(8));
        assert!(numbers.cpu(CpuId(4)).unwrap_err().to_string().contains("cpu 4"));
        assert!(numbers.node(NodeId(2)).is_err());
    }
}
