//! The guest's first file system: busybox, the first program, and this executable with its libraries as the agent.

use crate::LabError;
use crate::archive::Archive;
use olifant_sys::elf;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where this executable is in the guest's first file system.
const AGENT: &str = "olifant";
/// Libraries are found here by the loader's own option, whatever their paths on the host.
const LIBRARIES: &str = "lib";

/// The first program: mounts what the agent needs, takes offline the cpus that the machine does not have, hands over.
/// It stays as process 1 and reaps what others leave.
const FIRST_PROGRAM: &str = "\
#!/bin/sh
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
ifconfig lo 127.0.0.1 up
for word in $(cat /proc/cmdline); do
    case $word in olifant.offline=*)
        for cpu in $(echo ${word#*=} | tr , ' '); do echo 0 > /sys/devices/system/cpu/cpu$cpu/online; done ;;
    esac
done
LOADER --library-path /lib /olifant lab-agent
echo the agent ended with $?
poweroff -f
";

/// The static busybox: one that asks for a loader would not start before there are libraries.
/// # Errors  `NoBusybox` says what to install.
pub fn busybox() -> Result<PathBuf, LabError> {
    let is_static = |path: &PathBuf| {
        std::fs::read(path)
            .is_ok_and(|bytes| bytes.starts_with(b"\x7fELF") && elf::interpreter(&bytes).is_none())
    };
    let mut candidates = ["/bin/busybox", "/usr/bin/busybox"].map(PathBuf::from).into_iter();
    candidates.find(is_static).ok_or(LabError::NoBusybox)
}

/// Writes the archive to `path`; `olifant` is the executable that has the agent.
/// # Errors  `NoBusybox`, `File`, `Tool`.
pub fn write(path: &Path, olifant: &Path) -> Result<(), LabError> {
    let read = |path: &Path| std::fs::read(path).map_err(LabError::file("cannot read", path));
    let executable = read(olifant)?;
    let loader = elf::interpreter(&executable).ok_or_else(|| LabError::Tool {
        tool: olifant.display().to_string(),
        problem: "has no loader to name; build olifant as a dynamic executable".to_owned(),
    })?;
    let loader_name = format!("/{LIBRARIES}/loader");
    let mut files = vec![(loader_name[1..].to_owned(), read(&loader)?)];
    for (name, path) in libraries(&loader, olifant)? {
        files.push((format!("{LIBRARIES}/{name}"), elf::loaded_part(read(&path)?)));
    }
    files.push((AGENT.to_owned(), elf::loaded_part(executable)));
    files.push(("bin/busybox".to_owned(), read(&busybox()?)?));
    files.push(("init".to_owned(), FIRST_PROGRAM.replace("LOADER", &loader_name).into_bytes()));
    let write = || -> io::Result<()> {
        let mut archive = Archive::new(io::BufWriter::new(std::fs::File::create(path)?));
        for folder in ["bin", LIBRARIES, "proc", "sys", "dev"] {
            archive.folder(folder)?;
        }
        for command in ["sh", "mount", "mkdir", "ifconfig", "cat", "tr", "poweroff"] {
            archive.link(&format!("bin/{command}"), "busybox")?;
        }
        for (name, bytes) in &files {
            archive.program(name, bytes)?;
        }
        archive.end()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()
    };
    write().map_err(LabError::file("cannot write", path))
}

/// The shared libraries of an executable as (name asked for, file), told by its loader.
fn libraries(loader: &Path, executable: &Path) -> Result<Vec<(String, PathBuf)>, LabError> {
    let tool = || format!("{} --list", loader.display());
    let output = Command::new(loader).arg("--list").arg(executable).output();
    let output = output.map_err(|error| LabError::Tool { tool: tool(), problem: error.to_string() })?;
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(LabError::Tool { tool: tool(), problem });
    }
    // `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f...)`; the loader and the vdso have no arrow to a file.
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let entry = |line: &str| {
        let (name, rest) = line.trim().split_once(" => ")?;
        let path = rest.split(" (").next()?.trim();
        path.starts_with('/')
            .then(|| (name.rsplit('/').next().unwrap_or(name).to_owned(), PathBuf::from(path)))
    };
    Ok(listed.lines().filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_of_this_program_is_found() {
        let this = std::env::current_exe().unwrap();
        let loader = elf::interpreter(&std::fs::read(&this).unwrap()).unwrap();
        let found = libraries(&loader, &this).unwrap();
        assert!(found.iter().any(|(name, path)| name == "libc.so.6" && path.is_file()), "{found:?}");
    }
}
