//! Named sets: a directory of small files for each user, and one for the system.
//!
//! A name is `name` or `namespace/name`; its file is `NAME.toml` below the directory, and its owner and mode are the
//! file's. A user's set hides the system's of the same name. Files are written beside their place and renamed over it,
//! so that a reader finds a set whole or not at all. Sources: AIX's rs_registername(3) for namespaces, owners and modes;
//! the XDG base directories for where a user's files are.

use olifant_machine::{CpuSet, NodeSet};
use olifant_placement::ResourceSet;
use olifant_sys::Errno;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Whose sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The user's own.
    User,
    /// The system's.
    System,
}

/// A named set with who may change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `name` or `namespace/name`.
    pub name: String,
    /// The set.
    pub set: ResourceSet,
    /// Whose it is.
    pub scope: Scope,
    /// The user who owns the file.
    pub owner: u32,
    /// The file's permission bits.
    pub mode: u32,
    /// The file.
    pub path: PathBuf,
}

/// Where named sets are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    user: Option<PathBuf>,
    system: PathBuf,
}

/// Why a named set cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No set has the name.
    #[error("no set is named {name:?}{}", olifant_machine::did_you_mean(.suggestion.as_deref()))]
    Absent {
        /// The name.
        name: String,
        /// The nearest known one.
        suggestion: Option<String>,
    },
    /// The name is not one that sets can have.
    #[error(
        "{name:?} cannot name a set: {problem}; a name is letters, digits, `_`, `-` and `.`, starts with a letter or `_`, \
         and may have a namespace before a `/`"
    )]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// There is a set of this name already.
    #[error("set {0:?} exists; remove it first, or replace it")]
    Exists(String),
    /// A user without a home has no sets.
    #[error("there is no directory for your sets: HOME and XDG_CONFIG_HOME are not set")]
    NoHome,
    /// A file cannot be read or written.
    #[error("{action} {}: {source}", .path.display())]
    File {
        /// `read`, `write`, `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not a set.
    #[error("{}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        problem: String,
    },
}

/// What is in the file of a set.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    #[serde(default)]
    cpus: CpuSet,
    #[serde(default)]
    nodes: NodeSet,
}

/// Words that mean a set by themselves.
const RESERVED: [&str; 3] = ["all", "none", "same"];
const SUFFIX: &str = "toml";

impl RegistryError {
    /// The error number that stands for the error where only a number fits.
    pub fn errno(&self) -> Errno {
        match self {
            RegistryError::Absent { .. } | RegistryError::NoHome => Errno::ENOENT,
            RegistryError::Name { .. } | RegistryError::Malformed { .. } => Errno::EINVAL,
            RegistryError::Exists(_) => Errno::EEXIST,
            RegistryError::File { source, .. } => source.raw_os_error().map_or(Errno::EIO, Errno),
        }
    }
}

impl Registry {
    /// The user's sets in `$XDG_CONFIG_HOME/olifant/rsets` (or below `~/.config`), the system's in `/etc/olifant/rsets`.
    pub fn standard() -> Registry {
        let configuration =
            std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
        let user = configuration.or_else(home).map(|folder| folder.join("olifant/rsets"));
        Registry { user, system: PathBuf::from("/etc/olifant/rsets") }
    }

    /// Sets in these two directories.
    pub fn new(user: Option<PathBuf>, system: PathBuf) -> Registry {
        Registry { user, system }
    }

