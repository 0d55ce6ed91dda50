//! The numbers by which the guest's kernel knows files, each with its path on the host.
//!
//! A number is given by a look-up and counted until the kernel forgets it. A file that was removed keeps its number
//! while the kernel holds it, without a path; what is open goes on by its handle.

use rustix::io::Errno;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The number of the top folder.
const TOP: u64 = 1;

struct Node {
    path: Option<PathBuf>,
    looked_up: u64,
}

/// Numbers and paths.
pub struct Tree {
    nodes: HashMap<u64, Node>,
    numbers: HashMap<PathBuf, u64>,
    next: u64,
}

impl Tree {
    /// The tree of which only the top is known.
    pub fn new(top: PathBuf) -> Self {
        let numbers = HashMap::from([(top.clone(), TOP)]);
        Tree { nodes: HashMap::from([(TOP, Node { path: Some(top), looked_up: 1 })]), numbers, next: TOP + 1 }
    }

    /// The path of a number.
    /// # Errors  `NOENT` if the file was removed, `STALE` if the number was never given.
    pub fn path(&self, node: u64) -> Result<&Path, Errno> {
        let node = self.nodes.get(&node).ok_or(Errno::STALE)?;
        node.path.as_deref().ok_or(Errno::NOENT)
    }

    /// The number of a path, counted as looked up once more.
    pub fn look_up(&mut self, path: PathBuf) -> u64 {
        let number = *self.numbers.entry(path.clone()).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        });
        self.nodes.entry(number).or_insert(Node { path: Some(path), looked_up: 0 }).looked_up += 1;
        number
    }

    /// The kernel forgets that many look-ups.
    pub fn forget(&mut self, number: u64, times: u64) {
        let Some(node) = self.nodes.get_mut(&number).filter(|_| number != TOP) else { return };
        node.looked_up = node.looked_up.saturating_sub(times);
        if node.looked_up > 0 {
            return;
        }
        if let Some(Node { path: Some(path), .. }) = self.nodes.remove(&number) {
            self.numbers.remove(&path);
        }
    }

    /// The file at this path, and what was below it, is gone.
    pub fn remove(&mut self, path: &Path) {
        for (old, number) in self.below(path) {
            self.numbers.remove(&old);
            if let Some(node) = self.nodes.get_mut(&number) {
                node.path = None;
            }
        }
    }

    /// The file at `from`, with what is below it, is now at `to`.
    pub fn rename(&mut self, from: &Path, to: &Path) {
        let moved = self.below(from);
        self.remove(from);
        self.remove(to);
        self.place(moved, from, to);
    }

    /// The files at two paths change places.
    pub fn exchange(&mut self, one: &Path, other: &Path) {
        let (ones, others) = (self.below(one), self.below(other));
        self.remove(one);
        self.remove(other);
        self.place(ones, one, other);
        self.place(others, other, one);
    }

    fn place(&mut self, moved: Vec<(PathBuf, u64)>, from: &Path, to: &Path) {
        for (old, number) in moved {
            // Joining an empty path would add a slash to it.
            let new = match old.strip_prefix(from) {
                Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
                Ok(rest) => to.join(rest),
                Err(_) => continue,
            };
            self.numbers.insert(new.clone(), number);
            if let Some(node) = self.nodes.get_mut(&number) {
                node.path = Some(new);
            }
        }
    }

    fn below(&self, path: &Path) -> Vec<(PathBuf, u64)> {
        let here = self.numbers.iter().filter(|(known, _)| known.starts_with(path));
        here.map(|(known, &number)| (known.clone(), number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_number_until_it_is_forgotten_as_often_as_looked_up() {
        let mut tree = Tree::new("/".into());
        let number = tree.look_up("/a".into());
        assert_eq!(tree.look_up("/a".into()), number);
        tree.forget(number, 1);
        assert_eq!(tree.path(number), Ok(Path::new("/a")));
        tree.forget(number, 1);
        assert_eq!(tree.path(number), Err(Errno::STALE));
        assert_ne!(tree.look_up("/a".into()), number);
    }

    #[test]
    fn renaming_a_folder_moves_what_is_below_and_replaces_what_was_there() {
        let mut tree = Tree::new("/".into());
        let [file, folder, replaced, other] =
            ["/a/b/c", "/a/b", "/x", "/a/bc"].map(|path| tree.look_up(path.into()));
        tree.rename(Path::new("/a/b"), Path::new("/x"));
        assert_eq!(tree.path(folder), Ok(Path::new("/x")));
        assert_eq!(tree.path(file), Ok(Path::new("/x/c")));
        assert_eq!(tree.path(other), Ok(Path::new("/a/bc")));
        assert_eq!(tree.path(replaced), Err(Errno::NOENT));
        // The number of what was replaced is still held by the kernel; forgetting it harms nobody else.
        tree.forget(replaced, 1);
        assert_eq!(tree.look_up("/x".into()), folder);
    }

    #[test]
    fn exchanged_files_change_places() {
        let mut tree = Tree::new("/".into());
        let [one, below, two] = ["/one", "/one/below", "/two"].map(|path| tree.look_up(path.into()));
        tree.exchange(Path::new("/one"), Path::new("/two"));
        assert_eq!(
            [one, below, two].map(|number| tree.path(number).unwrap().to_owned()),
            ["/two", "/two/below", "/one"].map(PathBuf::from)
        );
    }
}
