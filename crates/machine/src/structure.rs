//! The structure of a computer: what an operating system or hwloc tells of it, which is all but its timings.
//!
//! hwloc's text forms and sysfs are read into a [`Structure`]; [`Machine::from_structure`] adds the timings of another
//! machine, assumed to be like it. Left out, because the machine tree has no place for them: packages, cores and which
//! cpus share one, caches that part of a node shares, instruction caches, devices. Processors of several kinds are
//! taken to be like the first.

use crate::{
    Bytes, BytesPerSecond, Cache, CpuSet, Hertz, LawBroken, Link, Machine, Nanos, Network, Node, NodeId,
    Topology, Unreachable, Vertex,
};

/// What is known of a computer without measuring.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Structure {
    /// One line for a person; may be empty.
    pub description: String,
    /// Nodes with their cpus and memory, ascending.
    pub nodes: Vec<Node>,
    /// First-level data cache, where known.
    pub l1: Option<CacheShape>,
    /// Second-level cache, where known.
    pub l2: Option<CacheShape>,
    /// Third-level cache, where there is one.
    pub l3: Option<CacheShape>,
    /// Clock frequency, where known.
    pub clock: Option<Hertz>,
    /// Page size, where known.
    pub page: Option<Bytes>,
    /// Row a, column b: how far node b is from node a in order of `nodes`, in any unit. Only ratios to the row's own
    /// entry are used.
    pub distances: Option<Vec<Vec<u64>>>,
}

/// A cache as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheShape {
    /// Capacity.
    pub size: Bytes,
    /// Associativity.
    pub ways: Option<u32>,
    /// Line size.
    pub line: Option<Bytes>,
}

/// Linux's distance between two nodes where firmware gives none, against 10 within a node.
/// Source: include/linux/topology.h, LOCAL_DISTANCE and REMOTE_DISTANCE.
const DISTANCE_WITHOUT_FIRMWARE: f64 = 20.0 / 10.0;

impl Machine {
    /// A machine of this structure with the timings of `like`.
    ///
    /// Cache fields that are not known come from `like` too. Nodes are linked each to each, with latencies that make
    /// an idle read over a link take the local latency times the ratio of the distances, as far as the coherence
    /// units of `like` alone do not take longer already.
    /// # Errors  [`LawBroken`] if what results is not a machine, for example without any cpu.
    pub fn from_structure(structure: &Structure, name: &str, like: &Machine) -> Result<Machine, LawBroken> {
        let mut machine = Machine { name: name.to_owned(), nodes: structure.nodes.clone(), ..like.clone() };
        machine.description.clone_from(&structure.description);
        let processor = &mut machine.processor;
        processor.clock = structure.clock.unwrap_or(processor.clock);
        processor.l1 = completed(structure.l1, &like.processor.l1, true);
        processor.l2 = completed(structure.l2, &like.processor.l2, true);
        processor.l2.size = processor.l2.size.max(processor.l1.size);
        let like_l3 = like.processor.l3.as_ref().unwrap_or(&like.processor.l2);
        processor.l3 = structure.l3.map(|shape| completed(Some(shape), like_l3, false));
        machine.os.page = structure.page.unwrap_or(like.os.page);
        machine.coherence.response = Bytes(machine.coherence.response.0.max(processor.l2.line.0));
        machine.network = machine.linked_each_to_each(structure.distances.as_deref(), like);
        machine.check()?;
        Ok(machine)
    }

    /// The structure of this machine; distances are idle read times in nanoseconds, rounded.
    /// # Errors  [`Unreachable`] if the network does not join all nodes.
    pub fn structure(&self) -> Result<Structure, Unreachable> {
        let shape =
            |cache: &Cache| CacheShape { size: cache.size, ways: Some(cache.ways), line: Some(cache.line) };
        Ok(Structure {
            description: self.description.clone(),
            nodes: self.nodes.clone(),
            l1: Some(shape(&self.processor.l1)),
            l2: Some(shape(&self.processor.l2)),
            l3: self.processor.l3.as_ref().map(shape),
            clock: Some(self.processor.clock),
            page: Some(self.os.page),
            distances: if self.nodes.len() > 1 { Some(self.idle_read_matrix()?) } else { None },
        })
    }

