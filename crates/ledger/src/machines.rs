//! The machines of an evaluation: files of its own beside the definitions, which may be calibrated for it alone, and the
//! built-in ones.

use crate::LedgerError;
use olifant_machine::{Machine, catalogue};
use std::path::{Path, PathBuf};

/// Where machines are found by name.
#[derive(Debug, Clone, Default)]
pub struct Machines {
    /// Folder of files `NAME.toml`; it need not exist.
    folder: PathBuf,
}

impl Machines {
    /// Those of an evaluation: `machines/` in its folder of definitions.
    pub fn of(definitions: &Path) -> Self {
        Self { folder: definitions.join("machines") }
    }

    /// What `olifant run --on` takes for a machine: the evaluation's own file if there is one, else the name.
    pub fn argument(&self, name: &str) -> PathBuf {
        self.file(name).unwrap_or_else(|| PathBuf::from(name))
    }

    /// A configuration of a machine.
    /// # Errors  A file that is no machine, a name that nothing has, a configuration that the machine lacks.
    pub fn find(&self, name: &str, configuration: &str) -> Result<Machine, LedgerError> {
        let fail = |problem: String| LedgerError::Run { run: format!("{name} {configuration}"), problem };
        let machine = match self.file(name) {
            Some(path) => {
                let text = std::fs::read_to_string(&path).map_err(|source| LedgerError::Read {
                    path: path.clone(),
                    source,
                    hint: "",
                })?;
                Machine::from_toml(&text).map_err(|error| LedgerError::form(&path, error.to_string()))?
            }
            None => catalogue::find(name).map_err(|error| fail(error.to_string()))?,
        };
        machine.configure(configuration).map_err(|error| fail(error.to_string()))
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(name).with_extension("toml");
        path.is_file().then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluations_own_machine_comes_before_the_built_in_one_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let machines = Machines::of(folder.path());
        let built_in = machines.find("olifant", "1N4").unwrap();
        assert_eq!(machines.argument("olifant"), Path::new("olifant"));

        let mut own = catalogue::find("olifant").unwrap();
        own.processor.cpi = 7.0;
        let path = folder.path().join("machines/olifant.toml");
        std::fs::create_dir(folder.path().join("machines")).unwrap();
        std::fs::write(&path, own.to_toml()).unwrap();
        assert_eq!(machines.argument("olifant"), path);
        let found = machines.find("olifant", "1N4").unwrap();
        assert_eq!(found.processor.cpi, 7.0);
        assert_eq!(found.nodes, built_in.nodes);
    }
}
