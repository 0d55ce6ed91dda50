//! The words that stand for the model's enumerations in the file. They are part of the schema: never change one.

use olifant_opium::CardModel;
use olifant_opium::facts::LockKind;
use olifant_opium::filter::By;
use olifant_opium::profile::{AreaKind, Evidence, Sharing};

/// An enumeration whose values are written as words.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// What the enumeration tells, for an error message.
    const WHAT: &'static str;
    /// Every value with its word.
    const WORDS: &'static [(Self, &'static str)];

    /// The word of a value.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(value, _)| *value == self).map_or("", |(_, word)| word)
    }

    /// The value of a word, if it is one.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
    }
}

impl Word for Evidence {
    const WHAT: &'static str = "evidence";
    const WORDS: &'static [(Self, &'static str)] =
        &[(Evidence::Exact, "exact"), (Evidence::Sampled, "sampled"), (Evidence::Simulated, "simulated")];
}

impl Word for AreaKind {
    const WHAT: &'static str = "kind of area";
    const WORDS: &'static [(Self, &'static str)] = &[
        (AreaKind::Heap, "heap"),
        (AreaKind::Global, "global"),
        (AreaKind::Stack, "stack"),
        (AreaKind::Mapping, "mapping"),
        (AreaKind::Small, "small"),
        (AreaKind::Other, "other"),
    ];
}

impl Word for Sharing {
    const WHAT: &'static str = "class of sharing";
    const WORDS: &'static [(Self, &'static str)] = &[
        (Sharing::True, "true"),
        (Sharing::False, "false"),
        (Sharing::Mixed, "mixed"),
        (Sharing::Migratory, "migratory"),
        (Sharing::ProducerConsumer, "producer-consumer"),
        (Sharing::ReadOnly, "read-only"),
    ];
}

impl Word for CardModel {
    const WHAT: &'static str = "card";
    const WORDS: &'static [(Self, &'static str)] =
        &[(CardModel::Unlimited, "unlimited"), (CardModel::Opium, "opium")];
}

impl Word for By {
    const WHAT: &'static str = "kind of accessor";
    const WORDS: &'static [(Self, &'static str)] =
        &[(By::Node, "node"), (By::Thread, "thread"), (By::Cpu, "cpu")];
}

impl Word for LockKind {
    const WHAT: &'static str = "kind of lock";
    const WORDS: &'static [(Self, &'static str)] = &[
        (LockKind::Mutex, "mutex"),
        (LockKind::SpinLock, "spin-lock"),
        (LockKind::AtomicSpin, "atomic-spin"),
    ];
}
