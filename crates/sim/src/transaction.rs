//! Transactions: what a processor's bus request does to other caches, the directory, buses and network, and when it
//! completes. The protocol's table says what happens; here it is carried out and timed.
//!
//! Model of time: a request that leaves the node takes the bus for its address, passes the network to the home (and
//! on to an owner), takes a line's time on the bus of whoever supplies the data, and on its return a line's time on
//! the requester's bus. The processor's clock sees only the completion.

use crate::cache::{LineState, Victim};
use crate::directory::Holder;
use crate::engine::{Access, Engine};
use crate::observer::{Observer, Transaction};
use crate::pages::Translation;
use crate::protocol::{Event, INVALIDATE, Next, Others, Packet, Role, Row, State, Supplier, row};
use std::ops::ControlFlow;

/// Who takes which role in a transaction.
#[derive(Clone, Copy)]
struct Cast {
    requester: u16,
    home: u16,
    /// Node of the owner; the home where there is none.
    owner: u16,
}

impl Cast {
    fn node(self, role: Role, sharer: u16) -> u16 {
        match role {
            Role::Requester => self.requester,
            Role::Home => self.home,
            Role::Owner => self.owner,
            Role::Sharer => sharer,
        }
    }

    /// Whether no packet leaves a node.
    fn is_one_node(self) -> bool {
        self.requester == self.home && self.owner == self.home
    }
}

impl<O: Observer> Engine<O> {
    /// Carries a transaction out and charges its time; returns the state in which the requester holds the line.
    pub(crate) fn transact(
        &mut self,
        event: Event,
        access: Access,
        translation: Translation,
        line: u32,
    ) -> LineState {
        let Access { cpu, address, code, .. } = access;
        let stamp = self.cpus[cpu].level1.header_ref().stamp();
        let issued = self.cpus[cpu].clock.acquire_register(stamp);
        let (state, owner) = self.situation(cpu, translation, line);
        let row = row(event, state);
        let cast = Cast {
            requester: self.cpus[cpu].node,
            home: translation.home(),
            owner: owner.map_or(translation.home(), |owner| self.cpus[usize::from(owner)].node),
        };
        let set = self.shape.level2_set(translation.colour(), line);
        let carries_data = owner.is_some_and(|owner| {
            self.cpus[usize::from(owner)].level2.state(set, line) == Some(LineState::Modified)
        });
        let supplied = self.supply(row, cast, issued);
        let mut done = self.answer(row, cast, supplied.ready);
        let mut invalidates = false;
        match row.others {
            Others::Keep => {}
            Others::Downgrade => {
                if let Some(owner) = owner {
                    self.downgrade(owner, set, line);
                }
            }
            Others::Invalidate => {
                let (acknowledged, nodes_asked, any) =
                    self.invalidate_others(cpu, cast, set, line, supplied.home_knows);
                invalidates = any;
                if nodes_asked {
                    done = done.max(acknowledged);
                } else if matches!(row.answer, Some((_, Packet::Grant, _))) {
                    done = self.network.send(cast.home, cast.requester, Packet::Grant, supplied.ready);
                }
            }
        }
        for &(from, packet, to) in row.aside {
            self.send_aside((from, packet, to), cast, carries_data, supplied.ready);
        }
        self.count(event, access, cast);
        self.observer.transaction(&Transaction {
            cpu: cpu_number(cpu),
            node: cast.requester,
            home: cast.home,
            event,
            page: translation.slot(),
            address,
            code,
            invalidates,
            intervenes: row.supplier == Supplier::Owner,
            time: issued,
        });
        self.cpus[cpu].clock.add_miss(stamp, done, event == Event::Read);
        self.record(row, cpu, line)
    }

    /// The directory's word on a line, and what the snoop on the requester's bus adds.
    fn situation(&self, cpu: usize, translation: Translation, line: u32) -> (State, Option<u16>) {
        match self.directory.holder(line) {
            Holder::Nobody => (State::Uncached, None),
            Holder::Readers => (State::Shared, None),
            Holder::Owner(owner) if usize::from(owner) == cpu => (State::Uncached, None),
            Holder::Owner(owner) => {
                let set = self.shape.level2_set(translation.colour(), line);
                let holder = &self.cpus[usize::from(owner)];
                let is_near = holder.node == self.cpus[cpu].node;
                match (holder.level2.state(set, line).is_some(), is_near) {
                    (true, true) => (State::OwnedNear, Some(owner)),
                    (true, false) => (State::OwnedFar, Some(owner)),
                    (false, true) => (State::Uncached, None),
                    (false, false) => (State::OwnerGone, Some(owner)),
                }
            }
        }
    }

