//! The first hundred bytes of a profile file, looked at before SQLite is, so that a foreign, newer or cut-off file
//! gets its own message instead of a general one.
//!
//! Source: "Database File Format", section 1.3 (the database header), sqlite.org/fileformat2.html.

use crate::StoreError;
use crate::schema::{APPLICATION_ID, SCHEMA_VERSION};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Every SQLite file begins so.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes of the header.
const HEADER_BYTES: usize = 100;
/// Offset of the page size: two bytes, where 1 stands for 65,536.
const PAGE_SIZE: usize = 16;
/// Offset of the counter of changes.
const CHANGE_COUNTER: usize = 24;
/// Offset of the size of the file in pages.
const PAGE_COUNT: usize = 28;
/// Offset of the version of the schema.
const USER_VERSION: usize = 60;
/// Offset of the mark of the application.
const APPLICATION: usize = 68;
/// Offset of the change counter for which the page count is valid.
const VALID_FOR: usize = 92;

/// Checks that `path` is a whole profile file of a known schema; returns the schema's version.
///
/// # Errors
/// `Unreadable`, `NotAProfile`, `Newer` or `Truncated`.
pub(crate) fn check(path: &Path) -> Result<u32, StoreError> {
    let unreadable = |source| StoreError::Unreadable { path: path.to_owned(), source };
    let foreign = |reason: &str| StoreError::NotAProfile { path: path.to_owned(), reason: reason.to_owned() };

    // Asked before opening: opening a pipe waits for its writer.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(foreign("it is a folder"));
    }
    if !metadata.is_file() {
        return Err(foreign("it is not a regular file"));
    }
    let found = metadata.len();
    let mut head = Vec::with_capacity(HEADER_BYTES);
    let file = File::open(path).map_err(unreadable)?;
    file.take(HEADER_BYTES as u64).read_to_end(&mut head).map_err(unreadable)?;

    if head.is_empty() {
        return Err(foreign("it is empty"));
    }
    if !head.starts_with(MAGIC) {
        return Err(foreign("it is not a SQLite file"));
    }
    if head.len() < HEADER_BYTES {
        return Err(StoreError::Truncated { path: path.to_owned(), expected: HEADER_BYTES as u64, found });
    }
    let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if word(APPLICATION) != APPLICATION_ID {
        return Err(foreign("it is a SQLite file of another application"));
    }
    if word(USER_VERSION) > SCHEMA_VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: word(USER_VERSION),
            known: SCHEMA_VERSION,
        });
    }
    if word(USER_VERSION) == 0 {
        return Err(foreign("it has no schema version"));
    }
    let page_bytes = match u64::from(u16::from_be_bytes([head[PAGE_SIZE], head[PAGE_SIZE + 1]])) {
        1 => 65_536,
        bytes => bytes,
    };
    let expected = page_bytes * u64::from(word(PAGE_COUNT));
    if word(CHANGE_COUNTER) == word(VALID_FOR) && found < expected {
        return Err(StoreError::Truncated { path: path.to_owned(), expected, found });
    }
    Ok(word(USER_VERSION))
}
