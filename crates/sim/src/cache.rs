//! The second-level cache of one processor: set-associative, physically indexed, least recently used goes first.
//!
//! A way holds the physical line id and, in one word, its LRU stamp and MESI state. Line ids are dense and say nothing
//! of the cache set; the caller gives the set, which it knows from the page's colour.

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

/// A set-associative cache of line ids.
pub struct LineCache {
    /// For each set: `ways` tags, then `ways` words of stamp and state.
    words: Box<[u32]>,
    ways: usize,
    clock: u32,
}

/// A line that had to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victim {
    /// Its id.
    pub line: u32,
    /// Its state.
    pub state: LineState,
}

impl LineCache {
    /// An empty cache.
    pub fn new(sets: usize, ways: usize) -> Self {
        Self { words: vec![0; sets * ways * 2].into_boxed_slice(), ways, clock: 0 }
    }

    fn find(&self, set: usize, line: u32) -> Option<usize> {
        let base = set * self.ways * 2;
        self.words[base..base + self.ways].iter().position(|&tag| tag == line + 1).map(|way| base + way)
    }

    /// The state of a line, without touching the LRU order.
    pub fn state(&self, set: usize, line: u32) -> Option<LineState> {
        self.find(set, line).map(|at| LineState::from_bits(self.words[at + self.ways]))
    }

    /// Looks a line up and makes it the most recently used.
    pub fn touch(&mut self, set: usize, line: u32) -> Option<LineState> {
        let at = self.find(set, line)?;
        let state = LineState::from_bits(self.words[at + self.ways]);
        self.stamp(at, state);
        Some(state)
    }

    /// Changes the state of a line that is present; absence is ignored, since clean lines leave silently.
    pub fn set_state(&mut self, set: usize, line: u32, state: LineState) {
        if let Some(at) = self.find(set, line) {
            let word = &mut self.words[at + self.ways];
            *word = *word >> STATE_BITS << STATE_BITS | state as u32;
        }
    }

    /// Drops a line; returns the state it had.
    pub fn remove(&mut self, set: usize, line: u32) -> Option<LineState> {
        let at = self.find(set, line)?;
        let state = LineState::from_bits(self.words[at + self.ways]);
        self.words[at] = EMPTY;
        self.words[at + self.ways] = 0;
        Some(state)
    }

    /// Brings a line in that is absent; returns the line that had to leave.
    pub fn insert(&mut self, set: usize, line: u32, state: LineState) -> Option<Victim> {
        let base = set * self.ways * 2;
        let mut at = base;
        let mut oldest = u32::MAX;
        for way in base..base + self.ways {
            let stamp =
                if self.words[way] == EMPTY { 0 } else { (self.words[way + self.ways] >> STATE_BITS) + 1 };
            if stamp < oldest {
                oldest = stamp;
                at = way;
            }
        }
        let victim = (self.words[at] != EMPTY).then(|| Victim {
            line: self.words[at] - 1,
            state: LineState::from_bits(self.words[at + self.ways]),
        });
        self.words[at] = line + 1;
        self.stamp(at, state);
        victim
    }

    fn stamp(&mut self, at: usize, state: LineState) {
        self.clock += 1;
        if self.clock == 1 << (32 - STATE_BITS) {
            self.renormalise();
        }
        self.words[at + self.ways] = self.clock << STATE_BITS | state as u32;
    }

    /// Restarts the stamps: each set keeps its order, ranks 1 to `ways`.
    fn renormalise(&mut self) {
        let ways = self.ways;
        for set in self.words.chunks_exact_mut(2 * ways) {
            let stamps: Vec<u32> = set[ways..].iter().map(|word| word >> STATE_BITS).collect();
            for way in 0..ways {
                let rank = stamps.iter().filter(|&&other| other < stamps[way]).count();
                #[allow(clippy::cast_possible_truncation)]
                let rank = rank as u32 + 1;
                set[ways + way] = rank << STATE_BITS | set[ways + way] & 3;
            }
        }
        #[allow(clippy::cast_possible_truncation)]
        let start = ways as u32 + 1;
        self.clock = start;
    }

    /// Every line held, with its set and state, for checking.
    pub fn lines(&self) -> impl Iterator<Item = (usize, Victim)> + '_ {
        let ways = self.ways;
        self.words.chunks_exact(2 * ways).enumerate().flat_map(move |(set, words)| {
            (0..ways).filter(move |&way| words[way] != EMPTY).map(move |way| {
                (set, Victim { line: words[way] - 1, state: LineState::from_bits(words[ways + way]) })
            })
        })
    }
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
    fn renormalising_keeps_the_order_of_leaving() {
        let mut cache = LineCache::new(1, 4);
        for line in [5, 3, 8, 1] {
            cache.insert(0, line, LineState::Exclusive);
        }
        cache.touch(0, 5);
        cache.renormalise();
        let order: Vec<u32> = (20..24)
            .filter_map(|line| cache.insert(0, line, LineState::Shared))
            .map(|victim| victim.line)
            .collect();
        assert_eq!(order, [3, 8, 1, 5]);
    }
}