    fn linked_each_to_each(&self, distances: Option<&[Vec<u64>]>, like: &Machine) -> Network {
        let bandwidth = like.network.links.first().map_or(like.memory.bandwidth, |link| link.bandwidth);
        let ratio = |a: usize, b: usize| {
            let known = distances.and_then(|rows| Some((*rows.get(a)?.get(b)?, *rows.get(a)?.get(a)?)));
            match known {
                Some((far, own)) if far > 0 && own > 0 => far as f64 / own as f64,
                _ => DISTANCE_WITHOUT_FIRMWARE,
            }
        };
        let mut links = Vec::new();
        for a in 0..self.nodes.len() {
            for b in a + 1..self.nodes.len() {
                let latency = self.link_latency((ratio(a, b) + ratio(b, a)) / 2.0, bandwidth);
                let ends = [a, b].map(|index| Vertex::Node(self.nodes[index].id));
                links.push(Link { from: ends[0], to: ends[1], latency, bandwidth });
                links.push(Link { from: ends[1], to: ends[0], latency, bandwidth });
            }
        }
        let is_uniform = links.windows(2).all(|pair| pair[0].latency == pair[1].latency);
        let topology = if is_uniform { Topology::Full } else { Topology::Explicit };
        Network { topology: topology.to_string(), links }
    }

    /// The latency of a link over which an idle read takes `ratio` times a local one.
    fn link_latency(&self, ratio: f64, bandwidth: BytesPerSecond) -> Nanos {
        let packets = [self.coherence.request, self.coherence.response];
        let length: f64 = packets.iter().map(|&size| bandwidth.time_for(size).0).sum();
        let without_links =
            self.memory.latency.0 + 4.0 * self.coherence.latency.0 + length + self.idle_bus().0;
        // Tenths of a nanosecond are already more than distances tell; whole tenths keep machine files short.
        let latency = ((self.memory.latency.0 * ratio - without_links) / 2.0).max(0.0);
        Nanos((latency * 10.0).round() / 10.0)
    }
}

/// The cache of this shape, with what is not known taken from `like`. With `power_of_two_sets`, an associativity that
/// does not give them is replaced by the nearest one to `like`'s that does.
fn completed(shape: Option<CacheShape>, like: &Cache, power_of_two_sets: bool) -> Cache {
    let Some(shape) = shape else { return *like };
    let line = shape.line.unwrap_or(like.line);
    let fits = |ways: u32| {
        let set = line.0.checked_mul(u64::from(ways)).filter(|&set| set > 0);
        set.is_some_and(|set| {
            let sets = shape.size.0 / set;
            sets > 0 && shape.size.0.is_multiple_of(set) && (sets.is_power_of_two() || !power_of_two_sets)
        })
    };
    let told = shape.ways.unwrap_or(like.ways);
    // Real associativities are far below 128; the search is for virtual machines that tell none or a wrong one.
    let ways = if fits(told) {
        told
    } else {
        (1..=128).filter(|&ways| fits(ways)).min_by_key(|ways| ways.abs_diff(told)).unwrap_or(told)
    };
    Cache { size: shape.size, ways, line, hit: like.hit }
}

/// A node as a text form tells of it: cpus near it rather than owned by it.
#[derive(Debug, Clone)]
pub(crate) struct LocalNode {
    pub(crate) id: NodeId,
    pub(crate) cpus: CpuSet,
    pub(crate) memory: Bytes,
}

/// Gives each cpu to one node: among those that it is near, the one near the fewest cpus, then the one with the lowest
/// id. So memory near a whole machine, or a second memory beside the main one, becomes a node without cpus.
pub(crate) fn with_owned_cpus(mut locals: Vec<LocalNode>) -> Vec<Node> {
    locals.sort_by_key(|local| (local.cpus.len(), local.id));
    let mut given = CpuSet::new();
    let mut nodes: Vec<Node> = Vec::with_capacity(locals.len());
    for local in locals {
        let own = local.cpus.difference(&given);
        given = given.union(&own);
        nodes.push(Node { id: local.id, cpus: own.iter().collect(), memory: local.memory });
    }
    nodes.sort_by_key(|node| node.id);
    nodes
}
