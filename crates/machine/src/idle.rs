//! Idle times in closed form: what one access costs when nothing else moves, from the machine's numbers alone.
//!
//! A read that misses the caches takes the memory's latency at its home. From another node, a request and a response
//! cross the network first and last; each passes two coherence units, every link's latency on its route, and once the
//! time of its own length on the slowest of those links (cut-through). The reader's own bus carries the request before
//! all that and the line after it. Left out: waiting, and copies in other caches.

use crate::{Bytes, Machine, Nanos, NodeId, Routes, Unreachable};

impl Machine {
    /// The idle time of a read by a processor of `from` of a line whose home is `home` and that no cache holds; for a
    /// remote one, without the reader's own bus ([`Machine::idle_bus`]).
    /// # Panics  If `routes` are not those of this machine.
    pub fn idle_read(&self, routes: &Routes, from: NodeId, home: NodeId) -> Nanos {
        if from == home {
            return self.memory.latency;
        }
        let there = self.idle_packet(routes, from, home, self.coherence.request);
        let back = self.idle_packet(routes, home, from, self.coherence.response);
        Nanos(there.0 + self.memory.latency.0 + back.0)
    }

    /// What a remote read adds on the reader's own bus: a request without data, and a line.
    pub fn idle_bus(&self) -> Nanos {
        Nanos(self.memory.address_only.0 + self.memory.bandwidth.time_for(self.processor.l2.line).0)
    }

    /// Row a, column b: the idle time of a read by node a of node b's memory, its own bus included, in nanoseconds,
    /// rounded.
    /// # Errors  [`Unreachable`] if the network does not join all nodes.
    pub fn idle_read_matrix(&self) -> Result<Vec<Vec<u64>>, Unreachable> {
        let ids: Vec<NodeId> = self.nodes.iter().map(|node| node.id).collect();
        let routes = Routes::new(&self.network, &ids)?;
        let bus = self.idle_bus().0;
        let time = |from: NodeId, home: NodeId| {
            let own_bus = if from == home { 0.0 } else { bus };
            whole(self.idle_read(&routes, from, home).0 + own_bus)
        };
        Ok(ids.iter().map(|&from| ids.iter().map(|&home| time(from, home)).collect()).collect())
    }

    /// The idle time of one packet between two different nodes.
    /// # Panics  If `routes` are not those of this machine.
    pub fn idle_packet(&self, routes: &Routes, from: NodeId, to: NodeId, size: Bytes) -> Nanos {
        let links = routes.links(from, to).iter().map(|&link| &self.network.links[link]);
        let flight: f64 = links.clone().map(|link| link.latency.0).sum();
        let length = links.map(|link| link.bandwidth.time_for(size).0).fold(0.0, f64::max);
        Nanos(2.0 * self.coherence.latency.0 + flight + length)
    }
}

/// The nearest whole number.
fn whole(number: f64) -> u64 {
    // A float-to-int `as` saturates, so an absurd time cannot wrap.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = number.round() as u64;
    whole
}
