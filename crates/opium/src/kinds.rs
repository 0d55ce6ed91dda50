//! Kinds of transactions that a filter may pass: what a transaction asks, what it does to other caches, and which way it goes.

use crate::CardError;
use olifant_sim::Transaction;
use olifant_sim::protocol::Event;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A set of kinds and directions. A transaction passes if one of its kinds and its direction are in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kinds(u16);

/// The words, in the order of their display.
const WORDS: [(Kinds, &str); 9] = [
    (Kinds::READ, "read"),
    (Kinds::WRITE, "write"),
    (Kinds::UPGRADE, "upgrade"),
    (Kinds::WRITE_BACK, "write-back"),
    (Kinds::INVALIDATION, "invalidation"),
    (Kinds::INTERVENTION, "intervention"),
    (Kinds::LOCAL, "local"),
    (Kinds::OUTBOUND, "outbound"),
    (Kinds::INBOUND, "inbound"),
];

impl Kinds {
    /// Lines fetched to read.
    pub const READ: Kinds = Kinds(1);
    /// Lines fetched to write.
    pub const WRITE: Kinds = Kinds(1 << 1);
    /// Permissions to write a line already held.
    pub const UPGRADE: Kinds = Kinds(1 << 2);
    /// Dirty lines written back.
    pub const WRITE_BACK: Kinds = Kinds(1 << 3);
    /// Transactions by which other caches lose their copies.
    pub const INVALIDATION: Kinds = Kinds(1 << 4);
    /// Transactions that another cache answers in place of memory.
    pub const INTERVENTION: Kinds = Kinds(1 << 5);
    /// With memory of the accessor's own node.
    pub const LOCAL: Kinds = Kinds(1 << 6);
    /// Leaving the accessor's node.
    pub const OUTBOUND: Kinds = Kinds(1 << 7);
    /// Arriving at the home's node.
    pub const INBOUND: Kinds = Kinds(1 << 8);
    /// The four that every transaction is one of.
    pub const TRANSACTIONS: Kinds =
        Kinds(Self::READ.0 | Self::WRITE.0 | Self::UPGRADE.0 | Self::WRITE_BACK.0);
    /// Every direction.
    pub const DIRECTIONS: Kinds = Kinds(Self::LOCAL.0 | Self::OUTBOUND.0 | Self::INBOUND.0);

    const EVENTS: Kinds = Kinds(Self::TRANSACTIONS.0 | Self::INVALIDATION.0 | Self::INTERVENTION.0);

    /// A set from the bits of the constants above; `None` for other bits.
    pub const fn from_bits(bits: u16) -> Option<Kinds> {
        let all = Self::EVENTS.with(Self::DIRECTIONS);
        if bits & !all.0 == 0 { Some(Kinds(bits)) } else { None }
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Both sets.
    #[must_use]
    pub const fn with(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether the sets share something.
    pub const fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of `other` is in it.
    pub const fn has(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no kind of event is in it.
    pub const fn names_no_event(self) -> bool {
        self.0 & Self::EVENTS.0 == 0
    }

    /// Whether no direction is in it.
    pub const fn names_no_direction(self) -> bool {
        self.0 & Self::DIRECTIONS.0 == 0
    }

    /// What a transaction is, without its direction.
    pub fn of(transaction: &Transaction) -> Kinds {
        let event = match transaction.event {
            Event::Read => Self::READ,
            Event::Write => Self::WRITE,
            Event::Upgrade => Self::UPGRADE,
            Event::WriteBack => Self::WRITE_BACK,
        };
        let effect = |is_so, kind: Kinds| if is_so { kind.0 } else { 0 };
        Kinds(
            event.0
                | effect(transaction.invalidates, Self::INVALIDATION)
                | effect(transaction.intervenes, Self::INTERVENTION),
        )
    }

    /// Whether a transaction of kinds `of` that goes `direction` passes.
    pub(crate) const fn pass(self, of: Kinds, direction: Kinds) -> bool {
        self.0 & of.0 & Self::EVENTS.0 != 0 && self.0 & direction.0 != 0
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> =
            WORDS.iter().filter(|(kind, _)| self.has(*kind)).map(|(_, word)| *word).collect();
        f.write_str(&words.join("+"))
    }
}

impl FromStr for Kinds {
    type Err = CardError;

    fn from_str(text: &str) -> Result<Self, CardError> {
        text.split('+').try_fold(Kinds(0), |kinds, word| {
            let known = WORDS.iter().find(|(_, known)| *known == word);
            let (kind, _) = known.ok_or_else(|| CardError::UnknownKind {
                word: word.to_owned(),
                known: WORDS.map(|(_, word)| word).join(", "),
            })?;
            Ok(kinds.with(*kind))
        })
    }
}
