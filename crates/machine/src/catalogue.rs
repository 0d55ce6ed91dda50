//! The machines that come with Olifant: the files of the folder `machines`, built in.

use crate::{Machine, TomlError};

/// Names and file texts, in the order of the papers that describe them.
const FILES: [(&str, &str); 6] = [
    ("olifant", include_str!("../../../machines/olifant.toml")),
    ("opteron-4", include_str!("../../../machines/opteron-4.toml")),
    ("x4800", include_str!("../../../machines/x4800.toml")),
    ("t5440", include_str!("../../../machines/t5440.toml")),
    ("altix-64", include_str!("../../../machines/altix-64.toml")),
    ("altix-512", include_str!("../../../machines/altix-512.toml")),
];
const ASSUMED: &str = include_str!("../../../machines/assumed.toml");

/// Why no machine of a name can be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// No machine has this name.
    #[error(
        "machine {name:?} is unknown{}; known: {}",
        crate::nearest::did_you_mean(*.suggestion),
        names().join(", ")
    )]
    Unknown {
        /// The name given.
        name: String,
        /// The nearest known one.
        suggestion: Option<&'static str>,
    },
    /// A built-in file is wrong; the tests rule it out.
    #[error(transparent)]
    File(#[from] TomlError),
}

/// The names of all built-in machines.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// The text of a built-in machine's file, with its comments.
/// # Errors  [`CatalogueError::Unknown`] lists the known names.
pub fn text(name: &str) -> Result<&'static str, CatalogueError> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text).ok_or_else(|| {
        CatalogueError::Unknown { name: name.to_owned(), suggestion: crate::nearest::nearest(name, names()) }
    })
}

/// The built-in machine of this name.
/// # Errors  [`CatalogueError::Unknown`] lists the known names.
pub fn find(name: &str) -> Result<Machine, CatalogueError> {
    Ok(Machine::from_toml(text(name)?).map_err(|error| error.in_file(format!("machines/{name}.toml")))?)
}

/// What an unmeasured present-day computer is taken to be like: the timings for [`Machine::from_structure`] where
/// nothing better is known. Not among [`names`].
/// # Errors  [`CatalogueError::File`] if the built-in file is wrong; the tests rule it out.
pub fn assumed() -> Result<Machine, CatalogueError> {
    Ok(Machine::from_toml(ASSUMED).map_err(|error| error.in_file("machines/assumed.toml"))?)
}
