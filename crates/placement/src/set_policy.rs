//! How the memory of a resource set is used: the policies of [`MemoryPolicy`] and proportions.
//!
//! Text: as [`MemoryPolicy`], and `weighted:0=3,1=1` (three pages on node 0 for each on node 1). What is displayed
//! reads back to the same value. Which node a page gets is [`SetPolicy::home`], one rule for whoever places pages and
//! whoever checks them.

use crate::{MemoryPolicy, PolicyError, striped_node};
use core::fmt;
use core::str::FromStr;
use olifant_machine::{NodeId, NodeSet};

/// Which nodes of a set back the pages of a range.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SetPolicy {
    /// Any node of the set.
    Any,
    /// The node of the thread that touches a page first, if the set has its memory, else the nearest of the set.
    FirstTouch,
    /// The node of the thread that asks, likewise.
    Local,
    /// The nodes of the set other than that of the thread that asks, page by page.
    Remote,
    /// Each `pages` pages on the next node in turn.
    Striped {
        /// Pages per stripe, at least 1.
        pages: u32,
    },
    /// In proportion: so many pages on each node in turn. At least one weight is above 0; a node occurs once.
    Weighted(Vec<(NodeId, u16)>),
    /// This node, which the set has.
    Node(NodeId),
}

/// Where a page may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// On this node.
    Node(NodeId),
    /// On any of these.
    Nodes(NodeSet),
}

/// A policy that a set cannot follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyMisfit {
    /// The set has no memory that the policy could use.
    #[error("policy {policy} needs memory, and the set has none for it (nodes: {nodes})")]
    NoMemory {
        /// The policy.
        policy: SetPolicy,
        /// The nodes of the set.
        nodes: NodeSet,
    },
    /// The policy names nodes outside the set.
    #[error("policy {policy} names nodes {outside}, which the set does not have (nodes: {nodes})")]
    Outside {
        /// The policy.
        policy: SetPolicy,
        /// The nodes that are not there.
        outside: NodeSet,
        /// The nodes of the set.
        nodes: NodeSet,
    },
}

/// A policy made definite: for a set and for the thread that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spread {
    /// Every page on one of these nodes, whichever.
    Within(NodeSet),
    /// Each `pages` pages on the next of these nodes, by virtual page number (see [`striped_node`]).
    Striped {
        /// The nodes in turn.
        nodes: Vec<NodeId>,
        /// Pages per stripe.
        pages: u32,
    },
    /// The nodes in turn, so many pages each, by virtual page number.
    Weighted(Vec<(NodeId, u16)>),
}

impl SetPolicy {
    /// What the policy means for the memory nodes of a set, asked by a thread whose nearest memory in the set is
    /// `local`.
    /// # Errors  [`PolicyMisfit`]
    pub fn spread(&self, nodes: &NodeSet, local: &NodeSet) -> Result<Spread, PolicyMisfit> {
        let fitting = |used: NodeSet| {
            if used.is_empty() {
                return Err(PolicyMisfit::NoMemory { policy: self.clone(), nodes: nodes.clone() });
            }
            let outside = used.difference(nodes);
            if outside.is_empty() {
                return Ok(used);
            }
            Err(PolicyMisfit::Outside { policy: self.clone(), outside, nodes: nodes.clone() })
        };
        Ok(match self {
            SetPolicy::Any | SetPolicy::FirstTouch => Spread::Within(fitting(nodes.clone())?),
            SetPolicy::Local => Spread::Within(fitting(local.intersection(nodes))?),
            SetPolicy::Remote => {
                let others = fitting(nodes.difference(local))?;
                Spread::Striped { nodes: others.iter().collect(), pages: 1 }
            }
            SetPolicy::Striped { pages } => {
                let all = fitting(nodes.clone())?;
                Spread::Striped { nodes: all.iter().collect(), pages: (*pages).max(1) }
            }
            SetPolicy::Weighted(weights) => {
                let used: Vec<(NodeId, u16)> =
                    weights.iter().copied().filter(|&(_, weight)| weight > 0).collect();
                fitting(used.iter().map(|&(node, _)| node).collect())?;
                Spread::Weighted(used)
            }
            SetPolicy::Node(node) => Spread::Within(fitting([*node].into_iter().collect())?),
        })
    }
}

