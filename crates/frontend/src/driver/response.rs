//! Response files: `@file` stands for the arguments in the file, as libiberty and LLVM read them (white space separates,
//! quotes and backslashes protect). A name that is no readable file stays an argument.

use std::ffi::OsString;
use std::path::Path;

/// Files may name further files; deeper than this they surely name themselves.
const DEEPEST: u32 = 20;

/// Replaces every `@file` by what it holds.
pub fn expand(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut out = Vec::with_capacity(arguments.len());
    for argument in arguments {
        add(argument, 0, &mut out);
    }
    out
}

fn add(argument: OsString, depth: u32, out: &mut Vec<OsString>) {
    let name = argument.to_str().and_then(|text| text.strip_prefix('@')).filter(|name| !name.is_empty());
    match name.filter(|_| depth < DEEPEST).and_then(|name| std::fs::read_to_string(Path::new(name)).ok()) {
        Some(text) => split(&text).into_iter().for_each(|word| add(word.into(), depth + 1, out)),
        None => out.push(argument),
    }
}

/// Splits `text` into words.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Writes `arguments` so that `split` (and every compiler) reads them back.
pub fn quote(arguments: &[OsString]) -> String {
    let mut out = String::new();
    for argument in arguments {
        out.push('"');
        for c in argument.to_string_lossy().chars() {
            if matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push_str("\"\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_read_back() {
        let arguments: Vec<OsString> =
            ["a b", "-DX=\"q\"", "", "back\\slash", "it's"].map(OsString::from).to_vec();
        assert_eq!(split(&quote(&arguments)), ["a b", "-DX=\"q\"", "", "back\\slash", "it's"]);
    }

    #[test]
    fn words_are_split_as_compilers_do() {
        assert_eq!(split("-c  'a b.c'\n-DM=\\\"x\\\" \"\""), ["-c", "a b.c", "-DM=\"x\"", ""]);
    }

    #[test]
    fn a_name_that_is_no_file_stays() {
        assert_eq!(expand(vec!["@no/such/file".into()]), [OsString::from("@no/such/file")]);
    }
}
