//! The hooks' own objects (crates/runtime/hooks): taken from beside the runtime if they were built in advance, else
//! compiled for this link from the sources that the driver carries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::arguments::Language;
use super::error::DriverError;
use super::toolchain::{self, Backend};

const SOURCES: [(&str, &str); 5] = [
    ("block.h", include_str!("../../../runtime/hooks/block.h")),
    ("slow.c", include_str!("../../../runtime/hooks/slow.c")),
    ("called.c", include_str!("../../../runtime/hooks/called.c")),
    ("library.c", include_str!("../../../runtime/hooks/library.c")),
    ("entries.S", include_str!("../../../runtime/hooks/entries.S")),
];

/// The object's name beside the runtime; it says which sources it is made from, so one of another version is not taken.
fn object_name() -> String {
    // FNV-1a, 64 bits.
    let hash =
        SOURCES.iter().flat_map(|(_, text)| text.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("olifant_hooks-{hash:016x}.o")
}

/// Linker inputs that hold the hooks.
/// # Errors a compiler's failure.
pub fn find_or_build(
    runtime: &Path,
    backend: Backend,
    directory: &Path,
) -> Result<Vec<OsString>, DriverError> {
    let ready = runtime.with_file_name(object_name());
    if ready.is_file() {
        return Ok(vec![ready.into_os_string()]);
    }
    Ok(vec![build(backend, directory)?.into_os_string()])
}

/// Compiles the hooks into one relocatable object in `directory` and returns its path.
/// # Errors a compiler's failure; a file that cannot be written.
pub fn build(backend: Backend, directory: &Path) -> Result<PathBuf, DriverError> {
    for (name, text) in SOURCES {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|source| DriverError::File { path, source })?;
    }
    let object = directory.join(object_name());
    let mut tool = toolchain::compiler(backend, Language::C)?;
    tool.arguments(["-O2", "-g1", "-fPIC", "-std=gnu11", "-nostdlib", "-r", "-w", "-o"]).argument(&object);
    for (name, _) in &SOURCES[1..] {
        tool.argument(directory.join(name));
    }
    tool.run()?;
    Ok(object)
}
