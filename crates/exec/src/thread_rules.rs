//! The words of `--skip` and `--thread`: which threads are left out, and which have cpus of their own.

use crate::ExecError;
use olifant_frontend::inside::{ThreadRule, WhichThreads};
use olifant_machine::CpuSet;

/// Letters of a thread's name that Linux keeps.
const LONGEST_NAME: usize = 15;

/// Reads `1,3-4`: numbers of threads.
/// # Errors  `Usage`.
pub fn skip(text: &str) -> Result<Vec<u32>, ExecError> {
    // The same grammar as a list of cpus, and the same bound.
    let numbers: CpuSet = text
        .parse()
        .map_err(|_| ExecError::Usage(format!("--skip {text}: expected numbers of threads, as 1,3-4")))?;
    Ok(numbers.iter().map(|number| number.0.into()).collect())
}

/// Reads `WHICH=CPUS`: a number, a range of numbers, or a name; and cpus, or `float`.
/// # Errors  `Usage`.
pub fn rule(text: &str) -> Result<ThreadRule, ExecError> {
    let usage = |problem: String| ExecError::Usage(format!("--thread {text}: {problem}"));
    let (which, cpus) = text
        .rsplit_once('=')
        .filter(|(which, _)| !which.is_empty())
        .ok_or_else(|| usage("expected WHICH=CPUS, as 0=4, 1-3=float or 'io*=8-11'".to_owned()))?;
    let cpus = match cpus {
        "float" => Vec::new(),
        list => {
            let cpus: CpuSet = list.parse().map_err(|error| usage(format!("{error}")))?;
            if cpus.is_empty() {
                return Err(usage("no cpus; `float` leaves a thread to the system".to_owned()));
            }
            cpus.iter().collect()
        }
    };
    let number = |text: &str| {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            text.parse().ok()
        } else {
            None
        }
    };
    let (first, last) = which.split_once('-').unwrap_or((which, which));
    let which = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => WhichThreads::Numbers(first, last),
        (Some(_), Some(_)) => return Err(usage("the numbers descend".to_owned())),
        _ if which.len() > LONGEST_NAME => {
            return Err(usage(format!("a thread's name has {LONGEST_NAME} letters at most; end it with *")));
        }
        _ => WhichThreads::Name(which.to_owned()),
    };
    Ok(ThreadRule { which, cpus })
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_machine::CpuId;

    #[test]
    fn threads_are_named_by_number_range_or_pattern() {
        let cases = [
            ("0=4", WhichThreads::Numbers(0, 0), vec![CpuId(4)]),
            ("1-3=float", WhichThreads::Numbers(1, 3), vec![]),
            ("io*=8-9", WhichThreads::Name("io*".into()), vec![CpuId(8), CpuId(9)]),
            ("a=b=1", WhichThreads::Name("a=b".into()), vec![CpuId(1)]),
            ("io-7=1", WhichThreads::Name("io-7".into()), vec![CpuId(1)]),
        ];
        for (text, which, cpus) in cases {
            assert_eq!(rule(text), Ok(ThreadRule { which, cpus }), "{text}");
        }
        assert_eq!(skip("1,3-4"), Ok(vec![1, 3, 4]));
    }

    #[test]
    fn what_is_no_rule_is_refused_with_the_reason() {
        for (text, part) in [
            ("io", "expected WHICH=CPUS"),
            ("=1", "expected WHICH=CPUS"),
            ("io=", "no cpus"),
            ("3-1=2", "descend"),
            ("a-very-long-name=2", "15 letters"),
            ("io=x", "x"),
        ] {
            let error = rule(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--thread {text}: ")) && error.contains(part), "{error}");
        }
        assert!(skip("one").is_err());
    }
}
