//! From a machine to the emulated computer that stands for it, as arguments of QEMU.
//!
//! Linux numbers nodes in the order in which the firmware's tables first name them, processors first, and cpus in the
//! order of their slots. So every node up to the highest gets processor slots, in ascending order, even where it has no
//! processor (its slots stay empty: such a node is memory only, or absent where it has no memory either, which leaves a
//! hole in the numbers). A cpu number that the machine lacks is plugged and taken offline in the guest before anything
//! runs. Distances are the ratios of idle read times, 10 within a node.
//!
//! Kept: node and cpu numbers, which node has what, distances, nodes without memory or without processors. Not kept:
//! memory sizes (all nodes get the same), caches, clocks, bandwidths, threads per core.
//! Sources: qemu(1) 7.2, -smp, -numa; ACPI 6.5, SRAT and SLIT; arch/x86/mm/srat.c and drivers/acpi/numa/srat.c of Linux.

use crate::LabError;
use olifant_machine::{Bytes, CpuId, Machine, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// QEMU's limit, MAX_NODES.
const MOST_NODES: u16 = 128;
/// Processors that eight bits of an interrupt controller's id can tell apart; the last means all of them.
const MOST_PROCESSORS: usize = 255;
/// The first node holds the kernel and the agent as well.
const LEAST_FIRST_NODE: Bytes = Bytes(192 << 20);
/// Distance of a node to itself.
const OWN_DISTANCE: u64 = 10;
/// 255 means unreachable.
const FARTHEST: u64 = 254;

/// A place for a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    socket: usize,
    core: usize,
    node: u16,
    is_plugged: bool,
}

/// The emulated computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computer {
    slots: Vec<Slot>,
    sockets: usize,
    cores: usize,
    /// Memory of each node from 0 to the highest.
    memory: Vec<Bytes>,
    /// Rows and columns in order of `memory`.
    distances: Vec<Vec<u64>>,
    /// Cpus that the guest has to take offline.
    offline: Vec<CpuId>,
}

impl Computer {
    /// The computer that stands for `machine`, with `memory_per_node` in each node that has memory.
    /// # Errors  `Machine` where QEMU has no such computer: more than 128 nodes or 255 processors, a first cpu that is
    /// not on node 0, a first node without memory.
    pub fn of(machine: &Machine, memory_per_node: Bytes) -> Result<Computer, LabError> {
        let refuse = |problem: String| LabError::Machine { machine: machine.name.clone(), problem };
        let highest = machine.nodes.iter().map(|node| node.id.0).max().unwrap_or(0);
        if highest >= MOST_NODES {
            return Err(refuse(format!("node {highest}: QEMU emulates nodes 0 to {}", MOST_NODES - 1)));
        }
        let owners: BTreeMap<CpuId, NodeId> =
            machine.nodes.iter().flat_map(|node| node.cpus.iter().map(|&cpu| (cpu, node.id))).collect();
        match owners.first_key_value() {
            Some((CpuId(0), NodeId(0))) => {}
            _ => {
                return Err(refuse(
                    "an x86 computer starts on cpu 0 of node 0, and this machine has none there".to_owned(),
                ));
            }
        }
        let memory = (0..=highest).map(|id| {
            let node = machine.nodes.iter().find(|node| node.id.0 == id);
            match node {
                Some(node) if node.memory.0 > 0 && id == 0 => memory_per_node.max(LEAST_FIRST_NODE),
                Some(node) if node.memory.0 > 0 => memory_per_node,
                _ => Bytes(0),
            }
        });
        let memory: Vec<Bytes> = memory.collect();
        if memory[0].0 == 0 {
            return Err(refuse("node 0 has no memory, and the guest's kernel starts there".to_owned()));
        }
        let (slots, sockets, cores) = slots(&owners, highest);
        if slots.len() > MOST_PROCESSORS {
            return Err(refuse(format!(
                "{} places for processors: the guest has at most {MOST_PROCESSORS}; take a part with --config",
                slots.len()
            )));
        }
        let last = owners.last_key_value().map_or(0, |(cpu, _)| cpu.0);
        let offline = (0..last).map(CpuId).filter(|cpu| !owners.contains_key(cpu)).collect();
        Ok(Computer { slots, sockets, cores, memory, distances: distances(machine, highest)?, offline })
    }

