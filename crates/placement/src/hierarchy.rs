//! A machine's resources by level: the global set, and how it is divided into nodes, packages, last-level caches, cores
//! and cpus, and by levels that users make.
//!
//! Every level is a list of disjoint sets within the global one. A set at a level of cpus (package, cache, core, cpu)
//! has the memory that is local to its cpus: the memory of their nodes, and where such a node has none, that of the
//! nearest nodes that have. Levels need not nest: a package may hold several nodes, or a node several packages. Left
//! out: sizes and speeds, which the machine tree has.

use crate::ResourceSet;
use olifant_machine::{CpuId, CpuSet, Machine, Node, NodeId, NodeSet};

/// A level of the hierarchy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Level {
    /// All of it.
    System,
    /// Cpus and memory at one distance.
    Node,
    /// What is in one socket.
    Package,
    /// The cpus that share the cache farthest from them.
    LastLevelCache,
    /// The cpus (hardware threads) of one core.
    Core,
    /// One cpu.
    Cpu,
    /// A level that a user made, by its name.
    Made(String),
}

/// One node as the hierarchy sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeResources {
    /// Its number in the operating system; may be sparse.
    pub id: NodeId,
    /// Its cpus; none for a node of memory only.
    pub cpus: CpuSet,
    /// Whether it has memory.
    pub has_memory: bool,
}

/// Why a hierarchy is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HierarchyError {
    /// Two sets of a level share something.
    #[error("level {level}: sets {first} and {second} share {shared}; the sets of a level are disjoint")]
    Overlap {
        /// The level.
        level: String,
        /// Place of one set, from 0.
        first: usize,
        /// Place of the other.
        second: usize,
        /// What they share.
        shared: ResourceSet,
    },
    /// A set has what the system does not.
    #[error("level {level}: set {place} has {stray}, which the system does not have")]
    Stray {
        /// The level.
        level: String,
        /// Place of the set, from 0.
        place: usize,
        /// What is not there.
        stray: ResourceSet,
    },
    /// The name of a level is taken.
    #[error("level {0:?} exists; choose another name")]
    Taken(String),
    /// The distances are not a square of the nodes.
    #[error("{rows} rows of distances for {nodes} nodes, or a row of another length")]
    Distances {
        /// Rows given.
        rows: usize,
        /// Nodes given.
        nodes: usize,
    },
}

/// A machine's resources by level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    nodes: Vec<NodeResources>,
    /// Row a, column b: from node a to node b, in order of `nodes`.
    distances: Vec<Vec<u64>>,
    system: ResourceSet,
    levels: Vec<(Level, Vec<ResourceSet>)>,
}

/// Linux's distances within a node and between nodes where firmware tells none (include/linux/topology.h).
const DISTANCE_WITHIN: u64 = 10;
const DISTANCE_BETWEEN: u64 = 20;

impl Hierarchy {
    /// The hierarchy of these nodes, ascending by id, with levels system, node and cpu. Without distances every other
    /// node is equally far.
    /// # Errors  [`HierarchyError`] if a cpu is in two nodes, or the distances are not a square of the nodes.
    pub fn new(
        nodes: Vec<NodeResources>,
        distances: Option<Vec<Vec<u64>>>,
    ) -> Result<Hierarchy, HierarchyError> {
        let distances = distances.unwrap_or_else(|| equally_far(nodes.len()));
        if distances.len() != nodes.len() || distances.iter().any(|row| row.len() != nodes.len()) {
            return Err(HierarchyError::Distances { rows: distances.len(), nodes: nodes.len() });
        }
        let sets: Vec<ResourceSet> = nodes.iter().map(NodeResources::set).collect();
        let system = sets.iter().fold(ResourceSet::empty(), |all, set| all.union(set));
        let mut hierarchy = Hierarchy { nodes, distances, system: system.clone(), levels: Vec::new() };
        hierarchy.add(Level::System, vec![system])?;
        hierarchy.add(Level::Node, sets)?;
        let cpus = hierarchy.system.cpus.iter().map(|cpu| [cpu].into_iter().collect()).collect();
        hierarchy.add_cpu_level(Level::Cpu, cpus)?;
        Ok(hierarchy)
    }

