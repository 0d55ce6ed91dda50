//! Ordinals of allocations among those of the same call path and size, by which a plan tells them apart: the lowest that
//! is not in use, as the simulated run numbers them.

use std::collections::{BTreeSet, HashMap};

/// Allocations that count as the same but for their ordinal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kin {
    /// The call path.
    pub path: Vec<usize>,
    /// Size in bytes, as asked for.
    pub bytes: u64,
}

#[derive(Debug, Default)]
struct Numbers {
    next: u32,
    idle: BTreeSet<u32>,
}

/// The ordinals in use.
#[derive(Debug, Default)]
pub struct Ordinals(HashMap<Kin, Numbers>);

impl Ordinals {
    /// The ordinal of a new one of its kin.
    pub fn take(&mut self, kin: &Kin) -> u32 {
        let numbers = self.0.entry(kin.clone()).or_default();
        numbers.idle.pop_first().unwrap_or_else(|| {
            numbers.next += 1;
            numbers.next - 1
        })
    }

    /// One was given up.
    pub fn give(&mut self, kin: &Kin, ordinal: u32) {
        if let Some(numbers) = self.0.get_mut(kin) {
            numbers.idle.insert(ordinal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_idle_ordinal_is_taken_and_kin_count_apart() {
        let kin = |path: &[usize], bytes| Kin { path: path.to_vec(), bytes };
        let (one, other) = (kin(&[1, 2], 64), kin(&[1, 3], 64));
        let mut ordinals = Ordinals::default();
        assert_eq!([ordinals.take(&one), ordinals.take(&one), ordinals.take(&one)], [0, 1, 2]);
        assert_eq!(ordinals.take(&other), 0);
        ordinals.give(&one, 1);
        ordinals.give(&one, 0);
        assert_eq!([ordinals.take(&one), ordinals.take(&one), ordinals.take(&one)], [0, 1, 3]);
    }
}
