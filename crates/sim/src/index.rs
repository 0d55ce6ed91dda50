//! Numbers as indices.

// Addresses, calendar words and page numbers are 64 bits wide and index tables: the simulator needs a 64-bit host.
const _: () = assert!(usize::BITS == 64, "the simulator needs a 64-bit host");

/// A 64-bit number as an index.
#[allow(clippy::cast_possible_truncation)]
pub const fn index(number: u64) -> usize {
    number as usize
}
