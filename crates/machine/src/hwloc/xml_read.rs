//! From hwloc XML, version 1 or 2, to a [`Structure`].
//!
//! Version 1 nests packages in NUMA nodes and calls them sockets, version 2 hangs NUMA nodes beside the caches; both
//! give each object a cpuset, and that is what counts here. Cpus and nodes that are not online or not allowed are not
//! in the root's cpuset and nodeset and are left out. The first cache of each level stands for all.

use super::HwlocError;
use crate::structure::{LocalNode, with_owned_cpus};
use crate::{Bytes, CacheShape, CpuId, CpuSet, Hertz, NodeId, SetSyntaxError, Structure};
use roxmltree::{Document, Node, ParsingOptions};

impl Structure {
    /// Reads hwloc XML.
    /// # Errors  [`HwlocError::Xml`] names the line and what is wrong there.
    pub fn from_hwloc_xml(text: &str) -> Result<Structure, HwlocError> {
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options).map_err(|error| not_xml(text, &error))?;
        let topology = document.root_element();
        if !topology.has_tag_name("topology") {
            return Err(wrong(topology, "the outermost element is not <topology>"));
        }
        let machine = topology.children().find(|child| is_object(*child, &["Machine", "System"]));
        let machine = machine.ok_or_else(|| wrong(topology, "there is no object of type Machine"))?;
        let locals = local_nodes(machine)?;
        let nodes = with_owned_cpus(locals);
        let distances = distances(topology, &nodes)?;
        let infos = || topology.descendants().filter(|element| element.has_tag_name("info"));
        let info = |name: &str| {
            infos().find(|info| info.attribute("name") == Some(name)).and_then(|info| info.attribute("value"))
        };
        let megahertz = info("FrequencyMaxMHz").and_then(|text| text.parse::<f64>().ok());
        // Whole hertz survive the way through megahertz with a fraction.
        let clock = megahertz.map(|megahertz| Hertz((megahertz * 1e6).round()));
        Ok(Structure {
            description: info("Description")
                .or_else(|| info("CPUModel").map(str::trim))
                .unwrap_or_default()
                .to_owned(),
            l1: cache(machine, 1)?,
            l2: cache(machine, 2)?,
            l3: cache(machine, 3)?,
            clock,
            page: page(machine)?,
            nodes,
            distances,
        })
    }
}

/// The parser gives no place for a text that is cut off; that is its end.
fn not_xml(text: &str, error: &roxmltree::Error) -> HwlocError {
    let is_cut_off =
        matches!(error, roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::UnclosedRootNode);
    let last_line = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let line = if is_cut_off { last_line.max(1) } else { error.pos().row };
    HwlocError::Xml { line, problem: format!("not valid XML: {error}") }
}

fn is_object(element: Node<'_, '_>, kinds: &[&str]) -> bool {
    element.has_tag_name("object") && element.attribute("type").is_some_and(|kind| kinds.contains(&kind))
}

fn local_nodes(machine: Node<'_, '_>) -> Result<Vec<LocalNode>, HwlocError> {
    let online = cpuset(machine)?;
    let mut cpus = CpuSet::new();
    for pu in machine.descendants().filter(|element| is_object(*element, &["PU"])) {
        cpus.insert(CpuId(required(pu, "os_index")?));
    }
    // A whole machine's set may be absent in hand-made files; the PUs then say it all.
    if let Some(online) = online {
        cpus = cpus.intersection(&online);
    }
    if cpus.is_empty() {
        return Err(wrong(machine, "there is no usable PU"));
    }
    let mut locals = Vec::new();
    let mut ids = crate::NodeSet::new();
    for numa in machine.descendants().filter(|element| is_object(*element, &["NUMANode"])) {
        let local = cpuset(numa)?.unwrap_or_default().intersection(&cpus);
        let memory = Bytes(number(numa, "local_memory")?.unwrap_or(0));
        let id = NodeId(required(numa, "os_index")?);
        if !ids.insert(id) {
            return Err(wrong(numa, format!("a second NUMANode with os_index {id}")));
        }
        locals.push(LocalNode { id, cpus: local, memory });
    }
    if locals.is_empty() {
        // Version 1 has no NUMA nodes where there is only one.
        let memory = Bytes(number(machine, "local_memory")?.unwrap_or(0));
        locals.push(LocalNode { id: NodeId(0), cpus: cpus.clone(), memory });
    }
    let near_some_node = locals.iter().fold(CpuSet::new(), |near, local| near.union(&local.cpus));
    let stray = cpus.difference(&near_some_node);
    if !stray.is_empty() {
        return Err(wrong(machine, format!("cpus {stray} are in no NUMANode's cpuset")));
    }
    Ok(locals)
}

/// The first data or unified cache of a level.
fn cache(machine: Node<'_, '_>, depth: u64) -> Result<Option<CacheShape>, HwlocError> {
    const INSTRUCTION: u64 = 2;
    for element in machine.descendants() {
        let is_cache = element.attribute("type").is_some_and(|kind| kind.ends_with("Cache"));
        if !is_cache
            || number(element, "depth")? != Some(depth)
            || number(element, "cache_type")? == Some(INSTRUCTION)
        {
            continue;
        }
        let Some(size) = number(element, "cache_size")?.filter(|&size| size > 0) else { continue };
        let line = number(element, "cache_linesize")?.filter(|&line| line > 0).map(Bytes);
        // 0 is unknown; -1, fully associative, has no fixed number of ways.
        let ways = element
            .attribute("cache_associativity")
            .and_then(|ways| ways.parse().ok())
            .filter(|&ways| ways > 0);
        return Ok(Some(CacheShape { size: Bytes(size), ways, line }));
    }
    Ok(None)
}

