//! A virtio port in the guest, found by its name: the order of device files is not told.
//! Source: drivers/char/virtio_console.c of Linux, attribute `name` of `/sys/class/virtio-ports/vportNpM`.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens the port of this name for reading and writing.
/// # Errors  `NotFound` if the computer has no such port.
pub fn open(name: &str) -> io::Result<File> {
    // A computer without any port has no such folder.
    for entry in std::fs::read_dir("/sys/class/virtio-ports").into_iter().flatten() {
        let entry = entry?;
        let told = std::fs::read_to_string(entry.path().join("name")).unwrap_or_default();
        if told.trim() == name {
            let device = Path::new("/dev").join(entry.file_name());
            return OpenOptions::new().read(true).write(true).open(device);
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("no virtio port {name:?}")))
}
