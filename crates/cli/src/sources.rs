//! Lines of the source files of a program, as far as the files are still where the compiler found them. Each file is read
//! once.

use std::cell::RefCell;
use std::collections::HashMap;

/// The files that were asked for.
#[derive(Debug, Default)]
pub struct SourceFiles {
    /// Lines by path; none if the file cannot be read.
    files: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl SourceFiles {
    /// The text of a line, counted from 1.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(file.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(file).ok()?;
            Some(text.lines().map(str::to_owned).collect())
        });
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        lines.as_ref()?.get(index).cloned()
    }
}