    /// The hierarchy of a described machine. It tells neither packages nor shared caches nor cores: a node stands for
    /// the first two, a cpu for a core.
    /// # Errors  [`HierarchyError`] if a cpu is in two nodes.
    pub fn of_machine(machine: &Machine) -> Result<Hierarchy, HierarchyError> {
        let nodes = machine.nodes.iter().map(NodeResources::from).collect();
        let distances = machine.structure().ok().and_then(|structure| structure.distances);
        let mut hierarchy = Hierarchy::new(nodes, distances)?;
        let of_nodes: Vec<CpuSet> = hierarchy.nodes.iter().map(|node| node.cpus.clone()).collect();
        let cores = hierarchy.system.cpus.iter().map(|cpu| [cpu].into_iter().collect()).collect();
        hierarchy.add_cpu_level(Level::Package, of_nodes.clone())?;
        hierarchy.add_cpu_level(Level::LastLevelCache, of_nodes)?;
        hierarchy.add_cpu_level(Level::Core, cores)?;
        Ok(hierarchy)
    }

    /// Adds a level of cpus; each set gets its local memory. Empty sets are passed over.
    /// # Errors  [`HierarchyError`]
    pub fn add_cpu_level(&mut self, level: Level, groups: Vec<CpuSet>) -> Result<(), HierarchyError> {
        let groups = groups.into_iter().filter(|cpus| !cpus.is_empty());
        let sets: Vec<ResourceSet> = groups.map(|cpus| self.with_local_memory(cpus)).collect();
        check_disjoint(&level, sets.iter().map(|set| set.cpus.clone()).map(cpus_only))?;
        self.push(level, sets)
    }

    /// Adds a level that the caller made: disjoint sets within the system.
    /// # Errors  [`HierarchyError`]
    pub fn add(&mut self, level: Level, sets: Vec<ResourceSet>) -> Result<(), HierarchyError> {
        check_disjoint(&level, sets.iter().cloned())?;
        self.push(level, sets)
    }

    fn push(&mut self, level: Level, sets: Vec<ResourceSet>) -> Result<(), HierarchyError> {
        if self.levels.iter().any(|(known, _)| *known == level) {
            return Err(HierarchyError::Taken(level.to_string()));
        }
        for (place, set) in sets.iter().enumerate() {
            if !set.is_subset(&self.system) {
                let stray = set.difference(&self.system);
                return Err(HierarchyError::Stray { level: level.to_string(), place, stray });
            }
        }
        self.levels.push((level, sets));
        Ok(())
    }

    /// The global set: all cpus and all memory.
    pub fn system(&self) -> &ResourceSet {
        &self.system
    }

    /// The sets of a level in order; none if the machine does not have the level.
    pub fn sets(&self, level: &Level) -> &[ResourceSet] {
        self.levels.iter().find(|(known, _)| known == level).map_or(&[], |(_, sets)| sets)
    }

    /// All levels, in the order in which they were added.
    pub fn levels(&self) -> impl Iterator<Item = (&Level, &[ResourceSet])> {
        self.levels.iter().map(|(level, sets)| (level, sets.as_slice()))
    }

    /// The nodes, ascending.
    pub fn nodes(&self) -> &[NodeResources] {
        &self.nodes
    }

    /// The node of a cpu.
    pub fn node_of(&self, cpu: CpuId) -> Option<NodeId> {
        self.nodes.iter().find(|node| node.cpus.contains(cpu)).map(|node| node.id)
    }

    /// A node's cpus and memory.
    pub fn node(&self, id: NodeId) -> Option<ResourceSet> {
        self.nodes.iter().find(|node| node.id == id).map(NodeResources::set)
    }

    /// How far node `to` is from node `from`, as the firmware says (10 within a node on Linux).
    pub fn distance(&self, from: NodeId, to: NodeId) -> Option<u64> {
        let place = |id| self.nodes.iter().position(|node| node.id == id);
        Some(self.distances[place(from)?][place(to)?])
    }

