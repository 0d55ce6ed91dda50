//! stdout carries data, stderr talk: the two ways out.

use anyhow::{Context, anyhow};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes data to stdout. A reader that has seen enough (a closed pipe) is no failure.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("write to stdout"),
    }
}

/// Says something to a person.
pub fn say(text: &str) {
    // Losing a remark because stderr is closed must not lose the result.
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end_matches('\n'));
}

/// An error with its causes on one line; a cause that its parent already quotes is not repeated.
pub fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Makes sure, before a long run, that `path` can be written; leaves what is there as it is.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    let existed = path.exists();
    let writable = || -> std::io::Result<()> {
        if path.is_dir() {
            return Err(std::io::Error::from(ErrorKind::IsADirectory));
        }
        OpenOptions::new().append(true).create(true).open(path)?;
        if !existed {
            std::fs::remove_file(path)?;
        }
        Ok(())
    };
    writable()
        .map_err(|error| anyhow!("cannot write {}: {error}; name another file with --output", path.display()))
}

/// Writes a small text file.
pub fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// How wide tables are: as the terminal, within reason; 80 columns where there is none.
pub fn style() -> olifant_report::Style {
    let columns = console::Term::stdout().size_checked().map_or(80, |(_, columns)| columns);
    olifant_report::Style { width: usize::from(columns).clamp(60, 160) }
}
