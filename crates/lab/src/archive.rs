//! An initial file system for a kernel: a cpio archive in the `newc` form.
//! Source: Documentation/driver-api/early-userspace/buffer-format.rst of Linux.

use std::io::{self, Write};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;
/// The name of the entry that ends an archive.
const END: &str = "TRAILER!!!";

/// Writes entries one after the other; a folder comes before what is in it.
pub struct Archive<W> {
    to: W,
    entries: u32,
    position: usize,
}

impl<W: Write> Archive<W> {
    /// An archive without entries.
    pub fn new(to: W) -> Self {
        Archive { to, entries: 0, position: 0 }
    }

    /// Adds a folder. Names have no leading slash.
    pub fn folder(&mut self, name: &str) -> io::Result<()> {
        self.entry(name, FOLDER, &[])
    }

    /// Adds an executable file.
    pub fn program(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.entry(name, PROGRAM, bytes)
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, name: &str, target: &str) -> io::Result<()> {
        self.entry(name, LINK, target.as_bytes())
    }

    /// Ends the archive.
    pub fn end(mut self) -> io::Result<W> {
        self.entry(END, 0, &[])?;
        Ok(self.to)
    }

    fn entry(&mut self, name: &str, mode: u32, bytes: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let size = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let links = if mode == FOLDER { 2 } else { 1 };
        // magic, inode, mode, owner, group, links, time, size, four device numbers, length of the name, checksum
        let header = format!(
            "070701{:08x}{mode:08x}{:08x}{:08x}{links:08x}{:08x}{size:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}",
            self.entries,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            name.len() + 1,
            0
        );
        self.write(header.as_bytes())?;
        self.write(name.as_bytes())?;
        self.write(&[0])?;
        self.align()?;
        self.write(bytes)?;
        self.align()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len();
        self.to.write_all(bytes)
    }

    fn align(&mut self) -> io::Result<()> {
        let zeros = self.position.next_multiple_of(4) - self.position;
        self.write(&[0; 3][..zeros])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn cpio_reads_what_is_written() {
        let mut archive = Archive::new(Vec::new());
        archive.folder("bin").unwrap();
        archive.program("bin/five", b"12345").unwrap();
        archive.link("bin/other", "five").unwrap();
        let bytes = archive.end().unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let busybox = crate::initramfs::busybox().expect("the lab's tests need busybox-static");
        let mut child = Command::new(busybox)
            .args(["cpio", "-tv"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let listed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
        assert_eq!(names, ["bin", "bin/five", "bin/other"], "{listed}");
        assert!(listed.contains("-rwxr-xr-x") && listed.contains("-> five"), "{listed}");
    }
}
