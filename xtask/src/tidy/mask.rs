//! Rust source with everything that is not code blanked out: comments, the insides of strings and characters, and
//! (in a second view) the modules that only tests compile. Line numbers stay as they were.

/// The two views of a Rust file.
#[derive(Debug)]
pub struct Masked {
    /// All code.
    pub code: String,
    /// The code without `#[cfg(test)]` items.
    pub shipped: String,
}

impl Masked {
    /// Blanks `source`.
    pub fn new(source: &str) -> Self {
        let code = blank_text(source);
        let shipped = blank_tests(&code);
        Self { code, shipped }
    }

    /// Number of lines without those of test items.
    pub fn shipped_lines(&self, source: &str) -> usize {
        let of_tests =
            self.code.lines().zip(self.shipped.lines()).filter(|(all, shipped)| all != shipped).count();
        source.lines().count() - of_tests
    }
}

/// The words (identifiers and keywords) of blanked code, each with its 1-based line and byte offset.
pub fn words(code: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    code.lines().enumerate().flat_map(move |(index, line)| {
        let base = line.as_ptr() as usize - code.as_ptr() as usize;
        line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(
            move |word| {
                let offset = base + (word.as_ptr() as usize - line.as_ptr() as usize);
                (index + 1, offset, word)
            },
        )
    })
}

fn blank_text(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => find(bytes, at, b"\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => end_of_block_comment(bytes, at),
            b'"' => end_of_string(bytes, at + 1),
            b'r' if !is_in_word(bytes, at) => match end_of_raw_string(bytes, at) {
                Some(end) => end,
                None => at,
            },
            b'\'' => end_of_character(bytes, at),
            _ => at,
        };
        if end == at {
            at += 1;
            continue;
        }
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    // Only whole characters were replaced by spaces, since every blanked run starts and ends at an ASCII byte.
    String::from_utf8_lossy(&out).into_owned()
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    bytes[from..].windows(what.len()).position(|window| window == what).map_or(bytes.len(), |at| from + at)
}

fn is_in_word(bytes: &[u8], at: usize) -> bool {
    let byte = |back: usize| at.checked_sub(back).map(|i| bytes[i]);
    let is_word = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    // `br"..."` is a raw string too: the `b` in front does not make `r` part of a longer word.
    let is_after_b = byte(1) == Some(b'b') && !is_word(byte(2));
    is_word(byte(1)) && !is_after_b
}

fn end_of_block_comment(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        match &bytes[at..(at + 2).min(bytes.len())] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_raw_string(bytes: &[u8], start: usize) -> Option<usize> {
    let hashes = bytes[start + 1..].iter().take_while(|&&byte| byte == b'#').count();
    if bytes.get(start + 1 + hashes) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    Some((find(bytes, start + 2 + hashes, &close) + close.len()).min(bytes.len()))
}

/// A character literal's end, or `start` for a lifetime.
fn end_of_character(bytes: &[u8], start: usize) -> usize {
    match bytes.get(start + 1) {
        Some(b'\\') => (find(bytes, start + 3, b"'") + 1).min(bytes.len()),
        Some(_) => {
            let character = (2..=5).find(|length| bytes.get(start + length) == Some(&b'\''));
            let is_one = |length: usize| {
                std::str::from_utf8(&bytes[start + 1..start + length])
                    .is_ok_and(|text| text.chars().count() == 1)
            };
            character.filter(|&length| is_one(length)).map_or(start, |length| start + length + 1)
        }
        None => start,
    }
}

fn blank_tests(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let start = from + found;
        let mut depth = 0_usize;
        let mut end = code.len();
        for (offset, byte) in code.bytes().enumerate().skip(start + "#[cfg(test)]".len()) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                end = offset + 1;
                break;
            }
        }
        // `#[cfg(test)] mod tests;` has no braces of its own: the item ends at its semicolon.
        if let Some(semicolon) = code[start..end].find(';') {
            let brace = code[start..end].find('{').unwrap_or(usize::MAX);
            if semicolon < brace {
                end = start + semicolon + 1;
            }
        }
        for byte in &mut out[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        from = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_are_blanked_and_lines_stay() {
        let source = "a // unsafe\n/* b /* c */ unsafe */ d \"unsafe \\\" x\" e\nlet q = '\"'; f::<'a>(r#\"unsafe \" \"#) 'é' g";
        let masked = Masked::new(source);
        assert!(!masked.code.contains("unsafe"));
        for word in ["a", "d", "e", "f", "g"] {
            assert!(words(&masked.code).any(|(_, _, w)| w == word), "{word} is code in {:?}", masked.code);
        }
        assert_eq!(masked.code.lines().count(), 3);
        assert!(words(&masked.code).any(|(line, _, w)| line == 3 && w == "g"));
    }

    #[test]
    fn test_modules_are_not_shipped() {
        let source = "use a;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n    fn f() {}\n}\nuse b;\n#[cfg(test)]\nmod t;\nuse c;";
        let masked = Masked::new(source);
        assert!(!masked.shipped.contains("fs"));
        assert!(masked.shipped.contains("use b"));
        assert!(masked.shipped.contains("use c"));
        assert_eq!(masked.shipped_lines(source), 3);
    }

    #[test]
    fn a_raw_string_after_a_longer_word_is_not_mistaken() {
        let masked = Masked::new("for\"x\" br\"unsafe\" var # \"y\"");
        assert!(!masked.code.contains("unsafe"));
        assert!(masked.code.contains("var"));
    }
}
