//! Sets as the bit rows that system calls take and give.

use olifant_machine::{IdSet, SetMember};

/// Words for every id that a set can hold: 65,536 bits.
pub(crate) const ALL_WORDS: usize = 1024;

/// The row as the kernel takes it (`unsigned long`); never empty, so that its address is always good.
pub(crate) fn row<M: SetMember>(set: &IdSet<M>) -> Vec<u64> {
    let mut words = set.words().to_vec();
    if words.is_empty() {
        words.push(0);
    }
    words
}

/// `maxnode` for a row of so many words. The kernel looks at one bit less than it is told (get_nodes in
/// mm/mempolicy.c), so that all bits count only if it is told one more.
pub(crate) fn max_node(words: usize) -> libc::c_ulong {
    (words * 64 + 1) as libc::c_ulong
}
