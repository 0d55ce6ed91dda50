//! From a [`Machine`] to a machine file that reads back to the same machine.

use super::quantity::{Quantity, written};
use crate::{Cache, CpuSet, Link, Machine, Network, Node, NodeId, Topology};
use core::fmt::Display;

impl Machine {
    /// This machine as a machine file. [`Machine::from_toml`] of it gives the same machine, if its laws hold.
    pub fn to_toml(&self) -> String {
        let mut file = File(String::new());
        file.entry("name", quoted(&self.name));
        file.entry("description", quoted(&self.description));
        file.nodes(&self.nodes);
        let processor = &self.processor;
        file.heading("[processor]");
        file.quantity("clock", processor.clock);
        file.entry("cpi", real(processor.cpi));
        file.entry("window_instructions", processor.window_instructions);
        file.entry("outstanding_misses", processor.outstanding_misses);
        file.cache("l1", &processor.l1);
        file.cache("l2", &processor.l2);
        if let Some(l3) = &processor.l3 {
            file.cache("l3", l3);
        }
        file.heading("[processor.tlb]");
        file.entry("entries", processor.tlb.entries);
        file.entry("ways", processor.tlb.ways);
        file.quantity("miss", processor.tlb.miss);
        file.heading("[memory]");
        file.quantity("latency", self.memory.latency);
        file.quantity("bandwidth", self.memory.bandwidth);
        file.quantity("address_only", self.memory.address_only);
        file.quantity("intervention", self.memory.intervention);
        file.heading("[coherence]");
        file.quantity("latency", self.coherence.latency);
        file.quantity("occupancy", self.coherence.occupancy);
        file.quantity("request", self.coherence.request);
        file.quantity("response", self.coherence.response);
        file.entry("exclusive_on_read", self.coherence.exclusive_on_read);
        file.network(&self.network, &self.nodes);
        file.heading("[os]");
        file.quantity("page", self.os.page);
        file.entry("frames", quoted(self.os.frames.word()));
        file.quantity("time_slice", self.os.time_slice);
        file.0
    }
}

struct File(String);

impl File {
    fn heading(&mut self, heading: &str) {
        self.0.push('\n');
        self.0.push_str(heading);
        self.0.push('\n');
    }

    fn entry(&mut self, key: &str, value: impl Display) {
        self.0.push_str(&format!("{key} = {value}\n"));
    }

    fn quantity<Q: Quantity>(&mut self, name: &str, quantity: Q) {
        let (unit, number) = written(quantity);
        self.entry(&format!("{name}_{unit}"), number);
    }

    fn cache(&mut self, level: &str, cache: &Cache) {
        self.heading(&format!("[processor.{level}]"));
        self.quantity("size", cache.size);
        self.entry("ways", cache.ways);
        self.quantity("line", cache.line);
        self.quantity("hit", cache.hit);
    }

    fn nodes(&mut self, nodes: &[Node]) {
        if let Some((processors, first)) = are_equal_and_dense(nodes).zip(nodes.first()) {
            self.heading("[nodes]");
            self.entry("count", nodes.len());
            self.entry("processors", processors);
            self.quantity("memory", first.memory);
            return;
        }
        for node in nodes {
            self.heading("[[node]]");
            self.entry("id", node.id);
            self.entry("cpus", quoted(&node.cpus.iter().copied().collect::<CpuSet>().to_string()));
            self.quantity("memory", node.memory);
        }
    }

    fn network(&mut self, network: &Network, nodes: &[Node]) {
        self.heading("[network]");
        if is_as_named(network, nodes) {
            self.entry("topology", quoted(&network.topology));
            if let Some(link) = network.links.first() {
                self.quantity("latency", link.latency);
                self.quantity("bandwidth", link.bandwidth);
            }
            return;
        }
        self.entry("topology", quoted(&Topology::Explicit.to_string()));
        let mut links = network.links.as_slice();
        while let [link, rest @ ..] = links {
            let back = Link { from: link.to, to: link.from, ..*link };
            let is_both_ways = rest.first() == Some(&back);
            self.heading("[[network.link]]");
            self.entry("from", quoted(&link.from.to_string()));
            self.entry("to", quoted(&link.to.to_string()));
            self.quantity("latency", link.latency);
            self.quantity("bandwidth", link.bandwidth);
            if is_both_ways {
                self.entry("both_ways", true);
            }
            links = if is_both_ways { &rest[1..] } else { rest };
        }
    }
}

/// How many processors each node has, if nodes and cpus are numbered from 0 without gaps, node by node, and all nodes
/// are alike.
fn are_equal_and_dense(nodes: &[Node]) -> Option<usize> {
    let first = nodes.first()?;
    let processors = first.cpus.len();
    let is_plain = nodes.iter().enumerate().all(|(index, node)| {
        node.id.index() == index
            && node.memory == first.memory
            && node.cpus.len() == processors
            && node.cpus.iter().enumerate().all(|(place, cpu)| cpu.index() == index * processors + place)
    });
    is_plain.then_some(processors)
}

/// Whether the network's named topology, with its first link's latency and bandwidth, yields exactly its links.
fn is_as_named(network: &Network, nodes: &[Node]) -> bool {
    let Ok(topology) = network.topology.parse::<Topology>() else { return false };
    let nodes: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
    match network.links.first() {
        None => topology != Topology::Explicit && nodes.len() < 2,
        Some(first) => {
            topology.links(&nodes, first.latency, first.bandwidth).is_ok_and(|links| links == network.links)
        }
    }
}

fn real(number: f64) -> String {
    format!("{number:?}")
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(control))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}
