//! Why the lab cannot do what it was asked.

use std::io;
use std::path::PathBuf;

/// A failure of the lab itself; how the command ended is no error.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No emulator.
    #[error("{0} is not in PATH: install QEMU (Debian: apt-get install qemu-system-x86)")]
    NoQemu(&'static str),
    /// No busybox for the first steps of the guest.
    #[error(
        "no busybox at /bin or /usr/bin: install the static one (Debian: apt-get install busybox-static)"
    )]
    NoBusybox,
    /// No kernel, and none can be had.
    #[error(
        "no kernel for the guest: {0}; or give one with --kernel FILE (virtio-pci, virtio-console and fuse built in)"
    )]
    NoKernel(String),
    /// The machine cannot be emulated.
    #[error("machine {machine}: {problem}")]
    Machine {
        /// Its name.
        machine: String,
        /// Why not.
        problem: String,
    },
    /// A file or folder of the lab's own.
    #[error("{what} {path}: {source}", path = .path.display())]
    File {
        /// What was tried, as `cannot write`.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A tool failed.
    #[error("{tool}: {problem}")]
    Tool {
        /// Its name.
        tool: String,
        /// What it said.
        problem: String,
    },
    /// The guest did not come up.
    #[error("the guest did not come up within {seconds} s; its last words:\n{console}")]
    NotUp {
        /// How long it was given.
        seconds: u64,
        /// The end of its console.
        console: String,
    },
    /// The guest stopped before the command ended.
    #[error("the guest stopped before the command ended; its last words:\n{0}")]
    Stopped(String),
    /// The guest could not be made ready.
    #[error("in the guest: {0}")]
    Guest(String),
    /// The folder to share is the root.
    #[error("the current folder is the root, and the guest could change every file: start in another folder")]
    RootShared,
}

impl LabError {
    /// An error on a file.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> LabError {
        let path = path.into();
        move |source| LabError::File { what, path, source }
    }
}
