//! Reads the text files of a checkout into memory, in the order of their paths.

use super::rules;
use anyhow::Context;
use std::path::Path;

/// Ends of the names of files that the rules speak about.
const TEXT_FILES: [&str; 15] = [
    ".rs",
    ".toml",
    ".md",
    ".c",
    ".h",
    ".cpp",
    ".f90",
    ".sh",
    ".yml",
    ".mk",
    ".trycmd",
    "Makefile",
    "run",
    ".gitignore",
    ".in",
];

/// One text file.
#[derive(Debug)]
pub struct File {
    /// Path from the root, with forward slashes.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Reads every text file under `root` but those in skipped folders; a file that is not UTF-8 is not text.
pub fn read(root: &Path) -> anyhow::Result<Vec<File>> {
    let mut files = Vec::new();
    read_folder(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read_folder(root: &Path, folder: &str, files: &mut Vec<File>) -> anyhow::Result<()> {
    let here = root.join(folder);
    for entry in std::fs::read_dir(&here).with_context(|| format!("read folder {}", here.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !rules::SKIPPED_FOLDERS.contains(&path.as_str()) {
                read_folder(root, &path, files)?;
            }
        } else if kind.is_file() && TEXT_FILES.iter().any(|end| name.ends_with(end)) {
            let bytes = std::fs::read(entry.path()).with_context(|| format!("read {path}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File { path, text });
            }
        }
    }
    Ok(())
}
