//! Reading one table of a machine file: typed values by key, with the line of each for messages, and the keys asked
//! for, so that whatever else stands there is reported as unknown.

use super::quantity::{Number, Quantity};
use super::{TomlError, TomlProblem};
use crate::nearest::nearest;
use ::toml::Spanned;
use ::toml::de::{DeInteger, DeTable, DeValue};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The file's text, and where each key that was read stands.
pub(super) struct Document<'t> {
    text: &'t str,
    /// From the unit-less key (`processor.l1.line`) to the key as written, its value's text and its line.
    written: RefCell<BTreeMap<String, Written>>,
}

/// How a key was written.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) line: usize,
}

impl<'t> Document<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Document { text, written: RefCell::default() }
    }

    pub(super) fn line_of(&self, span: &Range<usize>) -> usize {
        let end = span.start.min(self.text.len());
        1 + self.text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Where the value that `key` (without unit) names was written, or failing that the table it belongs to.
    pub(super) fn find(&self, key: &str) -> Option<Written> {
        let written = self.written.borrow();
        let mut key = key;
        loop {
            if let Some(found) = written.get(key) {
                return Some(found.clone());
            }
            key = &key[..key.rfind(['.', '['])?];
        }
    }

    fn remember(&self, plain_key: String, key: String, value: Option<String>, span: &Range<usize>) {
        let line = self.line_of(span);
        self.written.borrow_mut().insert(plain_key, Written { key, value, line });
    }
}

/// One table of the file.
pub(super) struct Section<'d, 't> {
    document: &'d Document<'t>,
    /// The key of the table, empty at the top.
    path: String,
    table: &'d DeTable<'t>,
    line: usize,
    /// The keys asked for so far.
    known: RefCell<BTreeSet<String>>,
    /// The same for a message: a quantity once, with all its units.
    shown: RefCell<BTreeSet<String>>,
}

impl<'d, 't> Section<'d, 't> {
    pub(super) fn top(document: &'d Document<'t>, table: &'d DeTable<'t>) -> Self {
        Section {
            document,
            path: String::new(),
            table,
            line: 1,
            known: RefCell::default(),
            shown: RefCell::default(),
        }
    }

    /// A table below this one.
    pub(super) fn section(&self, name: &str) -> Result<Section<'d, 't>, TomlError> {
        self.optional_section(name)?
            .ok_or_else(|| self.missing(&[name.to_owned()], &format!("[{}]", self.key(name))))
    }

