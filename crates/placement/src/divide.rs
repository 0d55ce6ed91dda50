//! Parts of a set: one cpu of each core, and equal parts that keep neighbours together.

use crate::{Hierarchy, Level, ResourceSet};
use olifant_machine::{CpuId, CpuSet, NodeSet};

/// A set that cannot be cut into so many parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot make {parts} parts of {cpus} cpus; every part needs at least one")]
pub struct TooManyParts {
    /// Parts asked for.
    pub parts: usize,
    /// Cpus there are.
    pub cpus: usize,
}

impl Hierarchy {
    /// The set with one cpu of each core that it has cpus of, the lowest; its memory stays. On a machine that does not
    /// tell its cores every cpu is one.
    #[must_use]
    pub fn one_cpu_per_core(&self, set: &ResourceSet) -> ResourceSet {
        let cpus = self.cores_of(set).iter().filter_map(CpuSet::first).collect();
        ResourceSet::new(cpus, set.nodes.clone())
    }

    /// The set in `parts` parts of equally many cores, or of equally many cpus where there are more parts than cores;
    /// sizes differ by one at most. Cpus of a node, and within it of a cache, stay together as far as that goes. A part
    /// has the memory of the set that is local to its cpus; memory that is local to none goes to the part nearest to
    /// it. Nodes that several parts have cpus of are in each of them.
    /// # Errors  [`TooManyParts`] if there are fewer cpus than parts, or no parts are asked for.
    pub fn split(&self, set: &ResourceSet, parts: usize) -> Result<Vec<ResourceSet>, TooManyParts> {
        let cpus = set.cpus.len();
        if parts == 0 || parts > cpus {
            return Err(TooManyParts { parts, cpus });
        }
        let mut units = self.cores_of(set);
        if parts > units.len() {
            units =
                units.iter().flat_map(|core| core.iter().map(|cpu| [cpu].into_iter().collect())).collect();
        }
        let count = units.len();
        let mut sets: Vec<ResourceSet> = (0..parts)
            .map(|part| {
                let units = &units[part * count / parts..(part + 1) * count / parts];
                let cpus = units.iter().fold(CpuSet::new(), |cpus, unit| cpus.union(unit));
                let nodes = self.with_local_memory(cpus.clone()).nodes.intersection(&set.nodes);
                ResourceSet::new(cpus, nodes)
            })
            .collect();
        self.hand_out_the_rest(set, &mut sets);
        Ok(sets)
    }

    /// Gives memory that is in no part to the part with the nearest cpus, and parts without memory the nearest.
    fn hand_out_the_rest(&self, set: &ResourceSet, parts: &mut [ResourceSet]) {
        let given = parts.iter().fold(NodeSet::new(), |given, part| given.union(&part.nodes));
        for node in &set.nodes.difference(&given) {
            let far = |part: &ResourceSet| {
                let nodes = part.cpus.iter().filter_map(|cpu| self.node_of(cpu));
                (
                    nodes.filter_map(|from| self.distance(from, node)).min().unwrap_or(u64::MAX),
                    part.nodes.len(),
                )
            };
            if let Some(nearest) = parts.iter_mut().min_by_key(|part| far(part)) {
                nearest.nodes.insert(node);
            }
        }
        for part in parts.iter_mut().filter(|part| part.nodes.is_empty()) {
            if let Some(node) = part.cpus.first().and_then(|cpu| self.node_of(cpu)) {
                part.nodes = self.nearest_memory(node, &set.nodes);
            }
        }
    }

    /// The cpus of the set core by core, cores of a node and of a cache next to each other.
    pub(crate) fn cores_of(&self, set: &ResourceSet) -> Vec<CpuSet> {
        let cores = match self.sets(&Level::Core) {
            [] => self.sets(&Level::Cpu),
            cores => cores,
        };
        let places = |level: &Level| self.places(level);
        let (nodes, caches) = (places(&Level::Node), places(&Level::LastLevelCache));
        let place = |places: &[usize], cpu: CpuId| places.get(cpu.index()).copied().unwrap_or(usize::MAX);
        let mut found: Vec<(usize, usize, CpuId, CpuSet)> = cores
            .iter()
            .filter_map(|core| {
                let cpus = core.cpus.intersection(&set.cpus);
                let first = cpus.first()?;
                Some((place(&nodes, first), place(&caches, first), first, cpus))
            })
            .collect();
        // Cpus that the hierarchy does not know come last, each for itself.
        let stray = set.cpus.difference(&self.system().cpus);
        found.sort_by_key(|&(node, cache, first, _)| (node, cache, first));
        let known = found.into_iter().map(|(_, _, _, cpus)| cpus);
        known.chain(stray.iter().map(|cpu| [cpu].into_iter().collect())).collect()
    }

    /// The place in a level of each cpu's set, by cpu number.
    fn places(&self, level: &Level) -> Vec<usize> {
        let mut places = Vec::new();
        for (place, set) in self.sets(level).iter().enumerate() {
            for cpu in &set.cpus {
                if places.len() <= cpu.index() {
                    places.resize(cpu.index() + 1, usize::MAX);
                }
                places[cpu.index()] = place;
            }
        }
        places
    }
}