impl Spread {
    /// All nodes that pages may be on.
    pub fn nodes(&self) -> NodeSet {
        match self {
            Spread::Within(nodes) => nodes.clone(),
            Spread::Striped { nodes, .. } => nodes.iter().copied().collect(),
            Spread::Weighted(weights) => weights.iter().map(|&(node, _)| node).collect(),
        }
    }

    /// Whether a page with this number is at home on `node`.
    pub fn is_home(&self, virtual_page: u64, node: NodeId) -> bool {
        match self {
            Spread::Within(nodes) => nodes.contains(node),
            Spread::Striped { .. } | Spread::Weighted(_) => self.home(virtual_page) == Home::Node(node),
        }
    }

    /// Where a page belongs, by its number (address divided by the size of the unit that is placed).
    pub fn home(&self, virtual_page: u64) -> Home {
        match self {
            Spread::Within(nodes) => match (nodes.first(), nodes.len()) {
                (Some(node), 1) => Home::Node(node),
                _ => Home::Nodes(nodes.clone()),
            },
            Spread::Striped { nodes, pages } => Home::Node(striped_node(virtual_page, *pages, nodes)),
            Spread::Weighted(weights) => {
                let cycle: u64 = weights.iter().map(|&(_, weight)| u64::from(weight)).sum();
                let mut place = virtual_page % cycle;
                for &(node, weight) in weights {
                    match place.checked_sub(u64::from(weight)) {
                        Some(further) => place = further,
                        None => return Home::Node(node),
                    }
                }
                Home::Nodes(self.nodes())
            }
        }
    }
}

impl From<MemoryPolicy> for SetPolicy {
    fn from(policy: MemoryPolicy) -> Self {
        match policy {
            MemoryPolicy::FirstTouch => SetPolicy::FirstTouch,
            MemoryPolicy::Local => SetPolicy::Local,
            MemoryPolicy::Remote => SetPolicy::Remote,
            MemoryPolicy::Any => SetPolicy::Any,
            MemoryPolicy::Striped { pages } => SetPolicy::Striped { pages },
            MemoryPolicy::Node(node) => SetPolicy::Node(node),
        }
    }
}

/// What a policy of a set may be, for messages.
const FORMS: &str = "first-touch, local, remote, any, striped[:PAGES], node:N, weighted:NODE=WEIGHT,...";
const WEIGHTED: &str = "weighted:";

impl FromStr for SetPolicy {
    type Err = PolicyError;

