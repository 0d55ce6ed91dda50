//! Least-recently-used sets as lists: what the plain machine makes its caches and TLBs of.

/// Sets of at most `ways` entries, each a list with the most recently used entry last.
pub struct Lru<T> {
    sets: Vec<Vec<(u64, T)>>,
    ways: usize,
}

impl<T> Lru<T> {
    pub fn new(sets: u64, ways: u32) -> Self {
        Self { sets: (0..sets).map(|_| Vec::new()).collect(), ways: ways as usize }
    }

    /// An entry, which becomes the most recently used one.
    pub fn take_note(&mut self, set: u64, key: u64) -> Option<&mut T> {
        let list = &mut self.sets[set as usize];
        let place = list.iter().position(|(other, _)| *other == key)?;
        let entry = list.remove(place);
        list.push(entry);
        list.last_mut().map(|(_, value)| value)
    }

    /// An entry; the order stays.
    pub fn peek(&mut self, set: u64, key: u64) -> Option<&mut T> {
        self.sets[set as usize].iter_mut().find(|(other, _)| *other == key).map(|(_, value)| value)
    }

    pub fn remove(&mut self, set: u64, key: u64) -> Option<T> {
        let list = &mut self.sets[set as usize];
        let place = list.iter().position(|(other, _)| *other == key)?;
        Some(list.remove(place).1)
    }

    /// Adds an absent entry as the most recently used one; returns the one that had to leave.
    pub fn add(&mut self, set: u64, key: u64, value: T) -> Option<(u64, T)> {
        let list = &mut self.sets[set as usize];
        assert!(list.iter().all(|(other, _)| *other != key), "{key:#x} is there already");
        let victim = (list.len() == self.ways).then(|| list.remove(0));
        list.push((key, value));
        victim
    }

    /// Number of entries in all sets.
    pub fn len(&self) -> u64 {
        self.sets.iter().map(|list| list.len() as u64).sum()
    }
}
