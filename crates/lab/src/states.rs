//! Saved guests: a guest that waits for its first command, written to the cache, so that the next one like it is there
//! in half a second instead of a boot's several.
//!
//! A state is named for everything it depends on (see [`crate::qemu::Plan::key`]), so a stale one is never found, and the
//! least recently used ones beyond a handful are removed. Writing is by another name first: a torn state is never found
//! either.

use crate::{LabError, cache};
use std::path::PathBuf;
use std::time::SystemTime;

/// States kept; each takes about 120 MB.
const KEPT: usize = 8;
const STATE_END: &str = ".state";
const INITRAMFS_END: &str = ".cpio";

/// The place of one saved guest.
#[derive(Debug)]
pub struct SavedGuest {
    folder: PathBuf,
    key: String,
}

impl SavedGuest {
    /// The place for this key.
    /// # Errors  Those of [`cache::folder`].
    pub fn new(key: String) -> Result<SavedGuest, LabError> {
        Ok(SavedGuest { folder: cache::folder("states")?, key })
    }

    /// The state's file if there is one; marks it as used.
    pub fn find(&self) -> Option<PathBuf> {
        let path = self.state();
        let file = std::fs::OpenOptions::new().append(true).open(&path).ok()?;
        // Only the order of removal depends on it.
        let _ = file.set_modified(SystemTime::now());
        Some(path)
    }

    /// The initial file system that the guest was booted with, and must be continued with.
    pub fn initramfs(&self) -> PathBuf {
        self.folder.join(format!("{}{INITRAMFS_END}", self.key))
    }

    /// Where the state is to be.
    pub fn state(&self) -> PathBuf {
        self.folder.join(format!("{}{STATE_END}", self.key))
    }

    /// Forgets a state that could not be continued.
    pub fn remove(&self) {
        for path in [self.state(), self.initramfs()] {
            // Another process may have removed it.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Removes the least recently used states beyond those kept, never this one.
    pub fn remove_old(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let mut states: Vec<(SystemTime, String)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let key = entry.file_name().into_string().ok()?.strip_suffix(STATE_END)?.to_owned();
                Some((entry.metadata().ok()?.modified().ok()?, key))
            })
            .filter(|(_, key)| *key != self.key)
            .collect();
        states.sort();
        for (_, key) in states.iter().rev().skip(KEPT - 1) {
            SavedGuest { folder: self.folder.clone(), key: key.clone() }.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_least_recently_used_states_go_first_and_the_newest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let guest = |key: usize| SavedGuest { folder: folder.path().to_owned(), key: key.to_string() };
        for key in 0..KEPT + 3 {
            std::fs::write(guest(key).state(), "").unwrap();
            std::fs::write(guest(key).initramfs(), "").unwrap();
            let file = std::fs::File::options().append(true).open(guest(key).state()).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(key as u64)).unwrap();
        }
        assert!(guest(0).find().is_some());
        guest(1).remove_old();
        let kept: Vec<usize> = (0..KEPT + 3).filter(|&key| guest(key).state().exists()).collect();
        // 1 because it asked, 0 because it was used just now, and the youngest of the others.
        assert_eq!(kept, [0, 1, 5, 6, 7, 8, 9, 10]);
        assert!(!guest(2).initramfs().exists());
    }
}
