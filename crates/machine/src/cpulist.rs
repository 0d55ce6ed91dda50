//! The Linux cpulist form of a set: `0-3,8,10-14:2`.
//!
//! Members and ranges separated by commas; `a-b:s` takes every s-th of a range, as taskset(1) does, and `a-b:u/g` the
//! first u of each group of g, as the kernel does (Documentation/admin-guide/kernel-parameters.rst, "cpu lists").
//! Spaces around a part are allowed, an empty text is the empty set. Printed sets use plain ranges only. Left out:
//! the kernel's words `all` and `N`, which need to know the machine.

use crate::set::{IdSet, SetMember};
use core::fmt;
use core::str::FromStr;

/// Why a text is not a set, and at which character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: character {}: {problem}", .at + 1)]
pub struct SetSyntaxError {
    /// The whole text.
    pub text: String,
    /// The offset in characters, from 0, of where reading stopped.
    pub at: usize,
    /// What is wrong there.
    pub problem: String,
}

impl<M: SetMember> FromStr for IdSet<M> {
    type Err = SetSyntaxError;

    fn from_str(text: &str) -> Result<Self, SetSyntaxError> {
        let mut set = Self::new();
        let mut scanner = Scanner { text, at: 0 };
        scanner.skip_spaces();
        if scanner.peek().is_none() {
            return Ok(set);
        }
        loop {
            scanner.part(&mut set)?;
            scanner.skip_spaces();
            match scanner.peek() {
                None => return Ok(set),
                Some(',') => scanner.at += 1,
                Some(_) => return Err(scanner.error("expected a comma or the end")),
            }
            scanner.skip_spaces();
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    /// Offset in bytes.
    at: usize,
}

impl Scanner<'_> {
    /// One member or range.
    fn part<M: SetMember>(&mut self, set: &mut IdSet<M>) -> Result<(), SetSyntaxError> {
        let first = self.number(M::NOUN)?;
        if !self.take('-') {
            set.insert(M::from_number(first));
            return Ok(());
        }
        let last_at = self.at;
        let last = self.number(M::NOUN)?;
        if last < first {
            return Err(self.error_at(last_at, format!("the range ends before it starts ({last} < {first})")));
        }
        let (mut used, mut group) = (1, 1);
        if self.take(':') {
            let used_at = self.at;
            let step = self.number("step")?;
            if self.take('/') {
                (used, group) = (step, self.number("group size")?);
            } else {
                group = step;
            }
            if used == 0 || group == 0 || used > group {
                return Err(
                    self.error_at(used_at, "a step is at least 1, and a group at least its used part")
                );
            }
        }
        set.extend((first..=last).filter(|number| (number - first) % group < used).map(M::from_number));
        Ok(())
    }

    fn number(&mut self, noun: &str) -> Result<u16, SetSyntaxError> {
        let start = self.at;
        while self.peek().is_some_and(|character| character.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            let found = match self.peek() {
                Some(character) => format!("{character:?}"),
                None => "the end".to_owned(),
            };
            return Err(self.error(format!("expected a {noun} number, found {found}")));
        }
        let digits = &self.text[start..self.at];
        digits.parse().map_err(|_| self.error_at(start, format!("{noun} {digits} is beyond 65535")))
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|character| character.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn error(&self, problem: impl Into<String>) -> SetSyntaxError {
        self.error_at(self.at, problem)
    }

    fn error_at(&self, byte: usize, problem: impl Into<String>) -> SetSyntaxError {
        let at = self.text[..byte].chars().count();
        SetSyntaxError { text: self.text.to_owned(), at, problem: problem.into() }
    }
}

impl<M: SetMember> fmt::Display for IdSet<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut members = self.iter().map(SetMember::number).peekable();
        let mut separator = "";
        while let Some(first) = members.next() {
            let mut last = first;
            while let Some(next) = members.next_if(|&next| next == last + 1) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}
