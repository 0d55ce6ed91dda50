//! Lines of source that a page quotes: each statement that allocated an area or fought over a line, with a few lines
//! around it.

use crate::SourceLine;
use crate::text::cut;
use olifant_opium::profile::Frame;
use serde::Serialize;
use std::collections::BTreeSet;

/// Lines before and after a statement.
const AROUND: u32 = 2;
/// Characters of a line; generated code has longer ones.
const LONGEST_LINE: usize = 200;

/// A few consecutive lines of a file.
#[derive(Serialize)]
pub(super) struct Snippet {
    /// The file as the compiler knew it.
    file: String,
    /// The line that is meant.
    line: u32,
    /// The first line of `text`.
    first: u32,
    text: Vec<String>,
}

/// The snippets of `statements`, as far as their files can be read: at most `most`, each statement once.
pub(super) fn snippets<'p>(
    statements: impl Iterator<Item = &'p Frame>,
    source_line: &SourceLine<'_>,
    most: usize,
) -> Vec<Snippet> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for frame in statements.filter(|frame| frame.line > 0 && !frame.file.is_empty()) {
        if found.len() == most {
            break;
        }
        if seen.insert((frame.file.as_str(), frame.line)) {
            found.extend(snippet(frame, source_line));
        }
    }
    found
}

fn snippet(frame: &Frame, source_line: &SourceLine<'_>) -> Option<Snippet> {
    let fetch = |line| source_line(&frame.file, line).map(|text| cut(&text, LONGEST_LINE));
    let lowest = frame.line.saturating_sub(AROUND).max(1);
    let first = (lowest..=frame.line).rev().take_while(|line| fetch(*line).is_some()).last()?;
    let text = (first..=frame.line.saturating_add(AROUND)).map_while(fetch).collect();
    Some(Snippet { file: frame.file.clone(), line: frame.line, first, text })
}
