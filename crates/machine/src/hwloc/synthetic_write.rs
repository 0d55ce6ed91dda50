//! From a [`Machine`] to an hwloc synthetic string.

use super::HwlocError;
use crate::Machine;

impl Machine {
    /// This machine's structure as a synthetic string, for example
    /// `Package:4 [NUMANode(memory=1073741824)] L2Cache:4(size=1048576) L1dCache:1(size=16384) Core:1 PU:1`.
    /// Numbers of nodes and cpus are given where they are not simply counted up.
    /// # Errors  [`HwlocError::Uneven`] if nodes differ in processors or memory, or have no processors.
    pub fn to_hwloc_synthetic(&self) -> Result<String, HwlocError> {
        let uneven = |what: &str| Err(HwlocError::Uneven(what.to_owned()));
        let Some(first) = self.nodes.first() else { return uneven("there are no nodes") };
        if first.cpus.is_empty() {
            return uneven("a node has no cpus");
        }
        for node in &self.nodes {
            if node.cpus.len() != first.cpus.len() {
                return uneven("nodes have different numbers of cpus");
            }
            if node.memory != first.memory {
                return uneven("nodes have different memory");
            }
        }
        let node_numbers: Vec<u16> = self.nodes.iter().map(|node| node.id.0).collect();
        let cpu_numbers: Vec<u16> = self.nodes.iter().flat_map(|node| &node.cpus).map(|cpu| cpu.0).collect();
        let node_attributes = attributes(&[
            (first.memory.0 > 0).then(|| format!("memory={}", first.memory.0)),
            indexes(&node_numbers),
        ]);
        let processor = &self.processor;
        let mut text = format!("Package:{} [NUMANode{node_attributes}]", self.nodes.len());
        if let Some(l3) = &processor.l3 {
            text.push_str(&format!(" L3Cache:1(size={})", l3.size.0));
        }
        text.push_str(&format!(
            " L2Cache:{}(size={}) L1dCache:1(size={}) Core:1 PU:1{}",
            first.cpus.len(),
            processor.l2.size.0,
            processor.l1.size.0,
            attributes(&[indexes(&cpu_numbers)])
        ));
        Ok(text)
    }
}

fn attributes(given: &[Option<String>]) -> String {
    let given: Vec<&str> = given.iter().flatten().map(String::as_str).collect();
    if given.is_empty() { String::new() } else { format!("({})", given.join(" ")) }
}

/// The numbers, unless they are 0, 1, 2, ...
fn indexes(numbers: &[u16]) -> Option<String> {
    let is_counted_up = numbers.iter().enumerate().all(|(place, &number)| place == usize::from(number));
    let list: Vec<String> = numbers.iter().map(u16::to_string).collect();
    (!is_counted_up).then(|| format!("indexes={}", list.join(",")))
}
