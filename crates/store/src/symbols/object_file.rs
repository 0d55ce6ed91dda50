//! One object file as a source of frames. Its addresses are those of the file; the caller takes off the load bias.

use crate::symbols::SymbolError;
use crate::symbols::strip::is_beneath_the_program;
use crate::symbols::table::{self, Function};
use addr2line::{Loader, demangle_auto};
use olifant_opium::profile::Frame;
use std::borrow::Cow;
use std::path::Path;

/// A frame before the innermost ones are stripped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawFrame {
    /// What the profile will hold.
    pub(crate) frame: Frame,
    /// Whether it is of the allocator, the runtime or the language's library rather than of the program.
    pub(crate) is_beneath: bool,
}

/// An object file opened for looking addresses up.
pub(crate) struct ObjectFile {
    name: String,
    /// `None` where the object has no usable debugging information.
    debugging: Option<Loader>,
    functions: Vec<Function>,
}

impl ObjectFile {
    /// Opens the object. Cost: reads the file and the index of its debugging information.
    pub(crate) fn open(path: &Path) -> Result<Self, SymbolError> {
        let functions = table::functions(path)?;
        Ok(ObjectFile { name: base_name(path), debugging: Loader::new(path).ok(), functions })
    }

    /// Stands for an object that cannot be read: it knows its name only.
    pub(crate) fn nameless(path: &Path) -> Self {
        ObjectFile { name: base_name(path), debugging: None, functions: Vec::new() }
    }

    /// The frames at the call that returns to `address`, innermost first; at least one.
    pub(crate) fn frames_of_return(&self, address: u64) -> Vec<RawFrame> {
        // The return address may already be the next statement's, or even the next function's after a call that does
        // not return; the byte before it is part of the call.
        self.frames(address.saturating_sub(1), address)
    }

    /// The frames at the instruction at `address`, innermost first; at least one.
    pub(crate) fn frames_of_instruction(&self, address: u64) -> Vec<RawFrame> {
        self.frames(address, address)
    }

    /// The frames around the instruction at `within`; an offset is shown as that of `address`.
    fn frames(&self, within: u64, address: u64) -> Vec<RawFrame> {
        let mut frames = self.debugged_frames(within);
        if frames.is_empty() {
            frames.push(self.symbol_frame(within, address));
        }
        frames
    }

    /// Frames from the debugging information; none where it says nothing.
    fn debugged_frames(&self, address: u64) -> Vec<RawFrame> {
        let Some(mut found) =
            self.debugging.as_ref().and_then(|debugging| debugging.find_frames(address).ok())
        else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        // A frame that cannot be decoded ends the list; what was decoded is still true.
        while let Ok(Some(found)) = found.next() {
            let location = found.location.as_ref();
            let file = location.and_then(|location| location.file).unwrap_or_default();
            let line = location.and_then(|location| location.line).unwrap_or_default();
            let named = found.function.as_ref().and_then(|function| {
                let raw = function.raw_name().ok()?.into_owned();
                Some((raw, function.demangle().ok()?.into_owned()))
            });
            let (raw, function) = match named.or_else(|| self.symbol_name(address)) {
                Some(names) => names,
                None => continue,
            };
            let is_beneath = is_beneath_the_program(&raw, &function, file);
            frames.push(RawFrame { frame: Frame { function, file: file.to_owned(), line }, is_beneath });
        }
        frames
    }

    /// `function+0x1a` by the symbol table, or `object+0x1234`.
    fn symbol_frame(&self, within: u64, address: u64) -> RawFrame {
        let (function, is_beneath) = match self.function_at(within) {
            Some(symbol) => {
                let name = demangled(&symbol.name);
                let is_beneath = is_beneath_the_program(&symbol.name, &name, "");
                (offset(&name, address - symbol.address), is_beneath)
            }
            None => (offset(&self.name, address), false),
        };
        RawFrame { frame: Frame { function, file: String::new(), line: 0 }, is_beneath }
    }

    /// Linker's and demangled name of the function around `address`.
    fn symbol_name(&self, address: u64) -> Option<(String, String)> {
        let symbol = self.function_at(address)?;
        Some((symbol.name.clone(), demangled(&symbol.name)))
    }

    fn function_at(&self, address: u64) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.address <= address);
        // Aliases share an address; the first of them stands for all.
        let last = self.functions[..after].last()?;
        let first = self.functions.partition_point(|function| function.address < last.address);
        self.functions[first..after].iter().find(|function| address < function.end)
    }
}

fn demangled(name: &str) -> String {
    demangle_auto(Cow::Borrowed(name), None).into_owned()
}

fn offset(name: &str, bytes: u64) -> String {
    format!("{name}+{bytes:#x}")
}

fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
