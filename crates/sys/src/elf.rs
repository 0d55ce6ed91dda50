//! The little of ELF that starting programs takes: their loader's path, and the part of the file that is loaded. A build
//! with debugging information is many times larger than what runs.
//! Source: System V ABI, "Object Files"; 64-bit, least significant byte first.

use std::path::PathBuf;

/// Program headers start here.
const HEADERS_AT: usize = 32;
const HEADER_SIZE_AT: usize = 54;
const HEADER_COUNT_AT: usize = 56;
/// Which processors the code is for.
const MACHINE_AT: usize = 18;
/// EM_X86_64, EM_AARCH64.
const OWN_MACHINE: u64 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
/// Where the section headers are, and how many: not loaded, so both may be zero.
const SECTIONS_AT: usize = 40;
const SECTION_COUNT_AT: usize = 60;
const LOAD: u64 = 1;
const INTERPRETER: u64 = 3;

/// One program header: a segment of the file.
struct Segment {
    kind: u64,
    offset: usize,
    size: usize,
}

/// Whether a file is an executable or a library for processors like this one's.
pub fn is_native(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF\x02\x01") && number(bytes, MACHINE_AT, 2) == Some(OWN_MACHINE)
}

/// The path of the loader that an executable asks for.
pub fn interpreter(bytes: &[u8]) -> Option<PathBuf> {
    let segment = segments(bytes)?.into_iter().find(|segment| segment.kind == INTERPRETER)?;
    let name = bytes.get(segment.offset..segment.offset.checked_add(segment.size)?)?;
    let name = std::str::from_utf8(name).ok()?;
    Some(PathBuf::from(name.trim_end_matches('\0')))
}

/// The file without what follows the last loaded segment; the file itself where it is not understood.
pub fn loaded_part(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = segments(&bytes).and_then(|segments| {
        segments
            .iter()
            .filter(|segment| segment.kind == LOAD)
            .map(|segment| segment.offset.checked_add(segment.size))
            .max()?
    });
    let Some(end) = end.filter(|&end| end <= bytes.len() && end > SECTION_COUNT_AT + 4) else { return bytes };
    bytes.truncate(end);
    bytes[SECTIONS_AT..SECTIONS_AT + 8].fill(0);
    bytes[SECTION_COUNT_AT..SECTION_COUNT_AT + 4].fill(0);
    bytes
}

fn segments(bytes: &[u8]) -> Option<Vec<Segment>> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let at = usize::try_from(number(bytes, HEADERS_AT, 8)?).ok()?;
    let size = usize::try_from(number(bytes, HEADER_SIZE_AT, 2)?).ok()?;
    let count = usize::try_from(number(bytes, HEADER_COUNT_AT, 2)?).ok()?;
    (0..count)
        .map(|index| {
            let header = at.checked_add(index.checked_mul(size)?)?;
            Some(Segment {
                kind: number(bytes, header, 4)?,
                offset: usize::try_from(number(bytes, header.checked_add(8)?, 8)?).ok()?,
                size: usize::try_from(number(bytes, header.checked_add(32)?, 8)?).ok()?,
            })
        })
        .collect()
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn the_loaded_part_of_a_program_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        // This very test program has debugging information; asked for its list of tests, it is quick.
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let size = whole.len();
        assert!(interpreter(&whole).unwrap().is_absolute());
        let part = loaded_part(whole);
        assert!(part.len() < size);
        std::fs::write(&path, part).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Command::new(&path).arg("--list").output().unwrap().status.success());
    }

    #[test]
    fn what_is_no_executable_stays_as_it_is() {
        assert_eq!(loaded_part(b"#!/bin/sh".to_vec()), b"#!/bin/sh");
        assert_eq!(interpreter(b"\x7fELF\x02\x01"), None);
        assert_eq!(loaded_part(b"\x7fELF\x02\x01".to_vec()), b"\x7fELF\x02\x01");
    }
}
