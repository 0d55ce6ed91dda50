//! The one-line form of an allocation site in a plan: `FUNCTION at FILE:LINE`, or `FUNCTION` alone where neither file
//! nor line is known.
//!
//! The last ` at ` separates, so that any function name can be written. A file name that itself holds ` at ` cannot;
//! [`format`] then yields nothing and the plan spells the site out in separate keys.

/// Splits a site into function, file (empty if unknown) and line (0 if unknown).
pub(crate) fn parse(text: &str) -> (&str, &str, u32) {
    let Some((function, place)) = text.rsplit_once(SEPARATOR) else { return (text, "", 0) };
    match place.rsplit_once(':').and_then(|(file, line)| Some((file, canonical_number(line)?))) {
        Some((file, line)) => (function, file, line),
        None => (function, place, 0),
    }
}

/// Writes a site, unless it would read back as another one.
pub(crate) fn format(function: &str, file: &str, line: u32) -> Option<String> {
    let forms = [function.to_owned(), format!("{function}{SEPARATOR}{file}:{line}")];
    forms.into_iter().find(|text| parse(text) == (function, file, line))
}

const SEPARATOR: &str = " at ";

/// A line number as this module writes it; `+5` and `05` are part of a file's name.
fn canonical_number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_usual_site_is_one_line() {
        assert_eq!(format("main", "ocean.c", 210).as_deref(), Some("main at ocean.c:210"));
        assert_eq!(parse("main at ocean.c:210"), ("main", "ocean.c", 210));
        assert_eq!(format("libfoo.so+0x12", "", 0).as_deref(), Some("libfoo.so+0x12"));
        assert_eq!(parse("main at ocean.c"), ("main", "ocean.c", 0));
    }

    #[test]
    fn a_file_name_with_the_separator_is_left_to_separate_keys() {
        assert_eq!(format("main", "look at me.c", 3), None);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            function in "([a-z:<> ]| at ){0,6}", file in "([a-z./:0]| at ){0,6}", line in 0u32..30,
        ) {
            if let Some(text) = format(&function, &file, line) {
                prop_assert_eq!(parse(&text), (function.as_str(), file.as_str(), line));
            } else {
                let in_place = [" ", &file].concat();
                prop_assert!(in_place.contains(" at "), "{:?} could have been written", file);
            }
        }
    }
}
