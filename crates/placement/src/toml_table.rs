//! A TOML table of a plan with its line numbers: typed access to its keys, where every refusal names line and key.

use crate::plan_read::PlanError;
use olifant_machine::{did_you_mean, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One table of the text.
pub(crate) struct Table<'t> {
    text: &'t str,
    /// How messages call it.
    name: &'static str,
    /// Line of its header.
    line: usize,
    entries: DeTable<'t>,
}

impl<'t> Table<'t> {
    /// The whole document.
    pub fn parse(text: &'t str) -> Result<Self, PlanError> {
        let entries = DeTable::parse(text).map_err(|error| PlanError::Syntax {
            line: error.span().map_or(1, |span| line_of(text, span.start)),
            problem: error.message().to_owned(),
        })?;
        Ok(Table { text, name: "the plan", line: 1, entries: entries.into_inner() })
    }

    /// Refuses keys other than these; the first stranger of the text is named.
    pub fn only(&self, known: &[&str]) -> Result<(), PlanError> {
        let strangers = self.entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        match strangers.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => Err(PlanError::UnknownKey {
                line: line_of(self.text, key.span().start),
                table: self.name,
                key: key.get_ref().to_string(),
                hint: did_you_mean(nearest(key.get_ref(), known.iter().copied())),
                known: known.join(", "),
            }),
        }
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// The one key that is there; none or several are refused.
    pub fn one_of(&self, keys: &[&'static str], names: &'static str) -> Result<&'static str, PlanError> {
        let mut present = keys.iter().copied().filter(|key| self.has(key));
        let first = present.next().ok_or_else(|| self.missing(names))?;
        match present.next() {
            None => Ok(first),
            Some(second) => {
                Err(self.law(second, &format!("only one of {names} may be given, and {first} is there")))
            }
        }
    }

    /// A string.
    pub fn string(&self, key: &str) -> Result<Option<String>, PlanError> {
        self.value(key, "a string in quotes", |value| value.as_str().map(str::to_owned))
    }

    /// A whole number, not negative.
    pub fn whole(&self, key: &str) -> Result<Option<u64>, PlanError> {
        self.value(key, "a whole number from 0 to 9223372036854775807", |value| {
            let integer = value.as_integer()?;
            i64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .and_then(|number| u64::try_from(number).ok())
        })
    }

    /// A whole number that must be there.
    pub fn needed_whole(&self, key: &'static str) -> Result<u64, PlanError> {
        self.whole(key)?.ok_or_else(|| self.missing(key))
    }

    /// A whole number of at most 32 bits.
    pub fn whole_u32(&self, key: &str) -> Result<Option<u32>, PlanError> {
        self.whole(key)?
            .map(|number| {
                u32::try_from(number)
                    .map_err(|_| self.law(key, "a whole number from 0 to 4294967295 is needed"))
            })
            .transpose()
    }

    /// A number, whole or not.
    pub fn number(&self, key: &str) -> Result<Option<f64>, PlanError> {
        self.value(key, "a number", |value| match value {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) => integer.as_str().parse().ok(),
            _ => None,
        })
    }

    /// A table within this one.
    pub fn table(&self, key: &str, name: &'static str) -> Result<Option<Table<'t>>, PlanError> {
        self.entries.get(key).map(|value| self.inner(key, name, value)).transpose()
    }

    /// An array of tables within this one; empty if absent.
    pub fn tables(&self, key: &str, name: &'static str) -> Result<Vec<Table<'t>>, PlanError> {
        let Some(value) = self.entries.get(key) else { return Ok(Vec::new()) };
        let array =
            value.get_ref().as_array().ok_or_else(|| self.law(key, &format!("write it as {name}")))?;
        array.iter().map(|item| self.inner(key, name, item)).collect()
    }

    /// The refusal of a key's value.
    pub fn law(&self, key: &str, law: &str) -> PlanError {
        let line = self.entries.get(key).map_or(self.line, |value| line_of(self.text, value.span().start));
        PlanError::Law { line, key: key.to_owned(), law: law.to_owned() }
    }

    /// The refusal of a table without a key.
    pub fn missing(&self, key: &'static str) -> PlanError {
        PlanError::Missing { line: self.line, table: self.name, key }
    }

    fn inner(
        &self,
        key: &str,
        name: &'static str,
        value: &Spanned<DeValue<'t>>,
    ) -> Result<Table<'t>, PlanError> {
        let entries =
            value.get_ref().as_table().ok_or_else(|| self.law(key, &format!("write it as {name}")))?;
        Ok(Table {
            text: self.text,
            name,
            line: line_of(self.text, value.span().start),
            entries: entries.clone(),
        })
    }

    fn value<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&DeValue) -> Option<T>,
    ) -> Result<Option<T>, PlanError> {
        match self.entries.get(key) {
            None => Ok(None),
            Some(value) => {
                read(value.get_ref()).map(Some).ok_or_else(|| self.law(key, &format!("{wanted} is needed")))
            }
        }
    }
}

/// The line of a byte offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}
