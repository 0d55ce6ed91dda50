//! Where striping puts a page: the one definition for the advisor, which predicts it, and the runtimes, which do it.

use olifant_machine::NodeId;

/// The node of a virtual page (address divided by the page size) that is striped by `pages` pages over `nodes` (those
/// with memory, ascending). Going by the address rather than by the area, neighbouring areas of odd sizes keep all
/// nodes equally loaded.
/// # Panics  If there is no node, or if `pages` is 0.
pub fn striped_node(virtual_page: u64, pages: u32, nodes: &[NodeId]) -> NodeId {
    let stripe = virtual_page / u64::from(pages);
    let position = stripe % nodes.len() as u64;
    // A remainder by the length is an index.
    #[allow(clippy::cast_possible_truncation)]
    nodes[position as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_go_round_the_nodes() {
        let nodes = [NodeId(0), NodeId(2), NodeId(5)];
        let homes = |pages| -> Vec<u16> { (0..8).map(|page| striped_node(page, pages, &nodes).0).collect() };
        assert_eq!(homes(1), [0, 2, 5, 0, 2, 5, 0, 2]);
        assert_eq!(homes(3), [0, 0, 0, 2, 2, 2, 5, 5]);
    }
}