    /// The set of a name: the user's, else the system's.
    /// # Errors  [`RegistryError`]
    pub fn get(&self, name: &str) -> Result<Entry, RegistryError> {
        check_name(name)?;
        for (scope, folder) in self.folders() {
            let path = file_of(folder, name);
            match read(name, scope, &path) {
                Err(RegistryError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                found => return found,
            }
        }
        let known = self.list()?;
        let suggestion = olifant_machine::nearest(name, known.iter().map(|entry| entry.name.as_str()));
        Err(RegistryError::Absent { name: name.to_owned(), suggestion: suggestion.map(str::to_owned) })
    }

    /// All sets that can be read, by name; of equal names the user's comes first.
    /// # Errors  [`RegistryError`] if a directory or a set is broken; what may not be read is left out.
    pub fn list(&self) -> Result<Vec<Entry>, RegistryError> {
        let mut entries = Vec::new();
        for (scope, folder) in self.folders() {
            for (name, path) in files_of(folder, "")? {
                match read(&name, scope, &path) {
                    Ok(entry) => entries.push(entry),
                    Err(RegistryError::File { source, .. }) if is_out_of_sight(&source) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        entries.sort_by(|a, b| (&a.name, a.scope).cmp(&(&b.name, b.scope)));
        Ok(entries)
    }

    /// Keeps a set under a name, for others to read as `mode` says (0o644: all may).
    /// # Errors  [`RegistryError::Exists`] unless it is to be replaced; [`RegistryError::File`] where the directory may
    /// not be written. Whatever fails, the name means what it meant before.
    pub fn put(
        &self,
        name: &str,
        set: &ResourceSet,
        scope: Scope,
        mode: u32,
        replaces: bool,
    ) -> Result<Entry, RegistryError> {
        check_name(name)?;
        let path = file_of(self.folder(scope)?, name);
        let failed = |source| RegistryError::File { action: "write", path: path.clone(), source };
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        let text = FileText { cpus: set.cpus.clone(), nodes: set.nodes.clone() };
        let text = toml::to_string(&text)
            .map_err(|error| RegistryError::Malformed { path: path.clone(), problem: error.to_string() })?;
        let mut file = tempfile::Builder::new().prefix(".").tempfile_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.as_file().set_permissions(fs::Permissions::from_mode(mode & 0o777)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        let kept = if replaces { file.persist(&path) } else { file.persist_noclobber(&path) };
        match kept {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(RegistryError::Exists(name.to_owned()));
            }
            Err(error) => return Err(failed(error.error)),
        }
        // The name is in the directory's own data: that must reach the disk too.
        fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        read(name, scope, &path)
    }

    /// Forgets a set.
    /// # Errors  [`RegistryError::Absent`], or [`RegistryError::File`] where the directory may not be written.
    pub fn remove(&self, name: &str, scope: Scope) -> Result<(), RegistryError> {
        check_name(name)?;
        let path = file_of(self.folder(scope)?, name);
        fs::remove_file(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => RegistryError::Absent { name: name.to_owned(), suggestion: None },
            _ => RegistryError::File { action: "remove", path, source },
        })
    }

    fn folder(&self, scope: Scope) -> Result<&Path, RegistryError> {
        match scope {
            Scope::User => self.user.as_deref().ok_or(RegistryError::NoHome),
            Scope::System => Ok(&self.system),
        }
    }

    fn folders(&self) -> impl Iterator<Item = (Scope, &Path)> {
        let user = self.user.as_deref().map(|folder| (Scope::User, folder));
        user.into_iter().chain([(Scope::System, self.system.as_path())])
    }
}

fn is_out_of_sight(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{SUFFIX}"))
}

/// Names and files below a directory, one namespace deep.
fn files_of(folder: &Path, namespace: &str) -> Result<Vec<(String, PathBuf)>, RegistryError> {
    let failed = |source| RegistryError::File { action: "read", path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_out_of_sight(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let name = format!("{namespace}{stem}");
        if namespace.is_empty() && path.is_dir() {
            files.extend(files_of(&path, &format!("{stem}/"))?);
        } else if path.extension().is_some_and(|suffix| suffix == SUFFIX) && check_name(&name).is_ok() {
            files.push((name, path));
        }
    }
    Ok(files)
}

fn read(name: &str, scope: Scope, path: &Path) -> Result<Entry, RegistryError> {
    let failed = |source| RegistryError::File { action: "read", path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(failed)?;
    let data = fs::metadata(path).map_err(failed)?;
    let text: FileText = toml::from_str(&text).map_err(|error| RegistryError::Malformed {
        path: path.to_owned(),
        problem: error.message().to_owned(),
    })?;
    Ok(Entry {
        name: name.to_owned(),
        set: ResourceSet::new(text.cpus, text.nodes),
        scope,
        owner: data.uid(),
        mode: data.mode() & 0o777,
        path: path.to_owned(),
    })
}

fn check_name(name: &str) -> Result<(), RegistryError> {
    let refused = |problem| Err(RegistryError::Name { name: name.to_owned(), problem });
    if RESERVED.contains(&name) {
        return refused("the word means a set by itself");
    }
    let parts: Vec<&str> = name.split('/').collect();
    if parts.len() > 2 {
        return refused("namespaces do not nest");
    }
    for part in parts {
        if !part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            return refused("it does not start with a letter");
        }
        if !part.chars().all(|character| character.is_ascii_alphanumeric() || "_-.".contains(character)) {
            return refused("it has other characters");
        }
        if part.len() > 200 {
            return refused("it is longer than a file name can be");
        }
    }
    Ok(())
}
