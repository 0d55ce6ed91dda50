//! Where kernels and saved guests are kept between runs: `olifant/lab` in the user's cache folder.
//! Source: XDG Base Directory Specification 0.8, XDG_CACHE_HOME.

use crate::LabError;
use std::path::PathBuf;

/// The folder of this name in the lab's cache, made where it is missing.
/// # Errors  `Tool` where neither XDG_CACHE_HOME nor HOME says where, `File` if it cannot be made.
pub fn folder(name: &str) -> Result<PathBuf, LabError> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .ok_or_else(|| LabError::Tool {
            tool: "cache folder".to_owned(),
            problem: "neither XDG_CACHE_HOME nor HOME is an absolute path: set one".to_owned(),
        })?;
    let folder = cache.join("olifant/lab").join(name);
    std::fs::create_dir_all(&folder).map_err(LabError::file("cannot make folder", &folder))?;
    Ok(folder)
}