/// The smallest page that some node has.
fn page(machine: Node<'_, '_>) -> Result<Option<Bytes>, HwlocError> {
    let mut smallest = None;
    for page in machine.descendants().filter(|element| element.has_tag_name("page_type")) {
        let size = number(page, "size")?.filter(|&size| size > 0);
        smallest = [smallest, size].into_iter().flatten().min();
    }
    Ok(smallest.map(Bytes))
}

/// The first matrix over exactly our nodes, in the order of their ids; matrices of bandwidths are passed over.
fn distances(topology: Node<'_, '_>, nodes: &[crate::Node]) -> Result<Option<Vec<Vec<u64>>>, HwlocError> {
    const MEANS_BANDWIDTH: u64 = 8;
    for matrix in topology.descendants() {
        let found = if matrix.has_tag_name("distances2") && matrix.attribute("type") == Some("NUMANode") {
            if number(matrix, "kind")?.is_some_and(|kind| kind & MEANS_BANDWIDTH != 0) {
                continue;
            }
            matrix_by_os_index(matrix, nodes)?
        } else if matrix.has_tag_name("distances") {
            matrix_by_place(matrix, nodes)?
        } else {
            continue;
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Version 2: numbers of the objects, then the values row by row, either in several pieces. hwloc writes a leading
/// position for other indexing; what does not match our nodes is passed over.
fn matrix_by_os_index(
    matrix: Node<'_, '_>,
    nodes: &[crate::Node],
) -> Result<Option<Vec<Vec<u64>>>, HwlocError> {
    let listed = |name: &str| -> Result<Vec<u64>, HwlocError> {
        let mut numbers = Vec::new();
        for piece in matrix.children().filter(|child| child.has_tag_name(name)) {
            for word in piece.text().unwrap_or_default().split_ascii_whitespace() {
                numbers.push(word.parse().map_err(|_| wrong(piece, format!("{word:?} is not a number")))?);
            }
        }
        Ok(numbers)
    };
    let (indexes, values) = (listed("indexes")?, listed("u64values")?);
    if values.len() != indexes.len() * indexes.len() {
        return Err(wrong(matrix, format!("{} values for {} objects", values.len(), indexes.len())));
    }
    let place = |node: &crate::Node| indexes.iter().position(|&index| index == u64::from(node.id.0));
    let Some(places) = nodes.iter().map(place).collect::<Option<Vec<usize>>>() else { return Ok(None) };
    let row = |&from: &usize| places.iter().map(|&to| values[from * indexes.len() + to]).collect();
    Ok((nodes.len() > 1).then(|| places.iter().map(row).collect()))
}

/// Version 1: one `<latency value="..."/>` per pair, nodes in the order in which they stand in the file. Values are
/// ratios; they are kept as thousandths.
fn matrix_by_place(matrix: Node<'_, '_>, nodes: &[crate::Node]) -> Result<Option<Vec<Vec<u64>>>, HwlocError> {
    let mut values = Vec::new();
    for latency in matrix.children().filter(|child| child.has_tag_name("latency")) {
        let value: f64 = required(latency, "value")?;
        // A float-to-int `as` saturates, so an absurd ratio cannot wrap.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        values.push((value * 1000.0).round() as u64);
    }
    let count = nodes.len();
    if count < 2 || values.len() != count * count {
        return Ok(None);
    }
    let objects = matrix.document().descendants().filter(|element| is_object(*element, &["NUMANode"]));
    let order: Vec<u16> = objects.map(|numa| required(numa, "os_index")).collect::<Result<_, _>>()?;
    let place = |node: &crate::Node| order.iter().position(|&id| id == node.id.0);
    let Some(places) = nodes.iter().map(place).collect::<Option<Vec<usize>>>() else { return Ok(None) };
    let row = |&from: &usize| places.iter().map(|&to| values[from * count + to]).collect();
    Ok(Some(places.iter().map(row).collect()))
}

fn cpuset(element: Node<'_, '_>) -> Result<Option<CpuSet>, HwlocError> {
    let Some(mask) = element.attribute("cpuset") else { return Ok(None) };
    let parsed = CpuSet::from_mask(mask).map(Some);
    parsed.map_err(|error: SetSyntaxError| wrong(element, format!("cpuset: {error}")))
}

fn number(element: Node<'_, '_>, name: &str) -> Result<Option<u64>, HwlocError> {
    element.attribute(name).map(|_| required(element, name)).transpose()
}

fn required<T: core::str::FromStr>(element: Node<'_, '_>, name: &str) -> Result<T, HwlocError> {
    let value =
        element.attribute(name).ok_or_else(|| wrong(element, format!("attribute {name} is missing")))?;
    value.parse().map_err(|_| wrong(element, format!("{name} = {value:?}: not a number in range")))
}

fn wrong(element: Node<'_, '_>, problem: impl Into<String>) -> HwlocError {
    let line = element.document().text_pos_at(element.range().start).row;
    HwlocError::Xml { line, problem: problem.into() }
}
