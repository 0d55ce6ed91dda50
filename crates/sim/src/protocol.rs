//! The coherence protocol as a table. The engine runs it, the documentation is printed from it (`describe`).
//!
//! Model: MESI in every processor's second-level cache; a node's bus is snooped by all its processors and by its
//! coherence unit; between nodes a directory at the line's home, as in DASH (Lenoski et al. 1992) and in the Synfinity
//! units of the prototype, replies going straight to the requester. Roles: R the requester's node, H the home, O the
//! owner's node, S every node besides R and H that may hold a copy; copies on R and H go by buses that the transaction
//! passes anyway. A packet whose ends are the same node is not sent: that step happens on the node's bus.
//!
//! Departures from hardware: transactions on one line are atomic, so there are no transient states, retries or races;
//! an acknowledgement carries the home's grant, so that an upgrade by a processor off the home costs at most five
//! packets in a four-node machine, as JRD (2001) states; when a clean exclusive line becomes shared within its
//! owner's node, the home learns it without a packet.

/// What a processor puts on its bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Event {
    /// It lacks the line and wants to read it.
    Read,
    /// It lacks the line and wants to write it.
    Write,
    /// It holds the line shared and wants to write it.
    Upgrade,
    /// It drops a modified line.
    WriteBack,
}

/// What the directory and the snoop on the requester's bus say of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum State {
    /// No cache holds it.
    Uncached,
    /// Caches hold it to read.
    Shared,
    /// Another processor of the requester's node owns it.
    OwnedNear,
    /// A processor of another node owns it.
    OwnedFar,
    /// The directory names an owner on another node that has dropped the line clean.
    OwnerGone,
    /// The requester itself owns it and drops it.
    OwnedHere,
}

/// Who provides the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supplier {
    /// The home's memory.
    Memory,
    /// The owner's cache.
    Owner,
    /// No data is needed.
    None,
}

/// What happens to the copies in other caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They stay as they are.
    Keep,
    /// The owner keeps a shared copy.
    Downgrade,
    /// They are invalidated.
    Invalidate,
}

/// What the requester holds, and the directory records, afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A shared copy.
    Reader,
    /// An exclusive clean copy, where the machine grants those to reads; else a shared one.
    ExclusiveReader,
    /// The modified line.
    Owner,
    /// Nothing.
    Nobody,
}

/// An end of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The requester's node.
    Requester,
    /// The line's home.
    Home,
    /// The owner's node.
    Owner,
    /// Each node besides the requester's and the home that may hold a copy.
    Sharer,
}

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// Asks or answers without data: a request packet.
    Control,
    /// Brings the line to the requester: a response packet.
    Data,
    /// Takes a modified line home: counted as a request, carries a line; not sent for a clean one.
    CarryHome,
    /// The home's permission to write: a request packet; saved where acknowledgements carry it.
    Grant,
}

/// One step of a transaction that crosses the network unless both ends are one node.
pub type Step = (Role, Packet, Role);

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    /// What is asked.
    pub event: Event,
    /// What the line's state is.
    pub state: State,
    /// Who provides the data.
    pub supplier: Supplier,
    /// The copies of others.
    pub others: Others,
    /// The requester's state afterwards.
    pub next: Next,
    /// Steps before the data is ready, in order.
    pub ask: &'static [Step],
    /// The step that completes the transaction for the requester.
    pub answer: Option<Step>,
    /// Steps that nobody waits for; saved where they lead to the requester, which the answer tells the same.
    pub aside: &'static [Step],
    /// One line for a person.
    pub meaning: &'static str,
}

use Packet::{CarryHome, Control, Data, Grant};
use Role::{Home, Owner, Requester, Sharer};

const ASK_HOME: &[Step] = &[(Requester, Control, Home)];
const ASK_OWNER: &[Step] = &[(Requester, Control, Home), (Home, Control, Owner)];
const ASK_IN_VAIN: &[Step] = &[(Requester, Control, Home), (Home, Control, Owner), (Owner, Control, Home)];
/// Steps to and from each sharer when copies are invalidated; the acknowledgement goes to the requester.
pub const INVALIDATE: [Step; 2] = [(Home, Control, Sharer), (Sharer, Control, Requester)];

