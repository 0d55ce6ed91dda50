//! Where the segments of an ELF object lie, in the file and in memory.

use crate::symbols::SymbolError;
use crate::symbols::table::with_object;
use object::{Object, ObjectSegment};
use std::path::Path;

/// A segment that the loader maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedSegment {
    /// First address, as in the file (add the load bias for the run-time address).
    pub address: u64,
    /// Bytes in memory, which may be more than in the file: the rest is zeros.
    pub bytes: u64,
    /// Where it is in the file.
    pub offset: u64,
    /// Bytes in the file.
    pub file_bytes: u64,
}

/// The segments of `object` that are mapped, in the order of the file.
/// # Errors
/// `Unreadable` or `NotAnObject`.
pub fn loaded_segments(object: &Path) -> Result<Vec<LoadedSegment>, SymbolError> {
    with_object(object, |file| {
        let segments = file.segments().map(|segment| {
            let (offset, file_bytes) = segment.file_range();
            LoadedSegment { address: segment.address(), bytes: segment.size(), offset, file_bytes }
        });
        segments.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segments_of_this_program_hold_its_code() {
        let segments = loaded_segments(&std::env::current_exe().unwrap()).unwrap();
        assert!(segments.len() >= 2);
        assert!(segments.iter().all(|segment| segment.bytes >= segment.file_bytes));
        assert!(segments.is_sorted_by_key(|segment| segment.address));
    }
}
