//! Published values: `published.csv`, and further files in the same form.

use crate::LedgerError;
use serde::Deserialize;
use std::path::Path;

/// One published value, in the words of the table that it was copied from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Published {
    /// The paper.
    pub seed: String,
    /// Table, figure or section.
    #[serde(rename = "where")]
    pub place: String,
    /// The application.
    pub application: String,
    /// The configuration.
    pub configuration: String,
    /// The policy.
    pub policy: String,
    /// The metric.
    pub metric: String,
    /// The value: a number, or words.
    pub value: String,
    /// The unit.
    pub unit: String,
    /// Where it comes from.
    pub note: String,
}

impl Published {
    /// The value as a number; none for words.
    pub fn number(&self) -> Option<f64> {
        self.value.trim().parse().ok().filter(|value: &f64| value.is_finite())
    }
}

/// Reads published values.
/// # Errors  A file that cannot be read, or a line that lacks a column.
pub fn read_published(path: &Path) -> Result<Vec<Published>, LedgerError> {
    let text = std::fs::read_to_string(path).map_err(|source| LedgerError::Read {
        path: path.to_owned(),
        source,
        hint: "",
    })?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(|error| LedgerError::form(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_numbers_and_quotes_hold_commas() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("published.csv");
        let text = "seed,where,application,configuration,policy,metric,value,unit,note\n\
                    A,T,App,4N4;1 threads,\"BEST=t1,m2\",time,10.50,s,published\n\
                    A,T,App,4N4,,loss,2-3,x,published\n";
        std::fs::write(&path, text).unwrap();
        let values = read_published(&path).unwrap();
        assert_eq!(values[0].policy, "BEST=t1,m2");
        assert_eq!(values[0].number(), Some(10.5));
        assert_eq!(values[1].number(), None);
    }

    #[test]
    fn a_line_that_lacks_columns_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("published.csv");
        std::fs::write(&path, "seed,where\nA,T\n").unwrap();
        let error = read_published(&path).unwrap_err().to_string();
        assert!(error.contains("published.csv") && error.contains("application"), "{error}");
    }
}