/// The table; `row` finds an entry.
pub const TABLE: [Row; 12] = [
    Row {
        event: Event::Read,
        state: State::Uncached,
        supplier: Supplier::Memory,
        others: Others::Keep,
        next: Next::ExclusiveReader,
        ask: ASK_HOME,
        answer: Some((Home, Data, Requester)),
        aside: &[],
        meaning: "memory supplies the line; the reader is alone with it",
    },
    Row {
        event: Event::Read,
        state: State::Shared,
        supplier: Supplier::Memory,
        others: Others::Keep,
        next: Next::Reader,
        ask: ASK_HOME,
        answer: Some((Home, Data, Requester)),
        aside: &[],
        meaning: "memory supplies the line; one more reader",
    },
    Row {
        event: Event::Read,
        state: State::OwnedNear,
        supplier: Supplier::Owner,
        others: Others::Downgrade,
        next: Next::Reader,
        ask: &[],
        answer: None,
        aside: &[(Requester, CarryHome, Home)],
        meaning: "the owner supplies the line on the node's bus and keeps a shared copy; modified data goes home",
    },
    Row {
        event: Event::Read,
        state: State::OwnedFar,
        supplier: Supplier::Owner,
        others: Others::Downgrade,
        next: Next::Reader,
        ask: ASK_OWNER,
        answer: Some((Owner, Data, Requester)),
        aside: &[(Owner, CarryHome, Home)],
        meaning: "the home forwards; the owner answers the reader, keeps a shared copy and sends modified data home",
    },
    Row {
        event: Event::Read,
        state: State::OwnerGone,
        supplier: Supplier::Memory,
        others: Others::Keep,
        next: Next::ExclusiveReader,
        ask: ASK_IN_VAIN,
        answer: Some((Home, Data, Requester)),
        aside: &[],
        meaning: "the home forwards in vain, then memory supplies the line",
    },
    Row {
        event: Event::Write,
        state: State::Uncached,
        supplier: Supplier::Memory,
        others: Others::Keep,
        next: Next::Owner,
        ask: ASK_HOME,
        answer: Some((Home, Data, Requester)),
        aside: &[],
        meaning: "memory supplies the line to its new owner",
    },
    Row {
        event: Event::Write,
        state: State::Shared,
        supplier: Supplier::Memory,
        others: Others::Invalidate,
        next: Next::Owner,
        ask: ASK_HOME,
        answer: Some((Home, Data, Requester)),
        aside: &[],
        meaning: "memory supplies the line while every reader is invalidated and acknowledges to the writer",
    },
    Row {
        event: Event::Write,
        state: State::OwnedNear,
        supplier: Supplier::Owner,
        others: Others::Invalidate,
        next: Next::Owner,
        ask: &[],
        answer: None,
        aside: &[],
        meaning: "the owner hands the line over on the node's bus; the home still knows this node as owner",
    },
    Row {
        event: Event::Write,
        state: State::OwnedFar,
        supplier: Supplier::Owner,
        others: Others::Invalidate,
        next: Next::Owner,
        ask: ASK_OWNER,
        answer: Some((Owner, Data, Requester)),
        aside: &[(Owner, Control, Home)],
        meaning: "the home forwards; the owner hands the line to the writer and tells the home",
    },
    Row {
        event: Event::Write,
        state: State::OwnerGone,
        supplier: Supplier::Memory,
        others: Others::Keep,
        next: Next::Owner,
        ask: ASK_IN_VAIN,
        answer: Some((Home, Data, Requester)),
        aside: &[],
        meaning: "the home forwards in vain, then memory supplies the line to its new owner",
    },
    Row {
        event: Event::Upgrade,
        state: State::Shared,
        supplier: Supplier::None,
        others: Others::Invalidate,
        next: Next::Owner,
        ask: ASK_HOME,
        answer: Some((Home, Grant, Requester)),
        aside: &[],
        meaning: "every other reader is invalidated and acknowledges; the holder may write",
    },
    Row {
        event: Event::WriteBack,
        state: State::OwnedHere,
        supplier: Supplier::None,
        others: Others::Keep,
        next: Next::Nobody,
        ask: &[],
        answer: None,
        aside: &[(Requester, CarryHome, Home)],
        meaning: "the modified line goes home; no cache holds it",
    },
];

