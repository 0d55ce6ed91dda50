//! The hexadecimal mask form of a set: `f,ffffffff`.
//!
//! Words of 32 bits, most significant first, separated by commas, as in the kernel's `cpumap` files. hwloc's spelling
//! of the same thing, with `0x` before each word and empty words for zero (`0x1,,0x3`), is read too. Printed masks
//! have no prefix, eight digits in every word but the first, and `0` for the empty set.

use crate::cpulist::SetSyntaxError;
use crate::set::{IdSet, SetMember};

const WORD_DIGITS: usize = 8;

impl<M: SetMember> IdSet<M> {
    /// Reads a mask.
    /// # Errors  [`SetSyntaxError`] points at the character that cannot be part of a mask.
    pub fn from_mask(text: &str) -> Result<Self, SetSyntaxError> {
        let error = |byte: usize, problem: String| SetSyntaxError {
            text: text.to_owned(),
            at: text[..byte].chars().count(),
            problem,
        };
        let trimmed = text.trim();
        let indent = text.len() - text.trim_start().len();
        if trimmed.is_empty() {
            return Err(error(indent, "expected a hexadecimal mask, found nothing".to_owned()));
        }
        let mut halves = Vec::new();
        let mut start = indent;
        for word in trimmed.split(',') {
            let digits = word.strip_prefix("0x").unwrap_or(word);
            let digits_start = start + word.len() - digits.len();
            if let Some((offset, bad)) = digits.char_indices().find(|(_, digit)| !digit.is_ascii_hexdigit()) {
                return Err(error(
                    digits_start + offset,
                    format!("expected a hexadecimal digit, found {bad:?}"),
                ));
            }
            if digits.is_empty() && !word.is_empty() {
                return Err(error(digits_start, "expected a hexadecimal digit after 0x".to_owned()));
            }
            if digits.len() > WORD_DIGITS && trimmed.contains(',') {
                let problem = format!("a word has at most {WORD_DIGITS} digits; separate words by commas");
                return Err(error(digits_start + WORD_DIGITS, problem));
            }
            push_words(digits, &mut halves);
            start += word.len() + 1;
        }
        halves.reverse();
        if let Some(beyond) = halves.iter().skip(1 << 11).position(|&half| half != 0) {
            let highest = ((1 << 11) + beyond) * 32;
            return Err(error(indent, format!("{} {highest} or one above it is beyond 65535", M::NOUN)));
        }
        let words = halves.chunks(2).map(|pair| {
            let high = pair.get(1).copied().unwrap_or(0);
            u64::from(pair[0]) | u64::from(high) << 32
        });
        Ok(Self::from_words(words.collect()))
    }

    /// Prints the set as a mask.
    pub fn to_mask(&self) -> String {
        self.mask_words().iter().enumerate().fold(String::new(), |mask, (index, word)| match index {
            0 => format!("{word:x}"),
            _ => format!("{mask},{word:08x}"),
        })
    }

    /// The 32-bit words of the mask, most significant first; the first is zero only for the empty set.
    pub(crate) fn mask_words(&self) -> Vec<u32> {
        #[allow(clippy::cast_possible_truncation)] // the two halves of a word, each cut on purpose
        let halves = self.words().iter().rev().flat_map(|&word| [(word >> 32) as u32, word as u32]);
        let mut words: Vec<u32> = halves.skip_while(|&half| half == 0).collect();
        if words.is_empty() {
            words.push(0);
        }
        words
    }
}

/// Appends the 32-bit words that `digits` spell, most significant first; no digits are one zero word. A mask without
/// commas may be of any length.
fn push_words(digits: &str, words: &mut Vec<u32>) {
    if digits.is_empty() {
        words.push(0);
    }
    let head = digits.len() % WORD_DIGITS;
    let (head, tail) = digits.split_at(head);
    let chunks = tail.as_bytes().chunks(WORD_DIGITS).filter_map(|chunk| core::str::from_utf8(chunk).ok());
    let spelled = core::iter::once(head).filter(|head| !head.is_empty()).chain(chunks);
    words.extend(spelled.filter_map(|chunk| u32::from_str_radix(chunk, 16).ok()));
}
