//! Patterns: words in which `*` stands for any text, and rows written `application | configuration | threads | policy`.

use crate::LedgerError;
use core::str::FromStr;

/// Whether `text` is the pattern's words; `*` stands for any text, also for none.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| matches(tail, &rest[at..]))
        }),
    }
}

/// Which rows are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPattern {
    application: String,
    configuration: String,
    threads: String,
    policy: String,
}

impl FromStr for RowPattern {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        let words: Vec<&str> = text.split('|').map(str::trim).collect();
        let [application, configuration, threads, policy] = words[..] else {
            return Err(LedgerError::Pattern(text.to_owned()));
        };
        Ok(RowPattern {
            application: application.to_owned(),
            configuration: configuration.to_owned(),
            threads: threads.to_owned(),
            policy: policy.to_owned(),
        })
    }
}

impl RowPattern {
    /// Whether a row is meant. Of a label like `4N4;16 threads` the part before the semicolon counts.
    pub fn means(&self, application: &str, configuration: &str, threads: u32, policy: &str) -> bool {
        let configuration = configuration.split(';').next().unwrap_or_default();
        matches(&self.application, application)
            && matches(&self.configuration, configuration)
            && matches(&self.threads, &threads.to_string())
            && matches(&self.policy, policy)
    }

    /// Whether any number of rows may be meant.
    pub fn is_for_many(&self) -> bool {
        self.application.contains('*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_is_meant_by_all_four_words() {
        let pattern: RowPattern = "Jacobi | 4N4 | 16 | BEST=*".parse().unwrap();
        assert!(pattern.means("Jacobi", "4N4;16 threads", 16, "BEST=t1,m2"));
        assert!(!pattern.means("Jacobi", "4N4;16 threads", 12, "BEST=t1,m2"));
        assert!(!pattern.means("Jacobi", "4N2;16 threads", 16, "BEST=t1,m2"));
        assert!("Jacobi | 4N4 | 16".parse::<RowPattern>().is_err());
    }

    proptest! {
        #[test]
        fn a_text_matches_itself_and_any_of_its_parts_replaced_by_a_star(text in "[a-c;=]{0,8}", from in 0usize..9, to in 0usize..9) {
            let (from, to) = (from.min(text.len()), to.min(text.len()));
            prop_assert!(matches(&text, &text));
            if from <= to {
                let pattern = format!("{}*{}", &text[..from], &text[to..]);
                prop_assert!(matches(&pattern, &text));
            }
            let longer = format!("{}x", text);
            prop_assert!(!matches(&text, &longer));
        }
    }
}
