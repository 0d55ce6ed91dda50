//! A set's memory policy as the policy of a whole process: what of it the kernel can do for everything that the
//! process will ever touch.

use crate::{ExecError, World};
use olifant_machine::{NodeId, NodeSet};
use olifant_placement::{Hierarchy, SetPolicy, Spread};
use olifant_sys::{NodePolicy, PolicyMode};

/// Where the kernel keeps the weights of interleaving.
const WEIGHTS: &str = "/sys/kernel/mm/mempolicy/weighted_interleave";

/// The policy of a process that runs on the cpus it has now and uses memory of `nodes`; `None` to leave things as they
/// are.
/// # Errors  `Usage` where the nodes cannot give what the policy wants; `Unsupported` where the kernel has no such
/// policy for a process.
pub fn process_policy(
    policy: &SetPolicy,
    nodes: Option<&NodeSet>,
    world: &dyn World,
) -> Result<Option<NodePolicy>, ExecError> {
    let hierarchy = world.hierarchy()?;
    let allowed = &world.allowed()?.nodes;
    let within = nodes.unwrap_or(allowed);
    let local = local_nodes(hierarchy, world, within)?;
    let wrong = |error: olifant_placement::PolicyMisfit| ExecError::Usage(error.to_string());
    let bound = |nodes: NodeSet| Some(NodePolicy::new(PolicyMode::Bind, nodes));
    Ok(match (policy, nodes) {
        // Each is Linux's own way, within the set where there is one.
        (SetPolicy::Any | SetPolicy::FirstTouch, None) => None,
        (SetPolicy::Local, None) => Some(NodePolicy::new(PolicyMode::Local, NodeSet::new())),
        (SetPolicy::Any | SetPolicy::FirstTouch | SetPolicy::Local, Some(nodes)) => bound(nodes.clone()),
        _ => match policy.spread(within, &local).map_err(wrong)? {
            Spread::Within(nodes) => bound(nodes),
            Spread::Striped { nodes, pages: 1 } => {
                Some(NodePolicy::new(PolicyMode::Interleave, nodes.into_iter().collect()))
            }
            Spread::Striped { .. } => {
                return Err(ExecError::Unsupported {
                    what: format!("memory policy {policy}"),
                    needs: "stripes of several pages, which Linux has for a range of addresses only: use striped:1, \
                            or --heap for what malloc gives"
                        .to_owned(),
                });
            }
            Spread::Weighted(weights) => Some(weighted(policy, &weights)?),
        },
    })
}

/// The memory nearest to the cpus that this process runs on.
fn local_nodes(hierarchy: &Hierarchy, world: &dyn World, within: &NodeSet) -> Result<NodeSet, ExecError> {
    let cpus = world.cpus()?;
    let running = cpus.iter().filter_map(|cpu| hierarchy.node_of(cpu)).collect::<NodeSet>();
    Ok(running.iter().fold(NodeSet::new(), |all, node| all.union(&hierarchy.nearest_memory(node, within))))
}

/// The kernel has one list of weights for all: the policy can be had where that list says the same.
fn weighted(policy: &SetPolicy, weights: &[(NodeId, u16)]) -> Result<NodePolicy, ExecError> {
    let unsupported =
        |needs: String| ExecError::Unsupported { what: format!("memory policy {policy}"), needs };
    let mut products = Vec::new();
    for &(node, weight) in weights {
        let file = format!("{WEIGHTS}/node{node}");
        let kernel: u64 = std::fs::read_to_string(&file)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or_else(|| unsupported(format!("Linux 6.9 or later ({file} cannot be read)")))?;
        products.push((node, u64::from(weight), kernel));
    }
    if !products.windows(2).all(|pair| pair[0].1 * pair[1].2 == pair[1].1 * pair[0].2) {
        let has: Vec<String> = products.iter().map(|(node, _, kernel)| format!("{node}={kernel}")).collect();
        return Err(unsupported(format!(
            "the system's weights in the same proportion, which are {}: as root, write them to {WEIGHTS}/node*",
            has.join(",")
        )));
    }
    let nodes = weights.iter().map(|&(node, _)| node).collect();
    Ok(NodePolicy::new(PolicyMode::WeightedInterleave, nodes))
}
