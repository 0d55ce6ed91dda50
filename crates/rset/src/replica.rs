//! Read-mostly data with a copy on each node of a set, and new versions published without stopping readers.
//!
//! A reader takes its own node's copy; taking it touches only memory of that node's slot. Publishing builds all copies
//! first, then puts them in place node by node: a reader sees either version whole, never a mixture, and for that moment
//! readers on two nodes may see different ones. A version lives until its last reader lets go. This generalises the
//! replicated matrix of the 1999 paper on the prototype, section 5.

use crate::System;
use crate::error::{Cause, Error, Result};
use crate::read_back::ReadBack;
use crate::region::{Region, RegionOptions};
use core::ops::Deref;
use olifant_machine::{NodeId, NodeSet};
use olifant_placement::{ResourceSet, Spread};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Bytes with a copy on each node of a set.
#[derive(Debug)]
pub struct Replicated {
    system: System,
    slots: Vec<Slot>,
    /// The place of the nearest slot, by node number.
    nearest: Vec<usize>,
    /// The version that was published last; held while one is.
    version: Mutex<u64>,
}

/// A node's copy. Two cache lines wide, so that readers of different nodes share none, adjacent-line prefetch included.
#[derive(Debug)]
#[repr(align(128))]
struct Slot {
    node: NodeId,
    current: RwLock<Arc<Copy>>,
}

#[derive(Debug)]
struct Copy {
    region: Region,
    bytes: usize,
    version: u64,
}

/// A version of the data, as one node has it; it stays as it is while this is held.
#[derive(Debug, Clone)]
pub struct Reading(Arc<Copy>);

impl Replicated {
    /// Copies `bytes` to each node of the set.
    /// # Errors  [`Error::Refused`] if the set has no memory, if the data is empty, or if a copy cannot be had on its
    /// node: then there is none.
    pub fn new(system: &System, set: &ResourceSet, bytes: &[u8]) -> Result<Replicated> {
        if set.nodes.is_empty() {
            return Err(Error::refused("replicate data", Cause::Empty { needs: "memory" }));
        }
        let copies = copies(system, &set.nodes, bytes, 1)?;
        let slots: Vec<Slot> = set
            .nodes
            .iter()
            .zip(copies)
            .map(|(node, copy)| Slot { node, current: RwLock::new(copy) })
            .collect();
        let hierarchy = system.hierarchy();
        let last = hierarchy.nodes().last().map_or(0, |node| node.id.index());
        let mut nearest = vec![0; last + 1];
        for node in hierarchy.nodes() {
            let mut order = hierarchy.by_distance(node.id).into_iter();
            let place = order.find_map(|near| slots.iter().position(|slot| slot.node == near));
            nearest[node.id.index()] = place.unwrap_or(0);
        }
        Ok(Replicated { system: system.clone(), slots, nearest, version: Mutex::new(1) })
    }

    /// The copy of the calling thread's node, or of the nearest node that has one.
    /// # Errors  [`Error::Refused`] where the kernel does not tell where the thread is.
    pub fn read(&self) -> Result<Reading> {
        let (_, here) = self.system.here()?;
        // A node that came online since the machine was found reads the first copy; any is as good.
        let slot = &self.slots[self.nearest.get(here.index()).copied().unwrap_or(0)];
        Ok(Reading(slot.current.read().unwrap_or_else(PoisonError::into_inner).clone()))
    }

    /// Replaces the data on all nodes; gives the number of the new version, counted from 1.
    /// # Errors  As [`Replicated::new`]; then all readers go on with the version before.
    pub fn publish(&self, bytes: &[u8]) -> Result<u64> {
        let mut version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes: NodeSet = self.slots.iter().map(|slot| slot.node).collect();
        let new = copies(&self.system, &nodes, bytes, *version + 1)?;
        for (slot, copy) in self.slots.iter().zip(new) {
            *slot.current.write().unwrap_or_else(PoisonError::into_inner) = copy;
        }
        *version += 1;
        Ok(*version)
    }

    /// Where the pages of the current copies are, node by node.
    /// # Errors  [`Error::Refused`] under a seccomp filter.
    pub fn read_back(&self) -> Result<Vec<(NodeId, ReadBack)>> {
        let found = |slot: &Slot| {
            let copy = slot.current.read().unwrap_or_else(PoisonError::into_inner).clone();
            Ok((slot.node, copy.region.read_back(&self.system)?))
        };
        self.slots.iter().map(found).collect()
    }
}

/// A copy for each node, ascending; each was read back and is on its node as a whole.
fn copies(system: &System, nodes: &NodeSet, bytes: &[u8], version: u64) -> Result<Vec<Arc<Copy>>> {
    if bytes.is_empty() {
        return Err(Error::invalid("replicate data", "there are no bytes"));
    }
    let copy = |node: NodeId| {
        let spread = Spread::Within([node].into_iter().collect());
        let options = RegionOptions { populate: true, ..Default::default() };
        let (mut region, found) = system.allocate_spread(bytes.len(), spread, &options)?;
        if let Some((cause, pages)) = found.causes.into_iter().next() {
            return Err(Error::refused(format!("copy {pages} pages to node {node}"), cause));
        }
        region.as_mut_slice()[..bytes.len()].copy_from_slice(bytes);
        Ok(Arc::new(Copy { region, bytes: bytes.len(), version }))
    };
    nodes.iter().map(copy).collect()
}

impl Reading {
    /// The version, counted from 1.
    pub fn version(&self) -> u64 {
        self.0.version
    }
}

impl Deref for Reading {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.region.as_slice()[..self.0.bytes]
    }
}
