//! Lists of cpus in Linux's notation, read as sequences: order and repetition are kept, since place i of the list is
//! for thread i.
//!
//! `A` is one cpu, `A-B` a range, `A-B:U/G` the first U of every G cpus of the range (so `0-30:1/2` is each even cpu).
//! A range must ascend, as in Linux. Source: cpuset(7), "List format"; the stride form is that of the kernel's
//! bitmap lists. Left out: the kernel's words `all` and `N`, which need to know the machine.

use core::fmt::Write as _;
use olifant_machine::CpuId;

/// Consecutive cpus from this many on are written as a range.
const SHORTEST_RANGE: usize = 3;
/// Evenly spaced cpus from this many on are written with a stride; shorter ones read better in full.
const SHORTEST_STRIDE: usize = 5;

/// What is wrong with a list, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListError {
    /// The first character in doubt, counted from 1.
    pub character: usize,
    /// What is wrong there.
    pub problem: String,
}

/// Reads a list; an empty text is an error.
pub(crate) fn parse(text: &str) -> Result<Vec<CpuId>, ListError> {
    let mut reader = Reader { text, at: 0 };
    let mut cpus = Vec::new();
    loop {
        reader.item(&mut cpus)?;
        if reader.at == text.len() {
            return Ok(cpus);
        }
        if !reader.take(',') {
            return Err(reader.fail("a comma was expected"));
        }
    }
}

/// Writes a list compactly; it reads back to the same sequence.
pub(crate) fn format(cpus: &[CpuId]) -> String {
    compact_list(&cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>())
}

/// Numbers as a list of cpus would be written: `0-3,8` or `0-30:1/2`; for lists of threads in messages.
pub fn compact_list(numbers: &[u16]) -> String {
    let mut text = String::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        if !text.is_empty() {
            text.push(',');
        }
        let step = rest.get(1).map_or(0, |second| second.saturating_sub(first));
        let length =
            1 + rest.windows(2).take_while(|pair| pair[1].checked_sub(pair[0]) == Some(step)).count();
        let last = rest[length - 1];
        // Writing to a string cannot fail.
        let taken = if step == 1 && length >= SHORTEST_RANGE {
            let _ = write!(text, "{first}-{last}");
            length
        } else if step > 1 && length >= SHORTEST_STRIDE {
            let _ = write!(text, "{first}-{last}:1/{step}");
            length
        } else {
            let _ = write!(text, "{first}");
            1
        };
        rest = &rest[taken..];
    }
    text
}

/// A position in the text.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    /// Reads `A`, `A-B` or `A-B:U/G`.
    fn item(&mut self, cpus: &mut Vec<CpuId>) -> Result<(), ListError> {
        let first = self.number("a cpu number")?;
        if !self.take('-') {
            cpus.push(CpuId(first));
            return Ok(());
        }
        let last_at = self.at;
        let last = self.number("the last cpu of the range")?;
        if last < first {
            self.at = last_at;
            return Err(self.fail(&format!("a range ascends, and {last} is below {first}")));
        }
        let (used, group) = if self.take(':') { self.stride()? } else { (1, 1) };
        cpus.extend((first..=last).filter(|cpu| (cpu - first) % group < used).map(CpuId));
        Ok(())
    }

    /// Reads `U/G`.
    fn stride(&mut self) -> Result<(u16, u16), ListError> {
        let used_at = self.at;
        let used = self.number("how many of each group are used")?;
        if !self.take('/') {
            return Err(self.fail("a / and the size of a group were expected"));
        }
        let group = self.number("the size of a group")?;
        if used == 0 || used > group {
            self.at = used_at;
            return Err(
                self.fail(&format!("of each group of {group} at least 1 and at most {group} are used"))
            );
        }
        Ok((used, group))
    }

    fn number(&mut self, what: &str) -> Result<u16, ListError> {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.fail(&format!("{what} was expected")));
        }
        let number =
            rest[..digits].parse().map_err(|_| self.fail(&format!("{what} is a number from 0 to 65535")))?;
        self.at += digits;
        Ok(number)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.text[self.at..].starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn fail(&self, problem: &str) -> ListError {
        ListError { character: self.text[..self.at].chars().count() + 1, problem: problem.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(numbers: &[u16]) -> Vec<CpuId> {
        numbers.iter().copied().map(CpuId).collect()
    }

    #[test]
    fn ranges_and_strides_are_read_in_order_with_repetition() {
        assert_eq!(parse("0,4,8,12"), Ok(ids(&[0, 4, 8, 12])));
        assert_eq!(parse("3,1-2,1"), Ok(ids(&[3, 1, 2, 1])));
        assert_eq!(parse("0-15:2/8"), Ok(ids(&[0, 1, 8, 9])));
        assert_eq!(parse("0-7:1/3"), Ok(ids(&[0, 3, 6])));
        assert_eq!(parse("5-5"), Ok(ids(&[5])));
    }

    #[test]
    fn the_written_form_is_compact() {
        assert_eq!(format(&ids(&[0, 1, 2, 3])), "0-3");
        assert_eq!(format(&ids(&[0, 4, 8, 12, 1, 5, 9, 13])), "0,4,8,12,1,5,9,13");
        assert_eq!(format(&ids(&[0, 2, 4, 6, 8, 10])), "0-10:1/2");
        assert_eq!(format(&ids(&[7, 7, 7, 1, 2])), "7,7,7,1,2");
    }

    #[test]
    fn an_error_points_at_its_character() {
        for (text, character) in [
            ("", 1),
            ("1,", 3),
            ("1,,2", 3),
            ("4-2", 3),
            ("1-", 3),
            ("1 2", 2),
            ("0-7:0/2", 5),
            ("0-7:3/2", 5),
            ("70000", 1),
        ] {
            assert_eq!(parse(text).unwrap_err().character, character, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            runs in prop::collection::vec((0u16..500, 0u16..4, 1u16..9), 1..12),
        ) {
            let cpus: Vec<CpuId> =
                runs.iter().flat_map(|&(first, step, n)| (0..n).map(move |i| CpuId(first + i * step))).collect();
            prop_assert_eq!(parse(&format(&cpus)), Ok(cpus));
        }
    }
}