    /// The nodes by distance from `from`, itself first; among equally far ones the lower number first.
    pub fn by_distance(&self, from: NodeId) -> Vec<NodeId> {
        let Some(row) = self.nodes.iter().position(|node| node.id == from) else { return Vec::new() };
        let mut order: Vec<(bool, u64, NodeId)> = self
            .nodes
            .iter()
            .zip(&self.distances[row])
            .map(|(node, &distance)| (node.id != from, distance, node.id))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, _, id)| id).collect()
    }

    /// The set of a node and its nearest neighbours, `count` nodes in all; fewer where there are no more.
    pub fn near(&self, node: NodeId, count: usize) -> ResourceSet {
        let nearest = self.by_distance(node).into_iter().take(count);
        nearest.filter_map(|id| self.node(id)).fold(ResourceSet::empty(), |near, set| near.union(&set))
    }

    /// The nodes with memory that are nearest to `node` among `within`: itself if it is one of them.
    pub fn nearest_memory(&self, node: NodeId, within: &NodeSet) -> NodeSet {
        let candidates = self.by_distance(node).into_iter().filter(|&id| {
            within.contains(id) && self.nodes.iter().any(|known| known.id == id && known.has_memory)
        });
        let mut nearest = NodeSet::new();
        let mut least = None;
        for id in candidates {
            let distance = if id == node { None } else { self.distance(node, id) };
            match least {
                None => least = Some(distance),
                Some(least) if least == distance => {}
                Some(_) => break,
            }
            nearest.insert(id);
        }
        nearest
    }

    /// These cpus with the memory that is local to them.
    pub fn with_local_memory(&self, cpus: CpuSet) -> ResourceSet {
        let mut nodes = NodeSet::new();
        for node in &self.nodes {
            if node.cpus.is_disjoint(&cpus) {
                continue;
            }
            if node.has_memory {
                nodes.insert(node.id);
            } else {
                nodes = nodes.union(&self.nearest_memory(node.id, &self.system.nodes));
            }
        }
        ResourceSet::new(cpus, nodes)
    }
}

impl From<&Node> for NodeResources {
    fn from(node: &Node) -> Self {
        Self { id: node.id, cpus: node.cpus.iter().copied().collect(), has_memory: node.memory.0 > 0 }
    }
}

impl NodeResources {
    fn set(&self) -> ResourceSet {
        let memory = self.has_memory.then_some(self.id);
        ResourceSet::new(self.cpus.clone(), memory.into_iter().collect())
    }
}

fn cpus_only(cpus: CpuSet) -> ResourceSet {
    ResourceSet::new(cpus, NodeSet::new())
}

fn check_disjoint(level: &Level, sets: impl Iterator<Item = ResourceSet>) -> Result<(), HierarchyError> {
    let mut before: Vec<ResourceSet> = Vec::new();
    let mut all = ResourceSet::empty();
    for (second, set) in sets.enumerate() {
        // The union makes the usual case linear; who it is that overlaps is looked for only if somebody does.
        if !all.is_disjoint(&set) {
            let first = before.iter().position(|other| !other.is_disjoint(&set)).unwrap_or(0);
            let shared = before[first].intersection(&set);
            return Err(HierarchyError::Overlap { level: level.to_string(), first, second, shared });
        }
        all = all.union(&set);
        before.push(set);
    }
    Ok(())
}

fn equally_far(nodes: usize) -> Vec<Vec<u64>> {
    let row =
        |from| (0..nodes).map(|to| if from == to { DISTANCE_WITHIN } else { DISTANCE_BETWEEN }).collect();
    (0..nodes).map(row).collect()
}

impl core::fmt::Display for Level {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Level::System => "system",
            Level::Node => "node",
            Level::Package => "package",
            Level::LastLevelCache => "cache",
            Level::Core => "core",
            Level::Cpu => "cpu",
            Level::Made(name) => name,
        })
    }
}
