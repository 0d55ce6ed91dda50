//! From a [`Machine`] to hwloc XML, version 2.
//!
//! Each node becomes a package with its memory, its shared third-level cache and one core per cpu with private caches;
//! a node without cpus hangs below the machine. Idle read times in nanoseconds go along as a latency matrix, the clock
//! as a kind of cpu. hwloc has no place for other timings.

use super::HwlocError;
use crate::{CacheShape, CpuId, CpuSet, IdSet, Machine, Node, NodeSet, SetMember, Structure};
use core::fmt::Write;

impl Machine {
    /// This machine's structure as hwloc XML, which `lstopo -i FILE.xml` shows.
    /// # Errors  [`HwlocError::Unreachable`] if the network does not join all nodes.
    pub fn to_hwloc_xml(&self) -> Result<String, HwlocError> {
        Ok(self.structure()?.to_hwloc_xml(&self.name))
    }
}

impl Structure {
    /// This structure as hwloc XML of a machine called `name`.
    pub fn to_hwloc_xml(&self, name: &str) -> String {
        let cpus: CpuSet = self.nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
        let nodes: NodeSet = self.nodes.iter().map(|node| node.id).collect();
        let mut xml = Xml { text: String::from(PROLOGUE), depth: 1, next_gp_index: 1 };
        let allowed = format!(" allowed_cpuset=\"{}\" allowed_nodeset=\"{}\"", mask(&cpus), mask(&nodes));
        xml.open("Machine", Some(0), &cpus, &nodes, &allowed);
        xml.info("MachineName", name);
        xml.info("Description", &self.description);
        // hwloc wants memory children before others.
        for node in self.nodes.iter().filter(|node| node.cpus.is_empty()) {
            xml.memory(node, &CpuSet::new(), self);
        }
        for (package, node) in self.nodes.iter().filter(|node| !node.cpus.is_empty()).enumerate() {
            xml.package(package, node, self);
        }
        xml.close();
        xml.distances(self);
        if let Some(clock) = self.clock {
            xml.line(&format!("<cpukind cpuset=\"{}\">", mask(&cpus)));
            xml.depth += 1;
            xml.info("FrequencyMaxMHz", &format!("{}", clock.0 / 1e6));
            xml.depth -= 1;
            xml.line("</cpukind>");
        }
        xml.text.push_str("</topology>\n");
        xml.text
    }
}

const PROLOGUE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                        <!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n\
                        <topology version=\"2.0\">\n";

/// hwloc's names and codes of caches.
const L1_DATA: (&str, u32, u32) = ("L1Cache", 1, 1);
const L2_UNIFIED: (&str, u32, u32) = ("L2Cache", 2, 0);
const L3_UNIFIED: (&str, u32, u32) = ("L3Cache", 3, 0);

struct Xml {
    text: String,
    depth: usize,
    next_gp_index: u64,
}

impl Xml {
    fn package(&mut self, number: usize, node: &Node, structure: &Structure) {
        let cpus: CpuSet = node.cpus.iter().copied().collect();
        let nodes = NodeSet::from_iter([node.id]);
        self.open("Package", Some(number), &cpus, &nodes, "");
        self.memory(node, &cpus, structure);
        let shared = self.cache(L3_UNIFIED, structure.l3, &cpus, &nodes);
        for &cpu in &node.cpus {
            self.core(cpu, &nodes, structure);
        }
        for _ in 0..shared {
            self.close();
        }
        self.close();
    }

    fn core(&mut self, cpu: CpuId, nodes: &NodeSet, structure: &Structure) {
        let own = CpuSet::from_iter([cpu]);
        let private = self.cache(L2_UNIFIED, structure.l2, &own, nodes)
            + self.cache(L1_DATA, structure.l1, &own, nodes);
        self.open("Core", Some(cpu.index()), &own, nodes, "");
        self.open("PU", Some(cpu.index()), &own, nodes, "");
        for _ in 0..private + 2 {
            self.close();
        }
    }

    fn memory(&mut self, node: &Node, cpus: &CpuSet, structure: &Structure) {
        let memory =
            if node.memory.0 > 0 { format!(" local_memory=\"{}\"", node.memory.0) } else { String::new() };
        self.open("NUMANode", Some(node.id.index()), cpus, &NodeSet::from_iter([node.id]), &memory);
        if let Some(page) = structure.page.filter(|page| page.0 > 0) {
            self.line(&format!("<page_type size=\"{}\" count=\"{}\"/>", page.0, node.memory.0 / page.0));
        }
        self.close();
    }

    /// Opens a cache if there is one; how many objects were opened.
    fn cache(
        &mut self,
        (name, depth, kind): (&str, u32, u32),
        shape: Option<CacheShape>,
        cpus: &CpuSet,
        nodes: &NodeSet,
    ) -> usize {
        let Some(shape) = shape else { return 0 };
        let line = shape.line.map_or(0, |line| line.0);
        let ways = shape.ways.unwrap_or(0);
        let attributes = format!(
            " cache_size=\"{}\" depth=\"{depth}\" cache_linesize=\"{line}\" cache_associativity=\"{ways}\" \
             cache_type=\"{kind}\"",
            shape.size.0
        );
        self.open(name, None, cpus, nodes, &attributes);
        1
    }

    fn distances(&mut self, structure: &Structure) {
        let Some(rows) = &structure.distances else { return };
        // Kind 6: given by the user (2), meaning latency (4).
        let count = structure.nodes.len();
        self.line(&format!(
            "<distances2 type=\"NUMANode\" nbobjs=\"{count}\" kind=\"6\" name=\"NUMALatency\" indexing=\"os\">"
        ));
        let ids = structure.nodes.iter().map(|node| u64::from(node.id.0));
        self.numbers("indexes", ids);
        for row in rows {
            self.numbers("u64values", row.iter().copied());
        }
        self.line("</distances2>");
    }

    /// One element of numbers; hwloc reads as many characters as `length` says.
    fn numbers(&mut self, name: &str, numbers: impl Iterator<Item = u64>) {
        let list = numbers.fold(String::new(), |list, number| format!("{list}{number} "));
        self.line(&format!("  <{name} length=\"{}\">{list}</{name}>", list.len()));
    }

    fn open(&mut self, kind: &str, os_index: Option<usize>, cpus: &CpuSet, nodes: &NodeSet, more: &str) {
        let os_index = os_index.map_or_else(String::new, |index| format!(" os_index=\"{index}\""));
        let (cpus, nodes) = (mask(cpus), mask(nodes));
        self.line(&format!(
            "<object type=\"{kind}\"{os_index} cpuset=\"{cpus}\" complete_cpuset=\"{cpus}\" nodeset=\"{nodes}\" \
             complete_nodeset=\"{nodes}\"{more} gp_index=\"{}\">",
            self.next_gp_index
        ));
        self.next_gp_index += 1;
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("</object>");
    }

    fn info(&mut self, name: &str, value: &str) {
        self.line(&format!("<info name=\"{name}\" value=\"{}\"/>", escaped(value)));
    }

    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * self.depth);
    }
}

/// hwloc's spelling of a mask: `0x` before each word.
fn mask<M: SetMember>(set: &IdSet<M>) -> String {
    let words: Vec<String> = set.mask_words().iter().map(|word| format!("0x{word:08x}")).collect();
    words.join(",")
}

/// Text as an attribute's value. Characters that XML cannot hold are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(character))),
            '\u{fffe}' | '\u{ffff}' => {}
            control if control < ' ' => {}
            plain => escaped.push(plain),
        }
    }
    escaped
}
