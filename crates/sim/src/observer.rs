//! What the simulator tells a monitor: every transaction that a processor puts on its bus.

use crate::protocol::Event;

/// One transaction, seen where it enters the requester's bus.
#[derive(Debug, Clone, Copy)]
pub struct Transaction {
    /// The processor.
    pub cpu: u16,
    /// Its node.
    pub node: u16,
    /// The line's home.
    pub home: u16,
    /// What it asks.
    pub event: Event,
    /// Dense number of the page.
    pub page: u32,
    /// Virtual address of the access; of the line, for a write-back.
    pub address: u64,
    /// Code address of the access; 0 for a write-back.
    pub code: u64,
    /// Whether another cache loses its copy because of it: an invalidation.
    pub invalidates: bool,
    /// Whether another cache, not memory, is asked for the line: an intervention.
    pub intervenes: bool,
    /// When it is issued, in cycles of the processor's clock.
    pub time: u64,
}

impl Transaction {
    /// Whether another cache loses or hands over its copy because of it.
    pub fn moves_copy(&self) -> bool {
        self.invalidates | self.intervenes
    }
}

/// The access that brings a page into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstTouch {
    /// The processor.
    pub cpu: u16,
    /// Code address of the access.
    pub code: u64,
}

/// Receives transactions. Observing changes nothing in the machine.
pub trait Observer {
    /// A transaction happens.
    fn transaction(&mut self, transaction: &Transaction);
    /// From now on `cpu` runs `thread`.
    fn thread_runs(&mut self, cpu: u16, thread: u16);
    /// A page number now stands for the virtual page at `address`; counts of what it stood for before are closed.
    fn page_begins(&mut self, page: u32, address: u64, home: u16, touch: FirstTouch);
}

/// Sees nothing.
impl Observer for () {
    fn transaction(&mut self, _: &Transaction) {}
    fn thread_runs(&mut self, _: u16, _: u16) {}
    fn page_begins(&mut self, _: u32, _: u64, _: u16, _: FirstTouch) {}
}
