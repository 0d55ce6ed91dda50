//! /proc/PID/maps: the mappings of a process.
//!
//! Source: proc_pid_maps(5).

use super::directory;
use crate::{Pid, ReadError, Root};
use core::ops::Range;

/// One mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// Its addresses.
    pub range: Range<usize>,
    /// May be read.
    pub is_readable: bool,
    /// May be written.
    pub is_writable: bool,
    /// May be executed.
    pub is_executable: bool,
    /// Writes reach the file and other processes.
    pub is_shared: bool,
    /// Where in the file it starts, in bytes.
    pub offset: u64,
    /// Inode of the file; 0 for anonymous memory.
    pub inode: u64,
    /// Path, or a name such as `[heap]`; empty for anonymous memory.
    pub name: String,
}

/// The mappings of a process, ascending.
/// # Errors  [`ReadError`]; `is_gone` if there is no such process.
pub fn maps(root: &Root, process: Pid) -> Result<Vec<Map>, ReadError> {
    let file = format!("{}/maps", directory(process));
    let text = root.text(&file)?;
    maps_of_text(&text).map_err(|line| root.malformed(&file, line, "not a mapping"))
}

/// The mappings that a text of this form lists.
/// # Errors  The number of the first line that is not a mapping, from 1.
pub fn maps_of_text(text: &str) -> Result<Vec<Map>, usize> {
    text.lines().enumerate().map(|(index, line)| parse(line).ok_or(index + 1)).collect()
}

fn parse(line: &str) -> Option<Map> {
    // Six fields; the last, a path, may hold blanks and be absent.
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let rights = fields.next()?.as_bytes();
    let [read, write, execute, share] = *rights else { return None };
    let offset = u64::from_str_radix(fields.next()?, 16).ok()?;
    let _device = fields.next()?;
    let inode = fields.next()?.parse().ok()?;
    Some(Map {
        range: start..end,
        is_readable: read == b'r',
        is_writable: write == b'w',
        is_executable: execute == b'x',
        is_shared: share == b's',
        offset,
        inode,
        name: fields.next().unwrap_or("").trim_start().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_mapping_is_listed() {
        let mapping = crate::Mapping::anonymous(&crate::MappingOptions::new(1 << 20)).unwrap();
        let maps = maps(&Root::default(), Pid::CALLING).unwrap();
        let map = maps.iter().find(|map| map.range.contains(&mapping.range().start)).unwrap();
        assert!(map.range.end >= mapping.range().end);
        assert!(map.is_writable);
        assert!(!map.is_shared);
    }

    #[test]
    fn a_path_with_blanks_is_read_whole() {
        let text = "7f00-7f80 r-xs 00001000 fd:01 42                 /a dir/b c (deleted)\n";
        let maps = maps_of_text(text).unwrap();
        assert_eq!((maps[0].name.as_str(), maps[0].inode), ("/a dir/b c (deleted)", 42));
        assert_eq!(maps[0].range, 0x7f00..0x7f80);
        assert!(maps[0].is_shared && maps[0].is_executable && !maps[0].is_writable);
        assert_eq!(maps_of_text("7f00-7f80 r-xp 0 fd:01 0\nno mapping"), Err(2));
    }
}
