//! From a source line to the addresses of its code, so that a plan's sites can be recognised by return address in the
//! next run, without looking anything up while the program runs.
//!
//! A line owns the code that the line table gives to it, and the code of functions inlined into it: a call of
//! malloc inside an inlined function returns into both lines.

use crate::symbols::SymbolError;
use crate::symbols::table;
use addr2line::{Loader, demangle_auto};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path};

/// The line table of one object, ready for many questions.
pub struct LineTable {
    /// Ranges of addresses by line, then by file; in the order of the table.
    lines: BTreeMap<u32, BTreeMap<String, Vec<Range<u64>>>>,
    /// Ranges of addresses by function, demangled.
    functions: BTreeMap<String, Vec<Range<u64>>>,
}

impl LineTable {
    /// Reads the whole line table of `object`. Cost: about a microsecond per row. Of an object without debugging
    /// information only the functions are known.
    ///
    /// # Errors
    /// `Unreadable` or `NotAnObject`.
    pub fn open(object: &Path) -> Result<Self, SymbolError> {
        // First by the symbol table's reader, whose errors tell a missing file from a foreign one.
        let mut table = LineTable { lines: BTreeMap::new(), functions: BTreeMap::new() };
        for function in table::functions(object)? {
            table.add_function(&demangle_auto(function.name.into(), None), function.address..function.end);
        }
        let Ok(loader) = Loader::new(object) else { return Ok(table) };
        let Ok(rows) = loader.find_location_range(0, u64::MAX) else { return Ok(table) };
        for (start, bytes, location) in rows {
            let code = start..start.saturating_add(bytes);
            table.add(location.file, location.line, &code);
            let Ok(mut frames) = loader.find_frames(start) else { continue };
            // The innermost frame is the row itself; the others are where it was inlined.
            let mut is_innermost = true;
            while let Ok(Some(frame)) = frames.next() {
                if let Some(location) = frame.location.filter(|_| !is_innermost) {
                    table.add(location.file, location.line, &code);
                }
                is_innermost = false;
                if let Some(name) = frame.function.as_ref().and_then(|function| function.demangle().ok()) {
                    table.add_function(&name, code.clone());
                }
            }
        }
        Ok(table)
    }

    /// The link-time addresses of the code of `line` in `file`, ascending, adjacent ranges joined. `file` is matched by
    /// its last components: `grid.c` and `src/grid.c` both name `/home/ada/src/grid.c`.
    ///
    /// A return address belongs to a range if the byte before it does.
    pub fn addresses_of_line(&self, file: &str, line: u32) -> Vec<Range<u64>> {
        let files = self.lines.get(&line).into_iter().flatten();
        joined(
            files.filter(|(known, _)| is_same_file(known, file)).flat_map(|(_, code)| code.clone()).collect(),
        )
    }

    /// The same for all the code of a function, wherever it was inlined.
    pub fn addresses_of_function(&self, function: &str) -> Vec<Range<u64>> {
        joined(self.functions.get(function).cloned().unwrap_or_default())
    }

    fn add_function(&mut self, name: &str, code: Range<u64>) {
        match self.functions.get_mut(name) {
            // Most rows of a function lie within its symbol.
            Some(ranges) if ranges.iter().any(|known| known.start <= code.start && code.end <= known.end) => {
            }
            Some(ranges) => ranges.push(code),
            None => _ = self.functions.insert(name.to_owned(), vec![code]),
        }
    }

    fn add(&mut self, file: Option<&str>, line: Option<u32>, code: &Range<u64>) {
        if let (Some(file), Some(line), false) = (file, line, code.is_empty()) {
            let files = self.lines.entry(line).or_default();
            match files.get_mut(file) {
                Some(ranges) => ranges.push(code.clone()),
                None => _ = files.insert(file.to_owned(), vec![code.clone()]),
            }
        }
    }
}

/// Ranges in ascending order, those that touch made one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// [`LineTable::addresses_of_line`] for a single question to `object`.
///
/// # Errors
/// `Unreadable` or `NotAnObject`.
pub fn addresses_of_line(object: &Path, file: &str, line: u32) -> Result<Vec<Range<u64>>, SymbolError> {
    Ok(LineTable::open(object)?.addresses_of_line(file, line))
}

/// Whether two paths may name the same file: one ends with the other, component by component.
fn is_same_file(one: &str, other: &str) -> bool {
    let components = |path| Path::new(path).components().rev().filter(|part| *part != Component::CurDir);
    !one.is_empty() && !other.is_empty() && components(one).zip(components(other)).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::is_same_file;

    #[test]
    fn a_file_is_known_by_its_last_components() {
        for other in ["grid.c", "src/grid.c", "./grid.c", "/home/ada/src/grid.c"] {
            assert!(is_same_file("/home/ada/src/grid.c", other), "{other}");
        }
        for other in ["", "rid.c", "lib/grid.c", "/src/grid.c", "/home/bob/src/grid.c"] {
            assert!(!is_same_file("/home/ada/src/grid.c", other), "{other}");
        }
    }
}
