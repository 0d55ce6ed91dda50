//! The objects that a process has loaded: where they lie, their globals, and their code as bytes.

use olifant_opium::profile::Module;
use olifant_store::symbols::{LoadedSegment, Symbol, global_symbols, loaded_segments};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// A file that was mapped, read once however many processes map it.
#[derive(Debug, Default)]
pub struct ObjectFile {
    segments: Vec<LoadedSegment>,
    symbols: OnceCell<Vec<Symbol>>,
    bytes: OnceCell<Vec<u8>>,
    path: String,
}

impl ObjectFile {
    /// The data objects, ascending by address as in the file; none if it has no symbols.
    pub fn symbols(&self) -> &[Symbol] {
        self.symbols.get_or_init(|| global_symbols(Path::new(&self.path)).unwrap_or_default())
    }

    /// The bytes at a place of the file; fewer than asked for at its end, none if it cannot be read any more.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> usize {
        let bytes = self.bytes.get_or_init(|| std::fs::read(&self.path).unwrap_or_default());
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = bytes.get(from..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        count
    }
}

/// All files that were mapped, by path.
#[derive(Debug, Default)]
pub struct Files(HashMap<String, Option<Rc<ObjectFile>>>);

impl Files {
    /// The file as an object; nothing if it is none, or cannot be read.
    pub fn object(&mut self, path: &str) -> Option<Rc<ObjectFile>> {
        if !path.starts_with('/') {
            return None;
        }
        let found = self.0.entry(path.to_owned()).or_insert_with(|| {
            let segments = loaded_segments(Path::new(path)).ok()?;
            Some(Rc::new(ObjectFile { segments, path: path.to_owned(), ..ObjectFile::default() }))
        });
        found.clone()
    }
}

/// An object at its place in a process.
#[derive(Debug, Clone)]
pub struct LoadedObject {
    /// Its file.
    pub file: Rc<ObjectFile>,
    /// Path, load bias, first and end address.
    pub module: Module,
}

impl LoadedObject {
    /// The object that a mapping of `path` from `offset` at `start` belongs to.
    pub fn of_mapping(file: &Rc<ObjectFile>, path: &str, start: u64, offset: u64) -> Option<LoadedObject> {
        const PAGE: u64 = 4096;
        let segment = file.segments.iter().find(|segment| {
            let (first, end) = (segment.offset / PAGE * PAGE, segment.offset + segment.file_bytes);
            (first..end).contains(&offset)
        })?;
        let bias = start.wrapping_sub(offset).wrapping_add(segment.offset).wrapping_sub(segment.address);
        let first = file.segments.iter().map(|segment| segment.address).min()?;
        let end = file.segments.iter().map(|segment| segment.address + segment.bytes).max()?;
        let module = Module {
            path: path.to_owned(),
            bias,
            start: first.wrapping_add(bias),
            end: end.wrapping_add(bias).next_multiple_of(PAGE),
        };
        Some(LoadedObject { file: Rc::clone(file), module })
    }

    /// The data object at a run-time address.
    pub fn symbol_at(&self, address: u64) -> Option<&Symbol> {
        let address = address.wrapping_sub(self.module.bias);
        let symbols = self.file.symbols();
        let after = symbols.partition_point(|symbol| symbol.address <= address);
        symbols[..after].last().filter(|symbol| address - symbol.address < symbol.bytes)
    }
}
