//! A file that appears whole or not at all: it is filled under a temporary name in the destination's folder, brought
//! to the disk, and then renamed over the destination. A kill leaves the old file, or none, and at worst a hidden
//! temporary beside it.

use crate::StoreError;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file being filled; removed again unless it is published.
pub(crate) struct UnpublishedFile {
    temporary: PathBuf,
    destination: PathBuf,
    is_published: bool,
}

impl UnpublishedFile {
    /// Creates an empty temporary beside `destination`, which may exist (it will be replaced) if it is a file; a
    /// symbolic link is followed.
    ///
    /// # Errors
    /// `NotAFile` for a folder, device or pipe; `Unwritable` or `DiskFull` as the system says.
    pub(crate) fn beside(destination: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::writing(destination, source);
        let destination = match fs::metadata(destination) {
            Ok(metadata) if !metadata.is_file() => {
                return Err(StoreError::NotAFile { path: destination.to_owned() });
            }
            Ok(_) => fs::canonicalize(destination).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => destination.to_owned(),
            Err(error) => return Err(failed(error)),
        };
        let Some(name) = destination.file_name() else {
            return Err(StoreError::NotAFile { path: destination });
        };
        for attempt in 0_u32.. {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
            let temporary = destination.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(_) => return Ok(UnpublishedFile { temporary, destination, is_published: false }),
                // A thread of this process, or a killed one that had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        unreachable!("a folder holds fewer than 2^32 temporaries of one process")
    }

    /// Where to fill it.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Brings the content to the disk and gives it its name.
    pub(crate) fn publish(mut self) -> Result<(), StoreError> {
        self.sync_and_rename().map_err(|source| StoreError::writing(&self.destination, source))?;
        self.is_published = true;
        Ok(())
    }

    fn sync_and_rename(&self) -> io::Result<()> {
        File::open(&self.temporary)?.sync_all()?;
        fs::rename(&self.temporary, &self.destination)?;
        // The name is in the folder, so the folder must reach the disk too. Some file systems refuse to sync one;
        // the file itself is whole then all the same.
        let folder = match self.destination.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if let Ok(folder) = File::open(folder) {
            let _refused_by_some_file_systems = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for UnpublishedFile {
    fn drop(&mut self) {
        if !self.is_published {
            let _already_failing = fs::remove_file(&self.temporary);
        }
    }
}
