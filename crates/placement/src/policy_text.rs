//! The text forms of the policies: what `--threads` and `--memory` accept and what profiles and plans record.
//!
//! Memory: `first-touch`, `local`, `remote`, `any`, `striped[:PAGES]`, `node:N`. Threads: `fill`, `round-robin`,
//! `float`, or a list of cpus (see [`crate::cpu_list`]). What is displayed reads back to the same value.

use crate::cpu_list::{self, ListError};
use crate::{MemoryPolicy, ThreadPolicy};
use core::fmt;
use core::str::FromStr;
use olifant_machine::{NodeId, did_you_mean, nearest};

/// What a memory policy may be, for messages.
const MEMORY_FORMS: &str = "first-touch, local, remote, any, striped[:PAGES], node:N";
/// What a thread policy may be, for messages.
const THREAD_FORMS: &str = "fill, round-robin, float, or a list of cpus as in 0,4,8-11 or 0-30:1/2";

/// A policy that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {text:?}, character {character}: {problem}; accepted: {accepted}")]
pub struct PolicyError {
    /// `memory policy` or `thread policy`.
    pub kind: &'static str,
    /// The text as given.
    pub text: String,
    /// The first character in doubt, counted from 1.
    pub character: usize,
    /// What is wrong with it.
    pub problem: String,
    /// The forms that would be read.
    pub accepted: &'static str,
}

impl FromStr for MemoryPolicy {
    type Err = PolicyError;

    /// Reads a memory policy.
    /// # Errors  [`PolicyError`] points at the first character in doubt and lists what is accepted.
    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let fail = |character: usize, problem: String| PolicyError {
            kind: "memory policy",
            text: text.to_owned(),
            character,
            problem,
            accepted: MEMORY_FORMS,
        };
        let (word, argument) = match text.split_once(':') {
            Some((word, argument)) => (word, Some(argument)),
            None => (text, None),
        };
        let after_colon = word.chars().count() + 2;
        let plain = |policy| match argument {
            None => Ok(policy),
            Some(_) => Err(fail(after_colon - 1, format!("{word} takes no number"))),
        };
        match word {
            "first-touch" => plain(MemoryPolicy::FirstTouch),
            "local" => plain(MemoryPolicy::Local),
            "remote" => plain(MemoryPolicy::Remote),
            "any" => plain(MemoryPolicy::Any),
            "striped" => match argument.map_or(Some(1), whole_number) {
                Some(pages) if pages > 0 => Ok(MemoryPolicy::Striped { pages }),
                _ => Err(fail(
                    after_colon,
                    "a stripe is a whole number of pages from 1 to 4294967295".to_owned(),
                )),
            },
            "node" => {
                let number = argument
                    .ok_or_else(|| fail(after_colon - 1, "the number of the node is missing".to_owned()))?;
                match whole_number(number).map(u16::try_from) {
                    Some(Ok(node)) => Ok(MemoryPolicy::Node(NodeId(node))),
                    _ => Err(fail(after_colon, "a node is a whole number from 0 to 65535".to_owned())),
                }
            }
            _ => {
                let known = ["first-touch", "local", "remote", "any", "striped", "node"];
                let hint = did_you_mean(nearest(word, known));
                Err(fail(1, format!("{word:?} is not known{hint}")))
            }
        }
    }
}

impl fmt::Display for MemoryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryPolicy::FirstTouch => f.write_str("first-touch"),
            MemoryPolicy::Local => f.write_str("local"),
            MemoryPolicy::Remote => f.write_str("remote"),
            MemoryPolicy::Any => f.write_str("any"),
            MemoryPolicy::Striped { pages } => write!(f, "striped:{pages}"),
            MemoryPolicy::Node(node) => write!(f, "node:{node}"),
        }
    }
}

impl FromStr for ThreadPolicy {
    type Err = PolicyError;