/// Position in the table by event and state; `u8::MAX` where a pair cannot occur.
static INDEX: [[u8; 6]; 4] = index();

const fn index() -> [[u8; 6]; 4] {
    let mut index = [[u8::MAX; 6]; 4];
    let mut at = 0;
    while at < TABLE.len() {
        #[allow(clippy::cast_possible_truncation)]
        let number = at as u8;
        index[TABLE[at].event as usize][TABLE[at].state as usize] = number;
        at += 1;
    }
    index
}

/// The row for an event in a state. Where the directory names an owner on the requester's own node (the requester itself,
/// or a neighbour in whose cache the bus's snoop finds nothing) that has dropped the line clean, nobody can hold it,
/// which is the state `Uncached`.
/// # Panics  On a pair that cannot occur, which would be a defect of the engine.
pub fn row(event: Event, state: State) -> &'static Row {
    &TABLE[usize::from(INDEX[event as usize][state as usize])]
}

/// The events with one line for a person each.
const EVENTS: [(Event, &str); 4] = [
    (Event::Read, "a processor lacks the line and wants to read it"),
    (Event::Write, "a processor lacks the line and wants to write it"),
    (Event::Upgrade, "a processor holds the line shared and wants to write it"),
    (Event::WriteBack, "a processor drops a modified line"),
];

/// The states with one line for a person each.
const STATES: [(State, &str); 6] = [
    (State::Uncached, "no cache holds it"),
    (State::Shared, "caches may hold it to read; memory is up to date"),
    (State::OwnedNear, "another processor of the requester's node holds it exclusive or modified"),
    (State::OwnedFar, "a processor of another node holds it exclusive or modified"),
    (State::OwnerGone, "the directory names an owner on another node that has dropped the line clean"),
    (State::OwnedHere, "the requester itself owns it and drops it"),
];

/// The table as Markdown, for the documentation.
pub fn describe() -> String {
    let mut text = String::from("| event | meaning |\n|---|---|\n");
    for (event, meaning) in &EVENTS {
        text += &format!("| {event:?} | {meaning} |\n");
    }
    text += "\n| state | meaning |\n|---|---|\n";
    for (state, meaning) in &STATES {
        text += &format!("| {state:?} | {meaning} |\n");
    }
    text += "\n| event | state | data from | other copies | requester then | packets | meaning |\n|---|---|---|---|---|---|---|\n";
    for row in &TABLE {
        let mut packets: Vec<String> = row.ask.iter().map(describe_step).collect();
        if row.others == Others::Invalidate && row.state == State::Shared {
            packets.extend(INVALIDATE.iter().map(describe_step));
        }
        packets.extend(row.answer.iter().map(describe_step));
        packets.extend(row.aside.iter().map(|step| format!("({})", describe_step(step))));
        text += &format!(
            "| {:?} | {:?} | {:?} | {:?} | {:?} | {} | {} |\n",
            row.event,
            row.state,
            row.supplier,
            row.others,
            row.next,
            packets.join(", "),
            row.meaning
        );
    }
    text
}

fn describe_step((from, packet, to): &Step) -> String {
    let letter = |role: &Role| match role {
        Requester => "R",
        Home => "H",
        Owner => "O",
        Sharer => "S",
    };
    let kind = match packet {
        Control => "control",
        Data => "data",
        CarryHome => "carry-home",
        Grant => "grant",
    };
    format!("{}→{} {kind}", letter(from), letter(to))
}
