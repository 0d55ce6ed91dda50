//! What the symbol table of an ELF object tells: its functions, its data objects, whether it was instrumented.

use crate::symbols::SymbolError;
use addr2line::demangle_auto;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use std::borrow::Cow;
use std::fs;
use std::path::Path;

/// The symbol that the runtime of instrumented programs defines.
const RUNTIME_MARK: &str = "__olifant_runtime_version";

/// A named run of an object's addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, demangled.
    pub name: String,
    /// First address, as in the file (add the load bias for the run-time address).
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// The data objects in `.data` and `.bss` of `object` that have a size, ascending by address. Of several names of one
/// address the one of the largest object stays, then a global one, then the one with fewer leading underscores.
///
/// # Errors
/// `Unreadable` or `NotAnObject`. An object without a symbol table has no globals; that is no error.
pub fn global_symbols(object: &Path) -> Result<Vec<Symbol>, SymbolError> {
    with_object(object, |file| {
        let is_variable_data = |symbol: &object::Symbol<'_, '_>| {
            let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
            // Thread-local data is another kind. What is read-only after relocation is the language's, or constant.
            section.is_some_and(|section| {
                matches!(section.kind(), SectionKind::Data | SectionKind::UninitializedData)
                    && section.name().is_ok_and(|name| !name.starts_with(".data.rel.ro"))
            })
        };
        let mut found: Vec<_> = symbols(file)
            .filter(|symbol| {
                symbol.kind() == SymbolKind::Data && symbol.size() > 0 && is_variable_data(symbol)
            })
            .filter_map(|symbol| {
                // A variable of a library that the program holds a copy of: `stdout@GLIBC_2.2.5`.
                let name = symbol.name().ok()?.split('@').next()?;
                let underscores = name.len() - name.trim_start_matches('_').len();
                let rank = (symbol.address(), u64::MAX - symbol.size(), !symbol.is_global(), underscores);
                Some((rank, name.to_owned(), symbol.size()))
            })
            .collect();
        found.sort();
        found.dedup_by_key(|((address, ..), ..)| *address);
        let globals = found.into_iter().map(|((address, ..), name, bytes)| Symbol {
            name: demangle_auto(Cow::Owned(name), None).into_owned(),
            address,
            bytes,
        });
        globals.collect()
    })
}

/// Whether `object` carries the runtime, that is: was built by `olifant cc` or its sisters.
///
/// # Errors
/// `Unreadable` or `NotAnObject`.
pub fn is_instrumented(object: &Path) -> Result<bool, SymbolError> {
    with_object(object, |file| {
        symbols(file).any(|symbol| symbol.is_definition() && symbol.name() == Ok(RUNTIME_MARK))
    })
}

/// A function by its symbol; its name is not demangled.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    /// First address, as in the file.
    pub(crate) address: u64,
    /// End address; the next function's start where the symbol has no size.
    pub(crate) end: u64,
    /// Its linker's name.
    pub(crate) name: String,
}

/// The functions of `object`, ascending by address.
pub(crate) fn functions(object: &Path) -> Result<Vec<Function>, SymbolError> {
    with_object(object, |file| {
        let mut found: Vec<_> = symbols(file)
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| {
                let end = symbol.address().saturating_add(symbol.size());
                Some(Function { address: symbol.address(), end, name: symbol.name().ok()?.to_owned() })
            })
            .collect();
        found.sort();
        for index in 0..found.len() {
            if found[index].end == found[index].address {
                let next = found[index..].iter().find(|next| next.address > found[index].address);
                found[index].end = next.map_or(u64::MAX, |next| next.address);
            }
        }
        found
    })
}

/// The full symbol table, or the dynamic one of a stripped object.
fn symbols<'file>(
    file: &'file object::File<'file>,
) -> impl Iterator<Item = object::Symbol<'file, 'file>> + use<'file> {
    let is_stripped = file.symbols().next().is_none();
    let dynamic = is_stripped.then(|| file.dynamic_symbols()).into_iter().flatten();
    file.symbols().chain(dynamic)
}

/// Reads the ELF object `path` and lets `ask` look at it.
pub(crate) fn with_object<T>(
    path: &Path,
    ask: impl FnOnce(&object::File<'_>) -> T,
) -> Result<T, SymbolError> {
    let bytes = fs::read(path).map_err(|source| SymbolError::Unreadable { path: path.to_owned(), source })?;
    let file = object::File::parse(&*bytes)
        .map_err(|error| SymbolError::NotAnObject { path: path.to_owned(), reason: error.to_string() })?;
    Ok(ask(&file))
}