    /// The way from the request to the data at its supplier.
    fn supply(&mut self, row: &Row, cast: Cast, issued: u64) -> Supplied {
        let supplier = match row.supplier {
            Supplier::Owner => cast.owner,
            Supplier::Memory | Supplier::None => cast.home,
        };
        let latency = match row.supplier {
            Supplier::Memory => self.costs.memory,
            Supplier::Owner => self.costs.intervention,
            Supplier::None => self.costs.address_only,
        };
        let takes_line = row.supplier != Supplier::None;
        if cast.is_one_node() {
            let ready = issued + self.take_bus(supplier, takes_line, issued) + latency;
            return Supplied { ready, home_knows: issued };
        }
        let mut time = issued;
        if row.ask.iter().any(|&(from, _, to)| cast.node(from, 0) != cast.node(to, 0)) {
            time += self.take_bus(cast.requester, false, time) + self.costs.address_only;
        }
        let mut home_knows = time;
        for &(from, packet, to) in row.ask {
            time = self.network.send(cast.node(from, 0), cast.node(to, 0), packet, time);
            if to == Role::Home {
                home_knows = time;
            }
        }
        time += self.take_bus(supplier, takes_line, time) + latency;
        Supplied { ready: time, home_knows }
    }

    /// The way of the data back to the requester's bus.
    fn answer(&mut self, row: &Row, cast: Cast, ready: u64) -> u64 {
        let Some((from, packet @ Packet::Data, to)) = row.answer else { return ready };
        let (from, to) = (cast.node(from, 0), cast.node(to, 0));
        if from == to {
            return ready;
        }
        let arrived = self.network.send(from, to, packet, ready);
        arrived + self.take_bus(to, true, arrived) + self.costs.line_transfer
    }

    /// Invalidates every copy but the requester's. Returns when the last acknowledgement arrives, whether any node had
    /// to be asked, and whether any copy moved.
    fn invalidate_others(
        &mut self,
        cpu: usize,
        cast: Cast,
        set: usize,
        line: u32,
        home_knows: u64,
    ) -> (u64, bool, bool) {
        let mut holders = std::mem::take(&mut self.scratch_holders);
        holders.clear();
        self.directory.for_each(line, |holder| {
            if usize::from(holder) != cpu {
                holders.push(holder);
            }
            ControlFlow::Continue(())
        });
        let mut acknowledged = 0;
        let mut nodes_asked = false;
        let mut any = false;
        let mut asked = std::mem::take(&mut self.scratch_nodes);
        asked.clear();
        // Copies on these nodes go by a bus that the transaction passes anyway.
        asked.extend([cast.requester, cast.home, cast.owner]);
        for &holder in &holders {
            let node = self.cpus[usize::from(holder)].node;
            if !asked.contains(&node) {
                asked.push(node);
                nodes_asked = true;
                let mut time = home_knows;
                for (from, packet, to) in INVALIDATE {
                    time = self.network.send(cast.node(from, node), cast.node(to, node), packet, time);
                    if to == Role::Sharer {
                        time += self.take_bus(node, false, time) + self.costs.address_only;
                    }
                }
                acknowledged = acknowledged.max(time);
            }
            any |= self.invalidate(holder, set, line, home_knows);
        }
        self.scratch_holders = holders;
        self.scratch_nodes = asked;
        (acknowledged, nodes_asked, any)
    }

    /// Takes a line out of a processor's caches; returns whether it was there.
    fn invalidate(&mut self, holder: u16, set: usize, line: u32, time: u64) -> bool {
        let address = self.address_of(line);
        let cpu = &mut self.cpus[usize::from(holder)];
        if cpu.watched.contains(&line) {
            cpu.watched.clear();
            self.woken.push((holder, time));
        }
        let was_there = cpu.level2.remove(set, line).is_some();
        if was_there {
            cpu.level1.invalidate(address, 1 << self.shape.line_bits);
        }
        was_there
    }

    fn downgrade(&mut self, owner: u16, set: usize, line: u32) {
        let address = self.address_of(line);
        let cpu = &mut self.cpus[usize::from(owner)];
        cpu.level2.set_state(set, line, LineState::Shared);
        cpu.level1.forbid_writes(address, 1 << self.shape.line_bits);
    }

