//! Captured sysfs trees, unpacked from their compact form into a directory of their own.

use olifant_host::Root;
use olifant_machine::CpuSet;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// An unpacked tree; it goes when this is dropped.
pub struct Capture {
    directory: tempfile::TempDir,
}

impl Capture {
    /// The names of all captures.
    pub fn names() -> Vec<String> {
        let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> =
            files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        assert!(names.len() >= 7, "captures are missing: {names:?}");
        names
    }

    /// Unpacks `tests/captures/sysfs/NAME.txt`.
    pub fn named(name: &str) -> Self {
        let capture = Capture { directory: tempfile::tempdir().unwrap() };
        let text = fs::read_to_string(folder().join(name).with_extension("txt")).unwrap();
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (path, content) =
                line.split_once(':').unwrap_or_else(|| panic!("{name}: no colon in {line:?}"));
            for (path, content) in expanded(path, content.strip_prefix(' ').unwrap_or(content)) {
                let file = files.entry(path).or_default();
                file.push_str(&content);
                file.push('\n');
            }
        }
        for (path, content) in files {
            capture.change(&path, Some(&content));
        }
        capture
    }

    /// The tree as a root.
    pub fn root(&self) -> Root {
        Root::new(self.directory.path())
    }

    /// Writes a file of the tree, or takes it away.
    pub fn change(&self, file: &str, text: Option<&str>) {
        let path = self.directory.path().join(file);
        match text {
            None => fs::remove_file(path).unwrap(),
            Some(text) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
    }

    /// A message without the path of the tree's directory.
    pub fn without_directory(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.directory.path().display()), "")
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/sysfs")
}

/// One line for each number of the list in braces in `path`; `{}` in the content is that number.
fn expanded(path: &str, content: &str) -> Vec<(String, String)> {
    let Some((before, rest)) = path.split_once('{') else {
        return vec![(path.to_owned(), content.to_owned())];
    };
    let (list, after) = rest.split_once('}').unwrap();
    let numbers: CpuSet = list.parse().unwrap();
    numbers
        .iter()
        .map(|number| (format!("{before}{number}{after}"), content.replace("{}", &number.to_string())))
        .collect()
}
