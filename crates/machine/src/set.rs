//! Sets of cpus and of nodes: one bitset type over both kinds of id.
//!
//! A set holds any ids of its kind and grows as needed; it is a row of 64-bit words, least id first, without zero
//! words at the end, so that equal sets are equal word for word. Operations on 4,096 cpus touch 64 words. The text
//! forms are in `cpulist.rs` and `cpumask.rs`; a set serialises as a cpulist.

use crate::{CpuId, NodeId};
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;

/// A set of cpus.
pub type CpuSet = IdSet<CpuId>;
/// A set of nodes.
pub type NodeSet = IdSet<NodeId>;

/// An id that sets are made of: a number below 65,536 that names one kind of thing.
pub trait SetMember: Copy + Eq + Ord + Hash + fmt::Debug + private::Sealed {
    /// What a member is called in messages.
    const NOUN: &'static str;
    /// The member with this number.
    fn from_number(number: u16) -> Self;
    /// Its number.
    fn number(self) -> u16;
}

mod private {
    pub trait Sealed {}
    impl Sealed for crate::CpuId {}
    impl Sealed for crate::NodeId {}
}

impl SetMember for CpuId {
    const NOUN: &'static str = "cpu";
    fn from_number(number: u16) -> Self {
        CpuId(number)
    }
    fn number(self) -> u16 {
        self.0
    }
}

impl SetMember for NodeId {
    const NOUN: &'static str = "node";
    fn from_number(number: u16) -> Self {
        NodeId(number)
    }
    fn number(self) -> u16 {
        self.0
    }
}

/// A set of ids of one kind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdSet<M> {
    /// Bit b of word w is member 64 w + b; the last word is not zero.
    words: Vec<u64>,
    kind: PhantomData<M>,
}

const WORD_BITS: usize = u64::BITS as usize;

impl<M: SetMember> IdSet<M> {
    /// The empty set.
    pub const fn new() -> Self {
        IdSet { words: Vec::new(), kind: PhantomData }
    }

    /// Adds a member; false if it was there already.
    pub fn insert(&mut self, member: M) -> bool {
        let (word, bit) = place(member);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let was_absent = self.words[word] & bit == 0;
        self.words[word] |= bit;
        was_absent
    }

    /// Takes a member out; false if it was not there.
    pub fn remove(&mut self, member: M) -> bool {
        let (word, bit) = place(member);
        let Some(bits) = self.words.get_mut(word) else { return false };
        let was_present = *bits & bit != 0;
        *bits &= !bit;
        self.trim();
        was_present
    }

    /// Whether `member` is in the set.
    pub fn contains(&self, member: M) -> bool {
        let (word, bit) = place(member);
        self.words.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The members of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (long, short) = if self.words.len() >= other.words.len() { (self, other) } else { (other, self) };
        let mut union = long.clone();
        for (word, bits) in union.words.iter_mut().zip(&short.words) {
            *word |= bits;
        }
        union
    }

    /// The members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect();
        Self::from_words(words)
    }

    /// The members of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let others = other.words.iter().copied().chain(core::iter::repeat(0));
        let words = self.words.iter().zip(others).map(|(a, b)| a & !b).collect();
        Self::from_words(words)
    }

    /// Whether every member is also in the other set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.len() <= other.words.len() && self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Whether no member is in both sets.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & b == 0)
    }

    /// The lowest member.
    pub fn first(&self) -> Option<M> {
        self.iter().next()
    }

    /// The members, ascending.
    pub fn iter(&self) -> Members<'_, M> {
        Members {
            words: &self.words,
            word: 0,
            bits: self.words.first().copied().unwrap_or(0),
            kind: PhantomData,
        }
    }

    /// The bits, 64 to a word, least member first, no zero word at the end.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The set whose bits these are. Bits beyond the range of ids are dropped.
    pub fn from_words(mut words: Vec<u64>) -> Self {
        words.truncate((usize::from(u16::MAX) + 1) / WORD_BITS);
        let mut set = IdSet { words, kind: PhantomData };
        set.trim();
        set
    }

    fn trim(&mut self) {
        let used = self.words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        self.words.truncate(used);
    }
}

fn place<M: SetMember>(member: M) -> (usize, u64) {
    let number = usize::from(member.number());
    (number / WORD_BITS, 1 << (number % WORD_BITS))
}

/// The members of a set, ascending.
#[derive(Debug, Clone)]
pub struct Members<'s, M> {
    words: &'s [u64],
    word: usize,
    /// What is left of the current word.
    bits: u64,
    kind: PhantomData<M>,
}

impl<M: SetMember> Iterator for Members<'_, M> {
    type Item = M;

    fn next(&mut self) -> Option<M> {
        while self.bits == 0 {
            self.word += 1;
            self.bits = *self.words.get(self.word)?;
        }
        let bit = self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        u16::try_from(self.word * WORD_BITS + bit).ok().map(M::from_number)
    }
}

impl<M: SetMember> Default for IdSet<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: SetMember> Extend<M> for IdSet<M> {
    fn extend<T: IntoIterator<Item = M>>(&mut self, members: T) {
        for member in members {
            self.insert(member);
        }
    }
}

impl<M: SetMember> FromIterator<M> for IdSet<M> {
    fn from_iter<T: IntoIterator<Item = M>>(members: T) -> Self {
        let mut set = Self::new();
        set.extend(members);
        set
    }
}

impl<'s, M: SetMember> IntoIterator for &'s IdSet<M> {
    type Item = M;
    type IntoIter = Members<'s, M>;

    fn into_iter(self) -> Members<'s, M> {
        self.iter()
    }
}

impl<M: SetMember> fmt::Debug for IdSet<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s {self}", M::NOUN)
    }
}

impl<M: SetMember> serde::Serialize for IdSet<M> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, M: SetMember> serde::Deserialize<'de> for IdSet<M> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
