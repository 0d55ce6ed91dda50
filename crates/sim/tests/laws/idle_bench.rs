//! One access by itself on an idle machine, and the closed forms of how long it takes, from the machine file alone.

use crate::catalogued;
use olifant_machine::{Bytes, Machine, Nanos, NodeId, Routes};
use olifant_placement::MemoryPolicy;
use olifant_sim::{Engine, Increment};

/// Page p lives on node p modulo the number of nodes.
const STRIPED: MemoryPolicy = MemoryPolicy::Striped { pages: 1 };
/// Far enough apart that nothing of one access is left at the next.
const REST: u64 = 50_000;

/// An engine and the numbers of its machine file in cycles.
pub struct Bench {
    pub machine: Machine,
    pub routes: Routes,
    pub engine: Engine<()>,
    time: u64,
    next_page: u64,
}

impl Bench {
    pub fn new(machine: Machine) -> Self {
        let ids: Vec<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
        Self {
            routes: Routes::new(&machine.network, &ids).unwrap(),
            engine: Engine::new(&machine, STRIPED, 1, 3, ()).unwrap(),
            machine,
            time: 0,
            next_page: 1 << 16,
        }
    }

    pub fn catalogued(name: &str, configuration: &str) -> Self {
        Self::new(catalogued(name, configuration))
    }

    /// First processor of a node.
    pub fn cpu(&self, node: usize) -> usize {
        (0..self.engine.cpus())
            .find(|&cpu| usize::from(self.engine.node_of(cpu)) == node)
            .expect("no empty nodes")
    }

    /// Address of a fresh line with home `home`, its page known to the TLBs of `users`.
    pub fn line(&mut self, home: usize, users: &[usize]) -> u64 {
        let nodes = self.machine.nodes.len() as u64;
        let page = self.next_page.next_multiple_of(nodes) + home as u64;
        // Accesses beside the line may touch the pages behind it.
        self.next_page = page + 64;
        let address = page * self.machine.os.page.0;
        for &cpu in users {
            self.access(cpu, address + self.machine.os.page.0 / 2, false);
        }
        if let Some(translation) = self.engine.pages().lookup(address) {
            assert_eq!(usize::from(translation.home()), home);
        }
        address
    }

    /// Cycles of one access, by itself, until all of it is done.
    pub fn access(&mut self, cpu: usize, address: u64, is_write: bool) -> u64 {
        self.time += REST;
        for cpu in 0..self.engine.cpus() {
            self.engine.idle_until(cpu, self.time);
        }
        let increment = if is_write { Increment::write(0) } else { Increment::read(0) };
        self.engine.access(cpu, address, increment, 0);
        self.engine.drain(cpu);
        self.engine.now(cpu) - self.time
    }

    pub fn read(&mut self, cpu: usize, address: u64) -> u64 {
        self.access(cpu, address, false)
    }

    pub fn write(&mut self, cpu: usize, address: u64) -> u64 {
        self.access(cpu, address, true)
    }

    pub fn cycles(&self, time: Nanos) -> u64 {
        time.to_cycles(self.machine.processor.clock).0
    }

    pub fn memory(&self) -> u64 {
        self.cycles(self.machine.memory.latency)
    }

    pub fn intervention(&self) -> u64 {
        self.cycles(self.machine.memory.intervention)
    }

    pub fn address_phase(&self) -> u64 {
        self.cycles(self.machine.memory.address_only)
    }

    pub fn line_phase(&self) -> u64 {
        self.cycles(self.machine.memory.bandwidth.time_for(self.machine.processor.l2.line))
    }

    pub fn unit_occupancy(&self) -> u64 {
        self.cycles(self.machine.coherence.occupancy)
    }

    /// Two units, the links' flight, and the length on the slowest link; nothing within a node.
    pub fn packet(&self, from: usize, to: usize, size: Bytes) -> u64 {
        let ids = (self.machine.nodes[from].id, self.machine.nodes[to].id);
        let links = self.routes.links(ids.0, ids.1).iter().map(|&link| &self.machine.network.links[link]);
        let flight: u64 = links.clone().map(|link| self.cycles(link.latency)).sum();
        let length = links.map(|link| self.cycles(link.bandwidth.time_for(size))).max();
        length.map_or(0, |length| 2 * self.cycles(self.machine.coherence.latency) + flight + length)
    }

    pub fn request(&self, from: usize, to: usize) -> u64 {
        self.packet(from, to, self.machine.coherence.request)
    }

    pub fn response(&self, from: usize, to: usize) -> u64 {
        self.packet(from, to, self.machine.coherence.response)
    }

    /// A read of `home`'s memory.
    pub fn idle_read(&self, from: usize, home: usize) -> u64 {
        if from == home {
            return self.memory();
        }
        self.address_phase()
            + self.request(from, home)
            + self.memory()
            + self.response(home, from)
            + self.line_phase()
    }

    /// One invalidation after another out of the home's unit, the last one answered.
    pub fn invalidation(&self, home: usize, sharer: usize, requester: usize, count: u64) -> u64 {
        (count - 1) * self.unit_occupancy()
            + self.request(home, sharer)
            + self.address_phase()
            + self.passing_on(self.address_phase())
            + self.request(sharer, requester)
    }

    /// How long a packet that answers another, `after` cycles later, waits for the unit that is still busy with that one:
    /// where a unit's occupancy is longer than its latency.
    pub fn passing_on(&self, after: u64) -> u64 {
        let latency = self.cycles(self.machine.coherence.latency);
        self.unit_occupancy().saturating_sub(latency + after)
    }
}
