//! Code addresses and the program's source: from an address to function, file and line for a reader, and back from a
//! line to addresses so that the next run can recognise a site.
//!
//! Debugging information (DWARF) is used where there is some, the symbol table where there is none, and the object's
//! name and an offset where there is neither; an answer always exists. Separate debugging files are not looked for,
//! except the split units that the object itself names.
//!
//! - [`resolve`] and [`Symbolizer`]: run-time addresses of a profile to frames (`symbolizer.rs`, `strip.rs`);
//! - [`addresses_of_line`] and [`LineTable`]: a line to link-time addresses (`lines.rs`);
//! - [`Variables`]: the members of globals by their offsets (`fields.rs`);
//! - [`global_symbols`], [`is_instrumented`]: what an object's symbol table tells (`table.rs`);
//! - [`loaded_segments`]: where an object lies in memory (`segments.rs`).

mod fields;
mod lines;
mod object_file;
mod segments;
mod strip;
mod symbolizer;
mod table;

pub use fields::{Field, Variables};
pub use lines::{LineTable, addresses_of_line};
pub use segments::{LoadedSegment, loaded_segments};
pub use symbolizer::{Symbolizer, resolve};
pub use table::{Symbol, global_symbols, is_instrumented};

use std::io;
use std::path::PathBuf;

/// An object file whose symbols cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SymbolError {
    /// The file is missing, or may not be read.
    #[error("{}: cannot read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not an ELF object, or a damaged one.
    #[error("{}: not a program or shared library ({reason})", path.display())]
    NotAnObject {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