    /// Cpus that the guest has to take offline, as a list with commas.
    pub(crate) fn offline(&self) -> String {
        self.offline.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// Memory in all.
    pub(crate) fn memory(&self) -> Bytes {
        Bytes(self.memory.iter().map(|memory| memory.0).sum())
    }

    /// QEMU's arguments for processors, memory and distances. `model` is the processor's type.
    pub(crate) fn arguments(&self, model: &str) -> Vec<String> {
        let slots = self.sockets * self.cores;
        let mut arguments = vec![
            "-m".to_owned(),
            format!("{}B", self.memory().0),
            "-smp".to_owned(),
            format!("1,maxcpus={slots},sockets={},cores={},threads=1", self.sockets, self.cores),
        ];
        for (id, memory) in self.memory.iter().enumerate() {
            let mut node = format!("node,nodeid={id}");
            if memory.0 > 0 {
                arguments
                    .extend(["-object".to_owned(), format!("memory-backend-ram,id=m{id},size={}", memory.0)]);
                node += &format!(",memdev=m{id}");
            }
            arguments.extend(["-numa".to_owned(), node]);
        }
        for slot in &self.slots {
            let place = format!("socket-id={},core-id={},thread-id=0", slot.socket, slot.core);
            arguments.extend(["-numa".to_owned(), format!("cpu,node-id={},{place}", slot.node)]);
        }
        // The first processor comes with the computer.
        for slot in self.slots.iter().filter(|slot| slot.is_plugged).skip(1) {
            let place = format!("socket-id={},core-id={},thread-id=0", slot.socket, slot.core);
            arguments.extend(["-device".to_owned(), format!("{model}-x86_64-cpu,{place}")]);
        }
        for (from, row) in self.distances.iter().enumerate() {
            for (to, distance) in row.iter().enumerate().filter(|&(to, _)| to != from) {
                arguments.extend(["-numa".to_owned(), format!("dist,src={from},dst={to},val={distance}")]);
            }
        }
        arguments
    }
}

/// Slots for the cpus in order of their numbers, with the number of sockets and of cores in each. A socket per node where
/// the numbers ascend node by node, as packages do; otherwise a socket per slot.
fn slots(owners: &BTreeMap<CpuId, NodeId>, highest: u16) -> (Vec<Slot>, usize, usize) {
    let last = owners.last_key_value().map_or(0, |(cpu, _)| cpu.0);
    // A missing number stays with its predecessor: it will be offline.
    let mut node = 0;
    let plugged: Vec<u16> = (0..=last)
        .map(|cpu| {
            node = owners.get(&CpuId(cpu)).map_or(node, |owner| owner.0);
            node
        })
        .collect();
    if plugged.is_sorted() {
        let on = |node: u16| plugged.iter().filter(|&&owner| owner == node).count();
        let sockets = usize::from(highest) + 1;
        let cores = (0..=highest).map(on).max().unwrap_or(1).max(1);
        let slots = (0..=highest).flat_map(|node| {
            let here = on(node);
            (0..cores).map(move |core| Slot {
                socket: usize::from(node),
                core,
                node,
                is_plugged: core < here,
            })
        });
        return (slots.collect(), sockets, cores);
    }
    let mut order: Vec<(u16, bool)> = plugged.iter().map(|&node| (node, true)).collect();
    // An empty slot for each node that would first be named after a higher one.
    let mut named = BTreeSet::from([0]);
    let mut at = 1;
    while at < order.len() {
        let node = order[at].0;
        for lower in (0..node).filter(|lower| !named.contains(lower)).collect::<Vec<_>>() {
            order.insert(at, (lower, false));
            named.insert(lower);
            at += 1;
        }
        named.insert(node);
        at += 1;
    }
    order.extend((0..=highest).filter(|node| !named.contains(node)).map(|node| (node, false)));
    let sockets = order.len();
    let slot =
        |(socket, (node, is_plugged)): (usize, (u16, bool))| Slot { socket, core: 0, node, is_plugged };
    (order.into_iter().enumerate().map(slot).collect(), sockets, 1)
}

/// The distances that the firmware tells, for nodes 0 to the highest; to a node that is not there, as between neighbours.
fn distances(machine: &Machine, highest: u16) -> Result<Vec<Vec<u64>>, LabError> {
    let rows = machine
        .structure()
        .map_err(|error| LabError::Machine { machine: machine.name.clone(), problem: error.to_string() })?;
    let rows = rows.distances.unwrap_or_default();
    let place = |id: u16| machine.nodes.iter().position(|node| node.id.0 == id);
    let distance = |from: u16, to: u16| {
        if from == to {
            return OWN_DISTANCE;
        }
        let known = place(from).zip(place(to)).and_then(|(from, to)| {
            let row = rows.get(from)?;
            let (own, far) = (*row.get(from)?, *row.get(to)?);
            // Rounded to the nearest tenth of the local time.
            (own > 0).then(|| (far * OWN_DISTANCE + own / 2) / own)
        });
        known.unwrap_or(2 * OWN_DISTANCE).clamp(OWN_DISTANCE + 1, FARTHEST)
    };
    Ok((0..=highest).map(|from| (0..=highest).map(|to| distance(from, to)).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_machine::{Node, Structure, catalogue};
    use proptest::prelude::*;

    const MEMORY: Bytes = Bytes(128 << 20);

    /// A machine of nodes given as (id, cpus, has memory).
    fn machine(nodes: &[(u16, &[u16], bool)]) -> Machine {
        let node = |&(id, cpus, has_memory): &(u16, &[u16], bool)| Node {
            id: NodeId(id),
            cpus: cpus.iter().copied().map(CpuId).collect(),
            memory: Bytes(if has_memory { 1 << 30 } else { 0 }),
        };
        let structure = Structure { nodes: nodes.iter().map(node).collect(), ..Structure::default() };
        Machine::from_structure(&structure, "uneven", &catalogue::assumed().unwrap()).unwrap()
    }

    fn joined(nodes: &[(u16, &[u16], bool)]) -> String {
        Computer::of(&machine(nodes), MEMORY).unwrap().arguments("Model").join(" ")
    }

    #[test]
    fn a_regular_machine_has_a_socket_per_node_with_all_processors_plugged() {
        let computer = Computer::of(&catalogue::find("olifant").unwrap(), MEMORY).unwrap();
        let text = computer.arguments("Model").join(" ");
        assert!(text.contains("-smp 1,maxcpus=16,sockets=4,cores=4,threads=1"), "{text}");
        assert_eq!(text.matches("Model-x86_64-cpu").count(), 15, "{text}");
        assert!(text.contains("-numa cpu,node-id=3,socket-id=3,core-id=2,thread-id=0"), "{text}");
        assert_eq!(computer.offline(), "");
    }

    #[test]
    fn a_node_without_memory_has_no_backend_and_one_without_processors_an_empty_socket() {
        let text = joined(&[(0, &[0, 1], true), (1, &[2, 3], false), (2, &[], true)]);
        assert!(text.contains("-numa node,nodeid=1 -object memory-backend-ram,id=m2"), "{text}");
        assert!(text.contains("-numa cpu,node-id=2,socket-id=2,core-id=1"), "{text}");
        assert!(!text.contains("Model-x86_64-cpu,socket-id=2"), "{text}");
    }

    #[test]
    fn holes_in_the_numbers_become_empty_nodes_and_offline_cpus() {
        let sparse = machine(&[(0, &[0, 1], true), (2, &[4, 5], true)]);
        let computer = Computer::of(&sparse, MEMORY).unwrap();
        let text = computer.arguments("Model").join(" ");
        assert!(text.contains("-numa node,nodeid=1 -object"), "{text}");
        assert_eq!(computer.offline(), "2,3");
    }

    #[test]
    fn interleaved_cpu_numbers_keep_their_nodes_and_the_order_of_nodes() {
        let computer =
            Computer::of(&machine(&[(0, &[0, 2], true), (1, &[], true), (2, &[1, 3], true)]), MEMORY)
                .unwrap();
        let plugged: Vec<u16> =
            computer.slots.iter().filter(|slot| slot.is_plugged).map(|slot| slot.node).collect();
        assert_eq!(plugged, [0, 2, 0, 2]);
        let mut first_named: Vec<u16> = Vec::new();
        for slot in &computer.slots {
            if !first_named.contains(&slot.node) {
                first_named.push(slot.node);
            }
        }
        assert_eq!(first_named, [0, 1, 2]);
    }

    #[test]
    fn distances_are_ratios_of_idle_times() {
        let olifant = catalogue::find("olifant").unwrap();
        let times = olifant.idle_read_matrix().unwrap();
        let computer = Computer::of(&olifant, MEMORY).unwrap();
        let ratio = times[0][1] as f64 / times[0][0] as f64 * 10.0;
        assert!((computer.distances[0][1] as f64 - ratio).abs() <= 0.5);
        assert_eq!(computer.distances[2][2], 10);
    }

    #[test]
    fn what_cannot_be_emulated_is_named() {
        let no_memory = machine(&[(0, &[0], false), (1, &[1], true)]);
        assert!(Computer::of(&no_memory, MEMORY).unwrap_err().to_string().contains("node 0 has no memory"));
        let late = machine(&[(1, &[0], true)]);
        assert!(Computer::of(&late, MEMORY).unwrap_err().to_string().contains("cpu 0 of node 0"));
        let altix = catalogue::find("altix-512").unwrap();
        let refused = Computer::of(&altix, MEMORY).unwrap_err().to_string();
        assert!(refused.starts_with("machine altix-512: "), "{refused}");
    }

    proptest! {
        #[test]
        fn linux_numbers_nodes_and_cpus_as_the_machine_does(
            owners in prop::collection::vec(prop::option::of(0..6_u16), 0..20),
            bare in prop::collection::vec(any::<bool>(), 6),
        ) {
            // Cpu 0 is on node 0; `None` is a cpu number that the machine lacks, and node 5 is always there.
            let owners: BTreeMap<CpuId, NodeId> = std::iter::once(Some(0))
                .chain(owners)
                .enumerate()
                .filter_map(|(cpu, node)| Some((CpuId(u16::try_from(cpu).ok()?), NodeId(node?))))
                .collect();
            let node = |id: u16| Node {
                id: NodeId(id),
                cpus: owners.iter().filter(|(_, owner)| owner.0 == id).map(|(&cpu, _)| cpu).collect(),
                memory: Bytes(if id > 0 && bare[usize::from(id)] { 0 } else { 1 << 30 }),
            };
            let structure = Structure { nodes: (0..6).map(node).collect(), ..Structure::default() };
            let machine = Machine::from_structure(&structure, "any", &catalogue::assumed().unwrap()).unwrap();
            let computer = Computer::of(&machine, MEMORY).unwrap();
            // The kernel counts plugged slots in order: that is a cpu's number.
            let plugged: Vec<u16> =
                computer.slots.iter().filter(|slot| slot.is_plugged).map(|slot| slot.node).collect();
            for (cpu, owner) in &owners {
                prop_assert_eq!(plugged[cpu.index()], owner.0);
            }
            let extra: Vec<usize> = (0..plugged.len()).filter(|&cpu| !computer.offline.iter().any(|off| off.index() == cpu)).collect();
            prop_assert_eq!(extra, owners.keys().map(|cpu| cpu.index()).collect::<Vec<_>>());
            let mut first_named: Vec<u16> = Vec::new();
            for slot in &computer.slots {
                if !first_named.contains(&slot.node) {
                    first_named.push(slot.node);
                }
            }
            prop_assert_eq!(first_named, (0..6).collect::<Vec<u16>>());
        }
    }
}