    /// A table below this one, if it is there.
    pub(super) fn optional_section(&self, name: &str) -> Result<Option<Section<'d, 't>>, TomlError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let table = value.as_ref().as_table().ok_or_else(|| self.wrong_kind(name, value, "a section"))?;
        Ok(Some(self.below(self.key(name), table, &value.span())))
    }

    /// The tables of a list, empty where there is none.
    pub(super) fn list(&self, name: &str) -> Result<Vec<Section<'d, 't>>, TomlError> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let expected = || self.wrong_kind(name, value, "a list of tables");
        let array = value.as_ref().as_array().ok_or_else(expected)?;
        let mut sections = Vec::with_capacity(array.len());
        for (index, item) in array.iter().enumerate() {
            let table = item.as_ref().as_table().ok_or_else(expected)?;
            sections.push(self.below(format!("{}[{index}]", self.key(name)), table, &item.span()));
        }
        Ok(sections)
    }

    fn below(&self, path: String, table: &'d DeTable<'t>, span: &Range<usize>) -> Section<'d, 't> {
        self.document.remember(path.clone(), path.clone(), None, span);
        let line = self.document.line_of(span);
        Section {
            document: self.document,
            path,
            table,
            line,
            known: RefCell::default(),
            shown: RefCell::default(),
        }
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Result<&'d str, TomlError> {
        let value = self.required(name)?;
        value.as_ref().as_str().ok_or_else(|| self.wrong_kind(name, value, "a text in quotes"))
    }

    /// A text turned into something else by `parse`, whose error becomes the broken law.
    pub(super) fn parsed<T, E: ToString>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, TomlError> {
        parse(self.text(name)?).map_err(|error| self.law(name, error.to_string()))
    }

    /// A yes or no; `None` where it is not given.
    pub(super) fn optional_flag(&self, name: &str) -> Result<Option<bool>, TomlError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let flag = value.as_ref().as_bool();
        flag.map(Some).ok_or_else(|| self.wrong_kind(name, value, "true or false"))
    }

    /// A yes or no.
    pub(super) fn flag(&self, name: &str) -> Result<bool, TomlError> {
        self.required(name)?;
        Ok(self.optional_flag(name)?.unwrap_or_default())
    }

    /// A whole number that fits the type.
    pub(super) fn count<N: TryFrom<u64>>(&self, name: &str) -> Result<N, TomlError> {
        let value = self.required(name)?;
        let number = match number(value.as_ref()) {
            Some(Number::Whole(whole)) => N::try_from(whole).ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong_kind(name, value, "a whole number in range"))
    }

    /// A number.
    pub(super) fn real(&self, name: &str) -> Result<f64, TomlError> {
        let value = self.required(name)?;
        number(value.as_ref()).map(Number::real).ok_or_else(|| self.wrong_kind(name, value, "a number"))
    }

    /// A quantity, in whichever of its units it is given.
    pub(super) fn quantity<Q: Quantity>(&self, name: &str) -> Result<Q, TomlError> {
        let spellings: Vec<String> = Q::UNITS.iter().map(|(ending, _)| format!("{name}_{ending}")).collect();
        self.optional_quantity(name)?
            .ok_or_else(|| self.missing(&spellings, &self.key(&spellings.join(" or "))))
    }

    /// A quantity, if it is given.
    pub(super) fn optional_quantity<Q: Quantity>(&self, name: &str) -> Result<Option<Q>, TomlError> {
        let endings: Vec<&str> = Q::UNITS.iter().map(|(ending, _)| *ending).collect();
        self.shown.borrow_mut().insert(format!("{name}_{}", endings.join("|")));
        let mut found: Option<(String, Q)> = None;
        for &(ending, scale) in Q::UNITS {
            let spelling = format!("{name}_{ending}");
            let Some(value) = self.look_up(&spelling) else { continue };
            let quantity = number(value.as_ref())
                .and_then(|number| Q::from_number(number, scale))
                .ok_or_else(|| self.wrong_kind(&spelling, value, Q::EXPECTED))?;
            self.remember(name, &spelling, value);
            if let Some((other, _)) = found {
                return Err(
                    self.error(&value.span(), TomlProblem::GivenTwice(self.key(name), other, spelling))
                );
            }
            found = Some((spelling, quantity));
        }
        Ok(found.map(|(_, quantity)| quantity))
    }

    /// An error about the value of `name`: a law that it breaks.
    pub(super) fn law(&self, name: &str, law: String) -> TomlError {
        let found = self.document.find(&self.key(name));
        let value = found.as_ref().and_then(|written| written.value.clone()).unwrap_or_default();
        let line = found.map_or(self.line, |written| written.line);
        let problem = crate::LawBroken { key: self.key(name), value, law }.into();
        TomlError { file: None, line, problem }
    }

    /// Rejects the first key that nothing asked for.
    pub(super) fn finish(self) -> Result<(), TomlError> {
        let known = self.known.borrow();
        let Some((key, _)) =
            self.table.iter().find(|(key, _)| !known.contains(key.as_ref().as_ref() as &str))
        else {
            return Ok(());
        };
        let suggestion = nearest(key.as_ref(), known.iter().map(String::as_str)).map(str::to_owned);
        let all: Vec<String> = self.shown.borrow().iter().cloned().collect();
        Err(self.unknown(key.as_ref(), &key.span(), suggestion, all))
    }

    fn get(&self, name: &str) -> Option<&'d Spanned<DeValue<'t>>> {
        self.shown.borrow_mut().insert(name.to_owned());
        self.look_up(name)
    }

    fn look_up(&self, name: &str) -> Option<&'d Spanned<DeValue<'t>>> {
        self.known.borrow_mut().insert(name.to_owned());
        let value = self.table.get(name)?;
        self.remember(name, name, value);
        Some(value)
    }

    fn required(&self, name: &str) -> Result<&'d Spanned<DeValue<'t>>, TomlError> {
        self.get(name).ok_or_else(|| self.missing(&[name.to_owned()], &self.key(name)))
    }

    fn remember(&self, plain_name: &str, name: &str, value: &Spanned<DeValue<'t>>) {
        let text = self.source_text(value);
        self.document.remember(self.key(plain_name), self.key(name), Some(text), &value.span());
    }

    /// A key is missing; if one stands there that looks like a misspelling of it, that is the better message.
    fn missing(&self, spellings: &[String], shown: &str) -> TomlError {
        let known = self.known.borrow();
        for (key, _) in self.table {
            let written: &str = key.as_ref();
            if known.contains(written) {
                continue;
            }
            if let Some(meant) = nearest(written, spellings.iter().map(String::as_str)) {
                return self.unknown(written, &key.span(), Some(meant.to_owned()), Vec::new());
            }
        }
        TomlError { file: None, line: self.line, problem: TomlProblem::Missing(shown.to_owned()) }
    }

    fn unknown(
        &self,
        key: &str,
        span: &Range<usize>,
        suggestion: Option<String>,
        known: Vec<String>,
    ) -> TomlError {
        self.error(span, TomlProblem::UnknownKey { key: self.key(key), suggestion, known })
    }

    fn wrong_kind(&self, name: &str, value: &Spanned<DeValue<'t>>, expected: &str) -> TomlError {
        let found = self.source_text(value);
        let problem = TomlProblem::WrongKind { key: self.key(name), found, expected: expected.to_owned() };
        self.error(&value.span(), problem)
    }

    fn source_text(&self, value: &Spanned<DeValue<'t>>) -> String {
        let text = self.document.text.get(value.span()).unwrap_or_default();
        text.lines().next().unwrap_or_default().trim().to_owned()
    }

    fn error(&self, span: &Range<usize>, problem: TomlProblem) -> TomlError {
        TomlError { file: None, line: self.document.line_of(span), problem }
    }

    fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

fn number(value: &DeValue<'_>) -> Option<Number> {
    if let Some(integer) = value.as_integer() {
        return whole(integer).map(Number::Whole);
    }
    value.as_float()?.as_str().parse().ok().map(Number::Real)
}

fn whole(integer: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}
