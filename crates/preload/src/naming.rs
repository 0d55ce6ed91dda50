//! Names of threads against the patterns of rules: `*` stands for any letters, `?` for one.

/// Whether a name fits a pattern, letter by letter.
pub fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // The usual walk with one way back: to the last star, which then takes one letter more.
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(&letter) if letter == b'?' || letter == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                Some((place, from)) => {
                    star = Some((place, from + 1));
                    at = place + 1;
                    seen = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&letter| letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_take_any_letters_and_question_marks_one() {
        for (pattern, name) in
            [("io", "io"), ("*", ""), ("io*", "io-7"), ("*-7", "io-7-7"), ("a?c*e", "abcde"), ("**x", "x")]
        {
            assert!(fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [("io", "io7"), ("", "x"), ("?", ""), ("a*b", "abc"), ("*-7", "io-70")] {
            assert!(!fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }
}
