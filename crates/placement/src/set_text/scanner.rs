//! A place in a text, and the small steps of reading that all forms share.

use super::SetTextError;

/// A place in a text.
#[derive(Debug, Clone)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    /// Offset in bytes, at the start of a character.
    at: usize,
}

impl<'t> Scanner<'t> {
    pub fn new(text: &'t str) -> Self {
        Scanner { text, at: 0 }
    }

    /// What is left.
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// Goes past `wanted` if it is next.
    pub fn take(&mut self, wanted: &str) -> bool {
        let is_next = self.rest().starts_with(wanted);
        if is_next {
            self.at += wanted.len();
        }
        is_next
    }

    pub fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Goes past the characters that belong.
    pub fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A decimal number below 65,536.
    pub fn number(&mut self, noun: &str) -> Result<u16, SetTextError> {
        let start = self.clone();
        let digits = self.take_while(|character| character.is_ascii_digit());
        if digits.is_empty() {
            let found = self.peek().map_or("the end".to_owned(), |character| format!("{character:?}"));
            return Err(start.error(format!("expected {noun} as a number, found {found}")));
        }
        digits.parse().map_err(|_| start.error(format!("{digits} is beyond 65535")))
    }

    pub fn expect_end(&self) -> Result<(), SetTextError> {
        if self.is_at_end() { Ok(()) } else { Err(self.error("expected the end")) }
    }

    /// The error that something is wrong here.
    pub fn error(&self, problem: impl Into<String>) -> SetTextError {
        self.error_after(0, problem)
    }

    /// The error that something is wrong so many bytes on.
    pub fn error_after(&self, bytes: usize, problem: impl Into<String>) -> SetTextError {
        let before = self.text.get(..self.at + bytes).unwrap_or(self.text);
        let at = before.chars().count();
        SetTextError { text: self.text.to_owned(), at, problem: problem.into() }
    }

    /// The error that something is wrong so many characters on.
    pub fn error_at_character(&self, characters: usize, problem: impl Into<String>) -> SetTextError {
        let mut error = self.error(problem);
        error.at += characters;
        error
    }
}
