//! A private temporary folder for one link, removed with everything in it at the end.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::DriverError;

/// The folder.
#[derive(Debug)]
pub struct Workspace(PathBuf);

impl Workspace {
    /// Makes a folder nobody else has: creating fails if the name exists, so parallel builds never share one.
    /// # Errors the temporary folder (TMPDIR) cannot be written.
    pub fn create() -> Result<Workspace, DriverError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("olifant-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Workspace(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(DriverError::File { path, source }),
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // A folder that cannot be removed is not worth failing a build that succeeded.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