    fn send_aside(
        &mut self,
        (from, packet, to): (Role, Packet, Role),
        cast: Cast,
        carries_data: bool,
        time: u64,
    ) {
        let (from, to) = (cast.node(from, 0), cast.node(to, 0));
        if packet == Packet::CarryHome {
            if !carries_data {
                return;
            }
            // Where the home itself asked, the data that answers it also updates its memory.
            let arrived = if to == cast.requester { time } else { self.network.send(from, to, packet, time) };
            self.take_bus(to, true, arrived);
        } else if to != cast.requester {
            self.network.send(from, to, packet, time);
        }
    }

    /// A line leaves a second level: the first level lets go of it, and modified data goes home. Nobody waits.
    pub(crate) fn evict(&mut self, cpu: usize, victim: Victim) {
        let Victim { line, state } = victim;
        let address = self.address_of(line);
        let stamp = self.cpus[cpu].level1.header_ref().stamp();
        let time = self.cpus[cpu].clock.cycles(stamp);
        self.cpus[cpu].level1.invalidate(address, 1 << self.shape.line_bits);
        if self.cpus[cpu].watched.contains(&line) {
            self.cpus[cpu].watched.clear();
            self.woken.push((cpu_number(cpu), time));
        }
        if state != LineState::Modified {
            return;
        }
        let page = self.pages.page(line >> self.shape.page_line_bits);
        let (requester, home) = (self.cpus[cpu].node, page.translation.home());
        let cast = Cast { requester, home, owner: requester };
        let row = row(Event::WriteBack, State::OwnedHere);
        let begun = self.cpus[cpu].clock.acquire_buffer(stamp);
        let mut done = begun;
        if requester != home {
            done += self.take_bus(requester, true, begun) + self.costs.line_transfer;
        }
        for &(from, packet, to) in row.aside {
            done = self.network.send(cast.node(from, 0), cast.node(to, 0), packet, done);
        }
        done += self.take_bus(home, true, done) + self.costs.line_transfer;
        self.cpus[cpu].clock.add_write_back(done);
        self.directory.clear(line);
        self.count(Event::WriteBack, Access { cpu, address, code: 0, is_write: true }, cast);
        self.observer.transaction(&Transaction {
            cpu: cpu_number(cpu),
            node: requester,
            home,
            event: Event::WriteBack,
            page: page.translation.slot(),
            address,
            code: 0,
            invalidates: false,
            intervenes: false,
            time: begun,
        });
    }

    fn record(&mut self, row: &Row, cpu: usize, line: u32) -> LineState {
        let number = cpu_number(cpu);
        match row.next {
            Next::ExclusiveReader if self.costs.exclusive_on_read => {
                self.directory.set_owner(line, number);
                LineState::Exclusive
            }
            Next::ExclusiveReader if row.state == State::OwnerGone => {
                self.directory.clear(line);
                self.directory.add_reader(line, number);
                LineState::Shared
            }
            Next::Reader | Next::ExclusiveReader => {
                self.directory.add_reader(line, number);
                LineState::Shared
            }
            Next::Owner => {
                self.directory.set_owner(line, number);
                LineState::Modified
            }
            Next::Nobody => {
                self.directory.clear(line);
                LineState::Shared
            }
        }
    }

    fn count(&mut self, event: Event, access: Access, cast: Cast) {
        let counters = &mut self.cpus[access.cpu].counters;
        match event {
            Event::Read | Event::Write => counters.level2_misses += 1,
            Event::Upgrade => counters.upgrades += 1,
            Event::WriteBack => counters.write_backs += 1,
        }
        let bus = &mut self.buses[usize::from(cast.requester)];
        bus.transactions += 1;
        bus.remote_transactions += u64::from(cast.requester != cast.home);
    }

    /// Takes a node's bus at `time` for a line or for an address; returns the wait.
    fn take_bus(&mut self, node: u16, is_line: bool, time: u64) -> u64 {
        let bus = &mut self.buses[usize::from(node)];
        let occupancy = if is_line { &mut bus.line } else { &mut bus.address_only };
        bus.timeline.reserve(time, occupancy)
    }

    /// Virtual address of a line's first byte.
    pub(crate) fn address_of(&self, line: u32) -> u64 {
        let page = self.pages.page(line >> self.shape.page_line_bits);
        let offset = u64::from(line) & ((1 << self.shape.page_line_bits) - 1);
        page.virtual_page << self.shape.page_bits | offset << self.shape.line_bits
    }
}

/// When the data is ready at its supplier, and when the home learnt of the request.
struct Supplied {
    ready: u64,
    home_knows: u64,
}

/// A processor's index as its number; there are fewer than 65,536.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn cpu_number(cpu: usize) -> u16 {
    cpu as u16
}
