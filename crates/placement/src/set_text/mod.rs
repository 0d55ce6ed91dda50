//! The text forms of a resource set: whatever users of today's tools type is read.
//!
//! | form | example | meaning |
//! | --- | --- | --- |
//! | words | `all`, `none` | the global set, the empty set |
//! | Linux cpulist | `0-3,8,10-14:2` | these cpus and their local memory |
//! | AIX | `-c 0-3 -m 0` | exactly these cpus and nodes; what sets print as |
//! | numactl | `nodes=0-1`, `nodes=!0`, `cpus=+0-3` | nodes with their cpus, or cpus with their local memory |
//! | numactl devices | `netdev:eth0`, `block:sda`, `file:/data`, `ip:10.0.0.1`, `pci:0000:01:00.0` | the device's node |
//! | hwloc | `package:0.core:2-3.pu:0 ~pu:1`, `0xff` | objects by logical number, within each other |
//! | likwid | `N:0-3`, `S0:0-1@S1:0-1`, `M:scatter`, `E:N:4:1:2` | cpus by place within a domain |
//! | distance | `near:2`, `near:2:3` | a node and its nearest neighbour, or three nodes in all |
//! | names | `jobs/left` | a set of the registry |
//!
//! Errors point at the character. Left out: what the registry and devices are, which a [`Lookup`] tells.

mod aix;
mod hwloc_location;
mod likwid;
mod numactl;
mod scanner;

use crate::{Hierarchy, ResourceSet};
use olifant_machine::{CpuSet, NodeId, NodeSet};
use scanner::Scanner;

/// Why a text is not a set, and at which character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("set {text:?}, character {}: {problem}", .at + 1)]
pub struct SetTextError {
    /// The whole text.
    pub text: String,
    /// Offset in characters, from 0, of the first one in doubt.
    pub at: usize,
    /// What is wrong there.
    pub problem: String,
}

impl SetTextError {
    /// The message over three lines: the text, a caret below the character, the problem.
    pub fn with_caret(&self) -> String {
        format!("{}\n{:>width$}\n{}", self.text, '^', self.problem, width = self.at + 1)
    }
}

/// A kind of device that has a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// A network interface, by name.
    Network,
    /// A disk or partition, by name.
    Block,
    /// The disk that holds a file.
    File,
    /// The network interface that leads to an address.
    Address,
    /// A PCI function, `domain:bus:device.function`.
    Pci,
}

/// What a set's text may refer to beyond the machine. The errors are the problem, for a person.
pub trait Lookup {
    /// The set of a name.
    /// # Errors  That there is no such set, or that it cannot be read.
    fn named(&self, name: &str) -> Result<ResourceSet, String>;
    /// The nodes of a device.
    /// # Errors  That there is no such device, or that it has no node.
    fn device(&self, kind: DeviceKind, name: &str) -> Result<NodeSet, String>;
}

/// A world without names and devices.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLookup;

impl Lookup for NoLookup {
    fn named(&self, name: &str) -> Result<ResourceSet, String> {
        Err(format!("no set is named {name:?}"))
    }

    fn device(&self, _kind: DeviceKind, name: &str) -> Result<NodeSet, String> {
        Err(format!("device {name:?} is unknown here"))
    }
}

/// Reads the text forms of sets for one machine.
#[derive(Clone, Copy)]
pub struct SetReader<'a> {
    /// The machine.
    pub hierarchy: &'a Hierarchy,
    /// What the caller may use of it: numactl's relative numbers count within this.
    pub allowed: &'a ResourceSet,
    /// Names and devices.
    pub lookup: &'a dyn Lookup,
}

impl core::fmt::Debug for SetReader<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SetReader").field("allowed", self.allowed).finish_non_exhaustive()
    }
}

/// The words in front of an equals sign or colon, and what each is about.
const DEVICES: [(&str, DeviceKind); 7] = [
    ("netdev:", DeviceKind::Network),
    ("block:", DeviceKind::Block),
    ("file:", DeviceKind::File),
    ("ip:", DeviceKind::Address),
    ("pci:", DeviceKind::Pci),
    ("os=", DeviceKind::Network),
    ("pci=", DeviceKind::Pci),
];

