//! Thread policies: the order of cpus that threads take, and how far it can be carried out from outside the program.
//!
//! What works without being inside: the cpus that all threads share (float), one cpu for all, and OpenMP programs, whose
//! runtime places its threads by the environment. Watching /proc for new threads and binding them from outside is not
//! done: a thread runs, and first touches its memory, before it is seen, and one that lives briefly is never seen. All
//! else is the preload library's, which binds each thread before its first instruction.

use crate::{ExecError, World};
use olifant_machine::{CpuId, CpuSet};
use olifant_placement::{Hierarchy, ThreadPolicy};
use std::ffi::OsString;
use std::path::Path;

/// The runtimes whose threads OMP_PLACES places, by the names of their libraries.
const OPENMP_RUNTIMES: [&str; 3] = ["libgomp.so", "libomp.so", "libiomp5.so"];

/// The cpus that threads 0, 1, 2, ... take; `None` where the scheduler decides.
/// # Errors  `Usage` for a list with cpus that are not among `cpus`.
pub fn order(
    policy: &ThreadPolicy,
    cpus: &CpuSet,
    hierarchy: &Hierarchy,
) -> Result<Option<Vec<CpuId>>, ExecError> {
    let by_node: Vec<Vec<CpuId>> = hierarchy
        .nodes()
        .iter()
        .map(|node| node.cpus.intersection(cpus).iter().collect::<Vec<_>>())
        .filter(|cpus| !cpus.is_empty())
        .collect();
    Ok(match policy {
        ThreadPolicy::Float => None,
        ThreadPolicy::Fill => Some(by_node.concat()),
        ThreadPolicy::RoundRobin => {
            let most = by_node.iter().map(Vec::len).max().unwrap_or(0);
            Some(
                (0..most)
                    .flat_map(|turn| by_node.iter().filter_map(move |node| node.get(turn).copied()))
                    .collect(),
            )
        }
        ThreadPolicy::List(list) => {
            let outside: CpuSet = list.iter().copied().filter(|&cpu| !cpus.contains(cpu)).collect();
            if !outside.is_empty() {
                return Err(ExecError::Usage(format!(
                    "threads on cpus {outside}: only cpus {cpus} may be used"
                )));
            }
            Some(list.clone())
        }
    })
}

/// The variables that make an OpenMP runtime take the cpus in this order.
pub fn openmp_environment(order: &[CpuId]) -> Vec<(&'static str, OsString)> {
    let places: Vec<String> = order.iter().map(|cpu| format!("{{{cpu}}}")).collect();
    // `close` gives thread i the place i after the first thread's, which is place 0.
    vec![("OMP_PLACES", places.join(",").into()), ("OMP_PROC_BIND", "close".into())]
}

/// Whether an executable asks for an OpenMP runtime.
pub fn uses_openmp(program: &Path) -> bool {
    let Ok(bytes) = std::fs::read(program) else { return false };
    let names = |name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    bytes.starts_with(b"\x7fELF") && OPENMP_RUNTIMES.iter().any(|name| names(name))
}

/// The cpus of `world` that a program may use now, in the order of a policy.
/// # Errors  As [`order`].
pub fn order_now(policy: &ThreadPolicy, world: &dyn World) -> Result<Option<Vec<CpuId>>, ExecError> {
    order(policy, &world.cpus()?, world.hierarchy()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_machine::NodeId;
    use olifant_placement::NodeResources;

    fn hierarchy() -> Hierarchy {
        let node = |id: u16, cpus: &[u16]| NodeResources {
            id: NodeId(id),
            cpus: cpus.iter().copied().map(CpuId).collect(),
            has_memory: true,
        };
        Hierarchy::new(vec![node(0, &[0, 1, 2]), node(1, &[]), node(2, &[3, 4])], None).unwrap()
    }

    fn numbers(policy: &str, cpus: &str) -> Option<Vec<u16>> {
        let cpus: CpuSet = cpus.parse().unwrap();
        let order = order(&policy.parse().unwrap(), &cpus, &hierarchy()).unwrap();
        order.map(|cpus| cpus.into_iter().map(|cpu| cpu.0).collect())
    }

    #[test]
    fn fill_goes_node_by_node_and_round_robin_takes_nodes_in_turn() {
        assert_eq!(numbers("fill", "0-4"), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(numbers("round-robin", "0-4"), Some(vec![0, 3, 1, 4, 2]));
        assert_eq!(numbers("round-robin", "1-3"), Some(vec![1, 3, 2]));
        assert_eq!(numbers("float", "0-4"), None);
        assert_eq!(numbers("4,0,4", "0-4"), Some(vec![4, 0, 4]));
    }

    #[test]
    fn a_list_outside_the_set_is_refused_by_name() {
        let error = order(&"0,4".parse().unwrap(), &"0-3".parse().unwrap(), &hierarchy()).unwrap_err();
        assert_eq!(error.to_string(), "threads on cpus 4: only cpus 0-3 may be used");
    }

    #[test]
    fn openmp_gets_one_place_per_cpu_in_order() {
        let environment = openmp_environment(&[CpuId(3), CpuId(0)]);
        assert_eq!(environment[0], ("OMP_PLACES", "{3},{0}".into()));
    }
}
