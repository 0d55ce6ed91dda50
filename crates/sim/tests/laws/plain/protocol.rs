//! The plain machine's directory and the four events of the protocol.
//!
//! R is the requester's node, H the line's home, O the owner's node, as in `docs/protocol.md`.

use super::{Copy, Plain, State, Words};
use std::collections::BTreeSet;

/// The directory's word on a line that some cache may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// These processors may hold it shared.
    Readers(BTreeSet<usize>),
    /// This processor got it exclusive or modified.
    Owner(usize),
}

/// What a requester meets.
enum Situation {
    Uncached,
    Shared,
    OwnedNear(usize),
    OwnedFar(usize),
    OwnerGone(usize),
}

/// Kinds of packets, as they are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packet {
    /// A request packet without a line.
    Control,
    /// A request packet that carries a line home.
    CarryHome,
    /// A response packet.
    Data,
}

impl Plain {
    /// Read by a processor that lacks the line; returns its copy.
    pub(super) fn read_miss(&mut self, cpu: usize, line: u64) -> Copy {
        let (r, h) = self.begin(cpu, line);
        match self.situation(cpu, line) {
            Situation::Uncached => {
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Data, r);
                self.copy_for_lone_reader(cpu, line)
            }
            Situation::OwnerGone(owner) => {
                let o = self.cpus[owner].node;
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Control, o);
                self.send(o, Packet::Control, h);
                self.send(h, Packet::Data, r);
                self.copy_for_lone_reader(cpu, line)
            }
            Situation::Shared => {
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Data, r);
                self.add_reader(cpu, line);
                Copy { state: State::Shared, words: self.memory_of(line) }
            }
            Situation::OwnedNear(owner) => {
                if self.downgrade(owner, line) {
                    self.send(r, Packet::CarryHome, h);
                }
                self.add_reader(cpu, line);
                Copy { state: State::Shared, words: self.memory_of(line) }
            }
            Situation::OwnedFar(owner) => {
                let o = self.cpus[owner].node;
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Control, o);
                self.send(o, Packet::Data, r);
                if self.downgrade(owner, line) && h != r {
                    self.send(o, Packet::CarryHome, h);
                }
                self.add_reader(cpu, line);
                Copy { state: State::Shared, words: self.memory_of(line) }
            }
        }
    }

    /// Write by a processor that lacks the line; returns its copy.
    pub(super) fn write_miss(&mut self, cpu: usize, line: u64) -> Copy {
        let (r, h) = self.begin(cpu, line);
        let words = match self.situation(cpu, line) {
            Situation::Uncached => {
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Data, r);
                self.memory_of(line)
            }
            Situation::OwnerGone(owner) => {
                let o = self.cpus[owner].node;
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Control, o);
                self.send(o, Packet::Control, h);
                self.send(h, Packet::Data, r);
                self.memory_of(line)
            }
            Situation::Shared => {
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Data, r);
                self.invalidate_readers(cpu, line);
                self.memory_of(line)
            }
            Situation::OwnedNear(owner) => self.take_from(owner, line),
            Situation::OwnedFar(owner) => {
                let o = self.cpus[owner].node;
                self.send(r, Packet::Control, h);
                self.send(h, Packet::Control, o);
                self.send(o, Packet::Data, r);
                if h != r {
                    self.send(o, Packet::Control, h);
                }
                self.take_from(owner, line)
            }
        };
        self.directory.insert(line, Entry::Owner(cpu));
        Copy { state: State::Modified, words }
    }

    /// Write by a processor that holds the line shared.
    pub(super) fn upgrade(&mut self, cpu: usize, line: u64) {
        let (r, h) = self.begin(cpu, line);
        self.send(r, Packet::Control, h);
        // An acknowledgement, where there is one, carries the home's grant.
        if self.invalidate_readers(cpu, line) == 0 {
            self.send(h, Packet::Control, r);
        }
        self.directory.insert(line, Entry::Owner(cpu));
    }

    /// A processor drops a modified line.
    pub(super) fn write_back(&mut self, cpu: usize, line: u64, words: Words) {
        let (r, h) = self.begin(cpu, line);
        self.send(r, Packet::CarryHome, h);
        self.memory.insert(line, words);
        self.directory.remove(&line);
    }

    /// Counts a transaction on the requester's bus; returns the nodes of requester and home.
    fn begin(&mut self, cpu: usize, line: u64) -> (usize, usize) {
        let (r, h) = (self.cpus[cpu].node, self.pages.of(line).home);
        self.of_node[r].transactions += 1;
        if r != h {
            self.of_node[r].remote_transactions += 1;
        }
        (r, h)
    }

    fn situation(&mut self, cpu: usize, line: u64) -> Situation {
        let owner = match self.directory.get(&line) {
            None => return Situation::Uncached,
            Some(Entry::Readers(_)) => return Situation::Shared,
            Some(&Entry::Owner(owner)) => owner,
        };
        let holds = self.state_at(owner, line).is_some();
        let near = self.cpus[owner].node == self.cpus[cpu].node;
        match (holds, near) {
            (true, true) => Situation::OwnedNear(owner),
            (true, false) => Situation::OwnedFar(owner),
            // Asked by the owner's node, whose snoop found nothing, the home knows that the owner is gone.
            (false, true) => Situation::Uncached,
            (false, false) => Situation::OwnerGone(owner),
        }
    }

    /// What a reader gets that is alone with a line.
    fn copy_for_lone_reader(&mut self, cpu: usize, line: u64) -> Copy {
        let words = self.memory_of(line);
        if self.machine.coherence.exclusive_on_read {
            self.directory.insert(line, Entry::Owner(cpu));
            Copy { state: State::Exclusive, words }
        } else {
            self.directory.insert(line, Entry::Readers(BTreeSet::from([cpu])));
            Copy { state: State::Shared, words }
        }
    }

    fn add_reader(&mut self, cpu: usize, line: u64) {
        let mut readers = match self.directory.remove(&line) {
            None => BTreeSet::new(),
            Some(Entry::Owner(owner)) => BTreeSet::from([owner]),
            Some(Entry::Readers(readers)) => readers,
        };
        readers.insert(cpu);
        self.directory.insert(line, Entry::Readers(readers));
    }

    /// The owner keeps a shared copy; its data, where changed, goes to memory. Returns whether it was changed.
    fn downgrade(&mut self, owner: usize, line: u64) -> bool {
        let copy = self.copy_at(owner, line).expect("a snooped owner holds the line");
        let was_modified = copy.state == State::Modified;
        copy.state = State::Shared;
        let words = copy.words.clone();
        for part in (line..line + self.sizes.line).step_by(self.sizes.level1_line as usize) {
            let (set, line1) = self.level1_place(part);
            if let Some(may_write) = self.cpus[owner].level1.peek(set, line1) {
                *may_write = false;
            }
        }
        if was_modified {
            self.memory.insert(line, words);
        }
        was_modified
    }

    /// Takes a copy out of a processor's caches.
    fn take_from(&mut self, holder: usize, line: u64) -> Words {
        let set = self.level2_set(line);
        let copy = self.cpus[holder].level2.remove(set, line).expect("the holder has the line");
        self.invalidations += 1;
        self.drop_from_level1(holder, line);
        copy.words
    }

    /// Every reader but `cpu` loses its copy. Nodes other than R and H that may hold one are asked by a packet and
    /// acknowledge by one; returns how many there were.
    fn invalidate_readers(&mut self, cpu: usize, line: u64) -> usize {
        let (r, h) = (self.cpus[cpu].node, self.pages.of(line).home);
        let Some(Entry::Readers(readers)) = self.directory.remove(&line) else {
            panic!("line {line:#x} is not shared");
        };
        let mut asked = BTreeSet::new();
        for reader in readers {
            let s = self.cpus[reader].node;
            if s != r && s != h {
                asked.insert(s);
            }
            if reader != cpu && self.state_at(reader, line).is_some() {
                self.take_from(reader, line);
            }
        }
        for &s in &asked {
            self.send(h, Packet::Control, s);
            self.send(s, Packet::Control, r);
        }
        asked.len()
    }

    fn memory_of(&self, line: u64) -> Words {
        self.memory.get(&line).cloned().unwrap_or_else(|| vec![0; self.sizes.line as usize / 8])
    }

    /// Counts a packet at both ends and on the links of its way; within a node nothing is sent.
    fn send(&mut self, from: usize, packet: Packet, to: usize) {
        if from == to {
            return;
        }
        let bytes = match packet {
            Packet::Control => self.machine.coherence.request.0,
            Packet::CarryHome | Packet::Data => self.machine.coherence.response.0,
        };
        if packet == Packet::Data {
            self.of_node[from].responses_out += 1;
            self.of_node[to].responses_in += 1;
        } else {
            self.of_node[from].requests_out += 1;
            self.of_node[to].requests_in += 1;
        }
        self.of_node[from].bytes_out += bytes;
        self.of_node[to].bytes_in += bytes;
        for &link in self.routes.links(self.ids[from], self.ids[to]) {
            self.of_link[link].packets += 1;
            self.of_link[link].bytes += bytes;
        }
    }
}
