//! Text that fits: shortened in the middle, wrapped at spaces, file names without their folders.

/// `text` in at most `width` characters: what does not fit is left out in the middle, as both ends of a name tell more.
pub(crate) fn elide(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let Some(kept) = width.checked_sub(1) else { return String::new() };
    let tail = kept / 2;
    let head = text.chars().take(kept - tail);
    head.chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

/// `text` in at most `width` characters: what does not fit is left out at the end.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// `text` in lines of at most `width` characters, broken at spaces; a longer word stays whole.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().unwrap_or_else(|| unreachable!("there is always a last line"));
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += length;
    }
    lines
}

/// The last component of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Numbers as a list with ranges: `0-3,8`.
pub(crate) fn ranges(ascending: &[u16]) -> String {
    let mut parts: Vec<(u16, u16)> = Vec::new();
    for &number in ascending {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part = |(first, last): &(u16, u16)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

/// Shares as a bar of one block per member, the largest member full: `█▂▁ `.
pub(crate) fn bars(counts: &[u64]) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let largest = counts.iter().copied().max().unwrap_or(0).max(1);
    let block = |&count: &u64| {
        // Something is never shown as nothing.
        let eighths = (u128::from(count) * 8).div_ceil(u128::from(largest));
        BLOCKS[usize::try_from(eighths).unwrap_or(8)]
    };
    counts.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(elide("short", 5), "short");
        assert_eq!(elide("make_boundary_exchange", 11), "make_…hange");
        assert_eq!(elide("grüße", 3), "g…e");
        assert_eq!(elide("anything", 0), "");
    }

    #[test]
    fn statements_lose_their_end() {
        assert_eq!(cut("short;", 6), "short;");
        assert_eq!(cut("psi = malloc(bytes);", 8), "psi = m…");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_stay_whole() {
        assert_eq!(wrap("each quarter is used by one node", 12), ["each quarter", "is used by", "one node"]);
        assert_eq!(wrap("an/unbreakable/path is", 5), ["an/unbreakable/path", "is"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn consecutive_numbers_become_a_range() {
        assert_eq!(ranges(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[u16::MAX]), "65535");
    }

    #[test]
    fn something_is_never_shown_as_nothing() {
        assert_eq!(bars(&[1_000_000, 1, 0, 500_000]), "█▁ ▄");
        assert_eq!(bars(&[0, 0]), "  ");
        assert_eq!(bars(&[u64::MAX, u64::MAX / 2]), "█▄");
    }
}
