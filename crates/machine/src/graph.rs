//! The network as a graph: vertices numbered densely, distances in links by breadth-first search.

use crate::{Link, Vertex};
use std::collections::HashMap;

/// A distance that means "no way there".
pub(crate) const UNREACHABLE: usize = usize::MAX;

/// Adjacency of the network's vertices.
pub(crate) struct Graph {
    /// The dense number of each vertex that is an end of a link.
    numbers: HashMap<Vertex, usize>,
    /// For each vertex, the links that leave it as (link index, vertex at the other end), ascending by link.
    pub(crate) leaving: Vec<Vec<(usize, usize)>>,
    /// For each vertex, the links that enter it, likewise.
    pub(crate) entering: Vec<Vec<(usize, usize)>>,
}

impl Graph {
    /// The graph of `links`, with `others` as vertices too even where no link touches them.
    pub(crate) fn new(links: &[Link], others: impl IntoIterator<Item = Vertex>) -> Self {
        let mut numbers = HashMap::new();
        for end in links.iter().flat_map(|link| [link.from, link.to]).chain(others) {
            let next = numbers.len();
            numbers.entry(end).or_insert(next);
        }
        let mut leaving = vec![Vec::new(); numbers.len()];
        let mut entering = vec![Vec::new(); numbers.len()];
        for (index, link) in links.iter().enumerate() {
            let (from, to) = (numbers[&link.from], numbers[&link.to]);
            leaving[from].push((index, to));
            entering[to].push((index, from));
        }
        Graph { numbers, leaving, entering }
    }

    /// The dense number of a vertex.
    pub(crate) fn number(&self, vertex: Vertex) -> usize {
        self.numbers[&vertex]
    }

    /// The number of links from each vertex to `goal`, [`UNREACHABLE`] where there is no way.
    pub(crate) fn hops_to(&self, goal: usize) -> Vec<usize> {
        breadth_first(goal, &self.entering)
    }

    /// The number of links from `start` to each vertex, [`UNREACHABLE`] where there is no way.
    pub(crate) fn hops_from(&self, start: usize) -> Vec<usize> {
        breadth_first(start, &self.leaving)
    }
}

fn breadth_first(start: usize, edges: &[Vec<(usize, usize)>]) -> Vec<usize> {
    let mut hops = vec![UNREACHABLE; edges.len()];
    hops[start] = 0;
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(vertex) = queue.pop_front() {
        for &(_, next) in &edges[vertex] {
            if hops[next] == UNREACHABLE {
                hops[next] = hops[vertex] + 1;
                queue.push_back(next);
            }
        }
    }
    hops
}