    /// Reads a policy.
    /// # Errors  [`PolicyError`] points at the first character in doubt and lists what is accepted.
    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let Some(list) = text.strip_prefix(WEIGHTED) else {
            let policy: MemoryPolicy =
                text.parse().map_err(|error| PolicyError { accepted: FORMS, ..error })?;
            return Ok(policy.into());
        };
        let fail = |at: usize, problem: String| PolicyError {
            kind: "memory policy",
            text: text.to_owned(),
            character: text[..at].chars().count() + 1,
            problem,
            accepted: FORMS,
        };
        let mut weights: Vec<(NodeId, u16)> = Vec::new();
        let mut at = WEIGHTED.len();
        for part in list.split(',') {
            let number = |text: &str| if is_digits(text) { text.parse::<u16>().ok() } else { None };
            let pair = part.split_once('=').and_then(|(node, weight)| Some((number(node)?, number(weight)?)));
            let Some((node, weight)) = pair else {
                return Err(fail(at, format!("{part:?} is not NODE=WEIGHT, as 0=3")));
            };
            if weights.iter().any(|&(known, _)| known == NodeId(node)) {
                return Err(fail(at, format!("node {node} occurs twice")));
            }
            weights.push((NodeId(node), weight));
            at += part.len() + 1;
        }
        if weights.iter().all(|&(_, weight)| weight == 0) {
            return Err(fail(WEIGHTED.len(), "at least one weight is above 0".to_owned()));
        }
        Ok(SetPolicy::Weighted(weights))
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for SetPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = match self {
            SetPolicy::Any => MemoryPolicy::Any,
            SetPolicy::FirstTouch => MemoryPolicy::FirstTouch,
            SetPolicy::Local => MemoryPolicy::Local,
            SetPolicy::Remote => MemoryPolicy::Remote,
            SetPolicy::Striped { pages } => MemoryPolicy::Striped { pages: *pages },
            SetPolicy::Node(node) => MemoryPolicy::Node(*node),
            SetPolicy::Weighted(weights) => {
                f.write_str(WEIGHTED)?;
                for (place, (node, weight)) in weights.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(f, "{comma}{node}={weight}")?;
                }
                return Ok(());
            }
        };
        plain.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nodes(text: &str) -> NodeSet {
        text.parse().unwrap()
    }

    fn homes(policy: &str, pages: u64) -> Vec<u16> {
        let spread = policy.parse::<SetPolicy>().unwrap().spread(&nodes("0,2,5"), &nodes("2")).unwrap();
        let node = |page| match spread.home(page) {
            Home::Node(node) => node.0,
            Home::Nodes(nodes) => panic!("page {page} may be on {nodes}"),
        };
        (0..pages).map(node).collect()
    }

    #[test]
    fn every_policy_means_definite_nodes() {
        assert_eq!(homes("striped", 4), [0, 2, 5, 0]);
        assert_eq!(homes("striped:2", 7), [0, 0, 2, 2, 5, 5, 0]);
        assert_eq!(homes("weighted:0=2,5=1", 6), [0, 0, 5, 0, 0, 5]);
        assert_eq!(homes("remote", 4), [0, 5, 0, 5]);
        assert_eq!(homes("local", 2), [2, 2]);
        assert_eq!(homes("node:5", 2), [5, 5]);
        let any = SetPolicy::Any.spread(&nodes("0,2"), &nodes("2")).unwrap();
        assert_eq!(any.home(9), Home::Nodes(nodes("0,2")));
    }

    #[test]
    fn a_policy_that_a_set_cannot_follow_is_refused() {
        let misfit = |policy: &str, set: &str| {
            policy.parse::<SetPolicy>().unwrap().spread(&nodes(set), &nodes("0")).unwrap_err().to_string()
        };
        assert_eq!(
            misfit("node:3", "0-1"),
            "policy node:3 names nodes 3, which the set does not have (nodes: 0-1)"
        );
        assert_eq!(
            misfit("remote", "0"),
            "policy remote needs memory, and the set has none for it (nodes: 0)"
        );
        assert!(misfit("weighted:0=1,7=1", "0-1").contains("names nodes 7"));
        assert!(misfit("any", "").contains("needs memory"));
    }

    #[test]
    fn errors_in_weights_point_at_the_character() {
        let error = |text: &str| text.parse::<SetPolicy>().unwrap_err();
        assert_eq!((error("weighted:0=1,x=2").character, error("weighted:").character), (14, 10));
        assert!(error("weighted:0=1,0=2").problem.contains("node 0 occurs twice"));
        assert!(error("weighted:0=0").problem.contains("above 0"));
        assert!(error("stiped").to_string().ends_with("weighted:NODE=WEIGHT,..."));
    }

    proptest! {
        #[test]
        fn weights_read_back_and_hold_over_a_cycle(
            weights in prop::collection::btree_map(0_u16..1024, 0_u16..20, 1..9),
        ) {
            prop_assume!(weights.values().any(|&weight| weight > 0));
            let weights: Vec<(NodeId, u16)> = weights.into_iter().map(|(node, weight)| (NodeId(node), weight)).collect();
            let policy = SetPolicy::Weighted(weights.clone());
            prop_assert_eq!(policy.to_string().parse(), Ok(policy.clone()));
            let all: NodeSet = weights.iter().map(|&(node, _)| node).collect();
            let spread = policy.spread(&all, &all).unwrap();
            let cycle: u64 = weights.iter().map(|&(_, weight)| u64::from(weight)).sum();
            for (node, weight) in weights {
                let count = (7..7 + cycle).filter(|&page| spread.is_home(page, node)).count();
                prop_assert_eq!(count, usize::from(weight));
            }
        }
    }
}