impl SetReader<'_> {
    /// The set that a text of any form means.
    /// # Errors  [`SetTextError`] points at the first character in doubt.
    pub fn set(&self, text: &str) -> Result<ResourceSet, SetTextError> {
        let mut scanner = Scanner::new(text);
        scanner.skip_blanks();
        let rest = scanner.rest().trim_end();
        match rest {
            "" => return Err(scanner.error("expected a set, found nothing; the empty set is `none`")),
            "none" => return Ok(ResourceSet::empty()),
            "all" => return Ok(self.hierarchy.system().clone()),
            _ => {}
        }
        let first = rest.chars().next().unwrap_or(' ');
        if first == '-' {
            return aix::read(scanner);
        }
        if scanner.take("nodes=") {
            let nodes = self.nodes_from(scanner)?;
            return Ok(self.of_nodes(&nodes));
        }
        if scanner.take("cpus=") {
            return Ok(self.hierarchy.with_local_memory(self.cpus_from(scanner)?));
        }
        if scanner.take("near:") {
            return self.near(scanner);
        }
        for (prefix, kind) in DEVICES {
            if scanner.take(prefix) {
                return Ok(self.of_nodes(&self.device(&mut scanner, kind)?));
            }
        }
        if first.is_ascii_digit() && !rest.starts_with("0x") {
            let cpus = self.linux_list(&scanner)?;
            return Ok(self.hierarchy.with_local_memory(cpus));
        }
        if likwid::is_domain(rest) {
            let cpus = likwid::Reader::new(self.hierarchy).read(scanner)?;
            return Ok(self.hierarchy.with_local_memory(cpus.into_iter().collect()));
        }
        if hwloc_location::is_location(rest) {
            return hwloc_location::Reader::new(self.hierarchy).read(scanner);
        }
        self.named(&scanner, rest)
    }

    /// The cpus that a likwid text means, in its order, which says where thread 0, 1, 2, ... runs.
    /// # Errors  [`SetTextError`] points at the first character in doubt.
    pub fn likwid_order(&self, text: &str) -> Result<Vec<olifant_machine::CpuId>, SetTextError> {
        likwid::Reader::new(self.hierarchy).read(Scanner::new(text))
    }

    fn named(&self, scanner: &Scanner<'_>, name: &str) -> Result<ResourceSet, SetTextError> {
        let is_part = |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
        if let Some((at, bad)) = name.char_indices().find(|&(_, character)| !is_part(character)) {
            return Err(
                scanner.error_after(at, format!("{bad:?} belongs to no form of a set, nor to a name"))
            );
        }
        self.lookup.named(name).map_err(|problem| scanner.error(problem))
    }

    fn linux_list(&self, scanner: &Scanner<'_>) -> Result<CpuSet, SetTextError> {
        let cpus: CpuSet =
            scanner.rest().trim_end().parse().map_err(|error: olifant_machine::SetSyntaxError| {
                scanner.error_at_character(error.at, error.problem)
            })?;
        let absent = cpus.difference(&self.hierarchy.system().cpus);
        if absent.is_empty() {
            return Ok(cpus);
        }
        let has = &self.hierarchy.system().cpus;
        Err(scanner.error(format!("this machine has no cpus {absent}; it has {has}")))
    }

    /// `near:NODE` or `near:NODE:COUNT`, after the word.
    fn near(&self, mut scanner: Scanner<'_>) -> Result<ResourceSet, SetTextError> {
        let node_at = scanner.clone();
        let node = NodeId(scanner.number("a node")?);
        if self.hierarchy.node(node).is_none() {
            return Err(node_at.error(self.no_node(node)));
        }
        let count_at = scanner.clone();
        let count = if scanner.take(":") { usize::from(scanner.number("how many nodes")?) } else { 2 };
        scanner.skip_blanks();
        scanner.expect_end()?;
        let nodes = self.hierarchy.nodes().len();
        if count == 0 || count > nodes {
            // A machine of one node has no neighbour; `near` then is the node itself.
            if count == 2 && nodes == 1 {
                return Ok(self.hierarchy.near(node, 1));
            }
            return Err(
                count_at.error(format!("from 1 to {nodes} nodes can be near; {count} were asked for"))
            );
        }
        Ok(self.hierarchy.near(node, count))
    }

    fn device(&self, scanner: &mut Scanner<'_>, kind: DeviceKind) -> Result<NodeSet, SetTextError> {
        let name = scanner.rest().trim_end();
        if name.is_empty() {
            return Err(scanner.error("expected the name of a device"));
        }
        self.lookup.device(kind, name).map_err(|problem| scanner.error(problem))
    }

    /// Nodes with all their cpus.
    fn of_nodes(&self, nodes: &NodeSet) -> ResourceSet {
        let sets = nodes.iter().filter_map(|node| self.hierarchy.node(node));
        sets.fold(ResourceSet::empty(), |all, set| all.union(&set))
    }

    fn no_node(&self, node: NodeId) -> String {
        let has: NodeSet = self.hierarchy.nodes().iter().map(|node| node.id).collect();
        format!("this machine has no node {node}; it has {has}")
    }
}