    /// Reads a thread policy.
    /// # Errors  [`PolicyError`] points at the first character in doubt and lists what is accepted.
    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let fail = |character: usize, problem: String| PolicyError {
            kind: "thread policy",
            text: text.to_owned(),
            character,
            problem,
            accepted: THREAD_FORMS,
        };
        match text {
            "fill" => Ok(ThreadPolicy::Fill),
            "round-robin" => Ok(ThreadPolicy::RoundRobin),
            "float" => Ok(ThreadPolicy::Float),
            _ if text.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                let hint = did_you_mean(nearest(text, ["fill", "round-robin", "float"]));
                Err(fail(1, format!("{text:?} is not known{hint}")))
            }
            _ => cpu_list::parse(text)
                .map(ThreadPolicy::List)
                .map_err(|ListError { character, problem }| fail(character, problem)),
        }
    }
}

impl fmt::Display for ThreadPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadPolicy::Fill => f.write_str("fill"),
            ThreadPolicy::RoundRobin => f.write_str("round-robin"),
            ThreadPolicy::Float => f.write_str("float"),
            ThreadPolicy::List(cpus) => f.write_str(&cpu_list::format(cpus)),
        }
    }
}

/// Digits only: `str::parse` alone would also take a sign.
fn whole_number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_machine::CpuId;
    use proptest::prelude::*;

    fn memory_error(text: &str) -> String {
        text.parse::<MemoryPolicy>().unwrap_err().to_string()
    }

    #[test]
    fn each_memory_form_is_read() {
        let cases = [
            ("first-touch", MemoryPolicy::FirstTouch),
            ("local", MemoryPolicy::Local),
            ("remote", MemoryPolicy::Remote),
            ("any", MemoryPolicy::Any),
            ("striped", MemoryPolicy::Striped { pages: 1 }),
            ("striped:16", MemoryPolicy::Striped { pages: 16 }),
            ("node:3", MemoryPolicy::Node(NodeId(3))),
        ];
        for (text, policy) in cases {
            assert_eq!(text.parse(), Ok(policy), "{text}");
        }
    }

    #[test]
    fn an_error_points_at_the_character_and_lists_what_is_accepted() {
        assert_eq!(
            memory_error("stripd:4"),
            "memory policy \"stripd:4\", character 1: \"stripd\" is not known (did you mean \"striped\"?); \
             accepted: first-touch, local, remote, any, striped[:PAGES], node:N"
        );
        assert!(
            memory_error("striped:0").contains("character 9: a stripe is a whole number of pages from 1")
        );
        assert!(memory_error("striped:").contains("character 9"));
        assert!(memory_error("node").contains("character 5: the number of the node is missing"));
        assert!(memory_error("node:+1").contains("character 6"));
        assert!(memory_error("node:70000").contains("0 to 65535"));
        assert!(memory_error("local:1").contains("character 6: local takes no number"));
        let error = "0,4,x".parse::<ThreadPolicy>().unwrap_err();
        assert_eq!((error.kind, error.character), ("thread policy", 5));
        let message = "robin-round".parse::<ThreadPolicy>().unwrap_err().to_string();
        assert!(message.contains("accepted: fill, round-robin, float, or a list of cpus"), "{message}");
    }

    fn memory_policies() -> impl Strategy<Value = MemoryPolicy> {
        prop_oneof![
            Just(MemoryPolicy::FirstTouch),
            Just(MemoryPolicy::Local),
            Just(MemoryPolicy::Remote),
            Just(MemoryPolicy::Any),
            (1..=u32::MAX).prop_map(|pages| MemoryPolicy::Striped { pages }),
            any::<u16>().prop_map(|node| MemoryPolicy::Node(NodeId(node))),
        ]
    }

    fn thread_policies() -> impl Strategy<Value = ThreadPolicy> {
        prop_oneof![
            Just(ThreadPolicy::Fill),
            Just(ThreadPolicy::RoundRobin),
            Just(ThreadPolicy::Float),
            prop::collection::vec(any::<u16>().prop_map(CpuId), 1..40).prop_map(ThreadPolicy::List),
        ]
    }

    proptest! {
        #[test]
        fn a_memory_policy_reads_back(policy in memory_policies()) {
            prop_assert_eq!(policy.to_string().parse(), Ok(policy));
        }

        #[test]
        fn a_thread_policy_reads_back(policy in thread_policies()) {
            prop_assert_eq!(policy.to_string().parse(), Ok(policy));
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "\\PC{0,20}") {
            let _ = text.parse::<MemoryPolicy>();
            let _ = text.parse::<ThreadPolicy>();
        }
    }
}
