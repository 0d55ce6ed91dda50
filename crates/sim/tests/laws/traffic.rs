//! Random traffic of the kinds that programs make: private data, read-shared, migratory, false sharing, producer and
//! consumer, strides that conflict in the caches; and a driver that feeds it to the engine.

use olifant_sim::{Engine, Increment, Random};

/// One step of a processor.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub cpu: usize,
    pub address: u64,
    pub act: Act,
}

/// What a step does at its address.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    Read,
    Write,
    /// Reads so many bytes as a copy loop does.
    ReadRange(u64),
    /// Writes so many bytes as a copy loop does.
    WriteRange(u64),
    /// Unmaps so many bytes.
    Unmap(u64),
}

/// How processors share data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    Private,
    ReadShared,
    Migratory,
    FalseSharing,
    ProducerConsumer,
    ConflictStrides,
    Ranges,
}

/// Every mix.
pub const MIXES: [Mix; 7] = [
    Mix::Private,
    Mix::ReadShared,
    Mix::Migratory,
    Mix::FalseSharing,
    Mix::ProducerConsumer,
    Mix::ConflictStrides,
    Mix::Ranges,
];

const PRIVATE: u64 = 0x1_0000_0000;
const READ_SHARED: u64 = 0x2000_0000;
const MIGRATORY: u64 = 0x3000_0000;
const FALSELY_SHARED: u64 = 0x4000_0000;
const BUFFERS: u64 = 0x5000_0000;
const STRIDED: u64 = 0x6000_0000;
const RANGES: u64 = 0x7000_0000;
/// Steps in a row of the same mix.
const PHASE: u64 = 400;

/// An endless, seeded sequence of steps.
pub struct Traffic {
    random: Random,
    cpus: u64,
    /// Bytes of one way of the second level: addresses this far apart meet in one set.
    way_bytes: u64,
    mixes: Vec<Mix>,
    mix: Mix,
    step: u64,
    turn: u64,
}

impl Traffic {
    pub fn new(seed: u64, cpus: usize, way_bytes: u64, mixes: &[Mix]) -> Self {
        Self {
            random: Random::new(seed),
            cpus: cpus as u64,
            way_bytes,
            mixes: mixes.to_vec(),
            mix: mixes[0],
            step: 0,
            turn: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    fn read_or_write(&mut self, reads_per_write: u64) -> Act {
        if self.below(reads_per_write + 1) == 0 { Act::Write } else { Act::Read }
    }
}

impl Iterator for Traffic {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.step.is_multiple_of(PHASE) {
            let next = self.below(self.mixes.len() as u64);
            self.mix = self.mixes[next as usize];
        }
        self.step += 1;
        let any = self.below(self.cpus);
        let (cpu, address, act) = match self.mix {
            // A hot part that fits into any cache, a cold one that fits into none of the small ones.
            Mix::Private => {
                let span = if self.below(4) == 0 { 1 << 18 } else { 1 << 10 };
                let address = PRIVATE + (any << 20) + self.below(span);
                (any, address, self.read_or_write(2))
            }
            Mix::ReadShared => (any, READ_SHARED + self.below(1 << 14), self.read_or_write(60)),
            // A processor reads a record, then changes it; the next one follows.
            Mix::Migratory => {
                self.turn += 1;
                let record = MIGRATORY + self.turn / 4 % 40 * 200;
                let cpu = (self.turn / 4 + self.turn / 160) % self.cpus;
                (cpu, record + self.turn % 2 * 8, if self.turn % 4 < 2 { Act::Read } else { Act::Write })
            }
            Mix::FalseSharing => {
                let line = self.below(8) * 4096;
                (any, FALSELY_SHARED + line + any % 4 * 8, self.read_or_write(1))
            }
            Mix::ProducerConsumer => {
                self.turn += 1;
                let producer = self.turn / 64 % self.cpus;
                let address = BUFFERS + (producer << 13) + self.turn % 32 * 24;
                let is_producing = self.turn % 64 < 32;
                if is_producing { (producer, address, Act::Write) } else { (any, address, Act::Read) }
            }
            // More lines of one set than there are ways: copies leave for want of room, owners are gone.
            Mix::ConflictStrides => {
                let address = STRIDED + self.below(40) * self.way_bytes + self.below(3) * 64;
                (any, address, self.read_or_write(2))
            }
            Mix::Ranges => {
                let (address, bytes) = (RANGES + self.below(1 << 14), 1 + self.below(600));
                let act = match self.below(40) {
                    0 => Act::Unmap(bytes * 30),
                    1..20 => Act::ReadRange(bytes),
                    _ => Act::WriteRange(bytes),
                };
                (any, address, act)
            }
        };
        Some(Step { cpu: cpu as usize, address, act })
    }
}

/// Feeds one step to the engine; an access comes after two other instructions.
pub fn drive(engine: &mut Engine<()>, step: Step) {
    let Step { cpu, address, act } = step;
    match act {
        Act::Read => engine.access(cpu, address, Increment::read(3), 0),
        Act::Write => engine.access(cpu, address, Increment::write(3), 0),
        Act::ReadRange(bytes) => engine.range(cpu, address, bytes, false, 0),
        Act::WriteRange(bytes) => engine.range(cpu, address, bytes, true, 0),
        Act::Unmap(bytes) => engine.unmap(address, bytes),
    }
}

/// Seeds of a random test: those given, or the one that the environment variable OLIFANT_TEST_SEED names.
pub fn seeds(given: std::ops::Range<u64>) -> Vec<u64> {
    match std::env::var("OLIFANT_TEST_SEED") {
        Ok(seed) => vec![seed.parse().expect("OLIFANT_TEST_SEED is a number")],
        Err(_) => given.collect(),
    }
}
