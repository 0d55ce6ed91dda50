//! The second-level cache of one processor: set-associative, physically indexed, least recently used goes first.
//!
//! A way is one word: the physical line id and the MESI state. The ways of a set stand in the order of their last use,
//! empty ones last, so that most lookups end at the first word and four sets share a line of the host. Line ids are dense
//! and say nothing of the cache set; the caller gives the set, which it knows from the page's colour.

/// State of a line in a processor's cache (MESI; Invalid is absence).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum LineState {
    /// Others may hold it too; memory is up to date.
    Shared = 1,
    /// No other holds it; memory is up to date.
    Exclusive = 2,
    /// No other holds it; memory is out of date.
    Modified = 3,
}

impl LineState {
    fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            2 => Self::Exclusive,
            3 => Self::Modified,
            _ => Self::Shared,
        }
    }
}

const STATE_BITS: u32 = 2;
/// Line ids are stored plus one, so that 0 is an empty way.
const EMPTY: u32 = 0;
/// Line ids are below this.
pub const LINES: u32 = (1 << (32 - STATE_BITS)) - 1;

/// A set-associative cache of line ids.
pub struct LineCache {
    words: Box<[u32]>,
    ways: usize,
}

/// A line that had to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victim {
    /// The line.
    pub line: u32,
    /// Its state.
    pub state: LineState,
}

const fn word(line: u32, state: LineState) -> u32 {
    (line + 1) << STATE_BITS | state as u32
}

fn held(word: u32) -> Option<Victim> {
    (word != EMPTY).then(|| Victim { line: (word >> STATE_BITS) - 1, state: LineState::from_bits(word) })
}

impl LineCache {
    /// An empty cache.
    pub fn new(sets: usize, ways: usize) -> Self {
        Self { words: vec![EMPTY; sets * ways].into_boxed_slice(), ways }
    }

    #[inline]
    fn set(&mut self, set: usize) -> &mut [u32] {
        &mut self.words[set * self.ways..][..self.ways]
    }

    fn find(&self, set: usize, line: u32) -> Option<usize> {
        let first = set * self.ways;
        (first..first + self.ways).find(|&at| self.words[at] >> STATE_BITS == line + 1)
    }

    /// The state of a line, without touching the LRU order.
    pub fn state(&self, set: usize, line: u32) -> Option<LineState> {
        self.find(set, line).map(|at| LineState::from_bits(self.words[at]))
    }

    /// Looks a line up and makes it the most recently used.
    #[inline]
    pub fn touch(&mut self, set: usize, line: u32) -> Option<LineState> {
        let set = self.set(set);
        let way = set.iter().position(|word| word >> STATE_BITS == line + 1)?;
        let word = set[way];
        move_to_front(set, way, word);
        Some(LineState::from_bits(word))
    }

    /// Changes the state of the line of a set that was used last.
    #[inline]
    pub fn set_newest(&mut self, set: usize, line: u32, state: LineState) {
        self.words[set * self.ways] = word(line, state);
    }

    /// Changes the state of a line that is present; absence is ignored, since clean lines leave silently.
    pub fn set_state(&mut self, set: usize, line: u32, state: LineState) {
        if let Some(at) = self.find(set, line) {
            self.words[at] = word(line, state);
        }
    }

    /// Drops a line; returns the state it had.
    pub fn remove(&mut self, set: usize, line: u32) -> Option<LineState> {
        let set = self.set(set);
        let way = set.iter().position(|word| word >> STATE_BITS == line + 1)?;
        let state = LineState::from_bits(set[way]);
        set.copy_within(way + 1.., way);
        set[set.len() - 1] = EMPTY;
        Some(state)
    }

    /// Brings a line in that is absent; returns the line that had to leave.
    pub fn insert(&mut self, set: usize, line: u32, state: LineState) -> Option<Victim> {
        let set = self.set(set);
        let last = set.len() - 1;
        let victim = held(set[last]);
        move_to_front(set, last, word(line, state));
        victim
    }

    /// Every line held, with its set and state, for checking.
    pub fn lines(&self) -> impl Iterator<Item = (usize, Victim)> + '_ {
        let sets = self.words.chunks_exact(self.ways).enumerate();
        sets.flat_map(|(set, words)| words.iter().filter_map(move |&word| held(word).map(|line| (set, line))))
    }
}

/// Puts `word` first; those before `way` move one back.
#[inline]
fn move_to_front(set: &mut [u32], way: usize, word: u32) {
    for at in (0..way).rev() {
        set[at + 1] = set[at];
    }
    set[0] = word;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut cache = LineCache::new(1, 4);
        for line in 0..4 {
            assert_eq!(cache.insert(0, line, LineState::Shared), None);
        }
        cache.touch(0, 0);
        assert_eq!(cache.insert(0, 9, LineState::Modified).map(|victim| victim.line), Some(1));
        assert_eq!(cache.state(0, 9), Some(LineState::Modified));
    }

    #[test]
    fn a_line_removed_leaves_room_and_the_order_of_the_others() {
        let mut cache = LineCache::new(1, 4);
        for line in [5, 3, 8, 1] {
            cache.insert(0, line, LineState::Exclusive);
        }
        cache.touch(0, 5);
        assert_eq!(cache.remove(0, 8), Some(LineState::Exclusive));
        let order: Vec<_> =
            (20..24).map(|line| cache.insert(0, line, LineState::Shared).map(|victim| victim.line)).collect();
        assert_eq!(order, [None, Some(3), Some(1), Some(5)]);
    }

    #[test]
    fn the_largest_line_id_is_held() {
        let mut cache = LineCache::new(2, 2);
        cache.insert(1, LINES - 1, LineState::Modified);
        assert_eq!(cache.lines().next(), Some((1, Victim { line: LINES - 1, state: LineState::Modified })));
    }
}
