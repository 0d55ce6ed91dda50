//! The root that a command in the guest sees: the host's files, with the guest's own devices, processes, control groups
//! and temporary files mounted over them.
//!
//! The host's files are a FUSE file system whose requests go out through a port and whose replies come back, both
//! unchanged; the server is at the other end (`files`).
//! Sources: fuse(4), mount(2); Documentation/filesystems/fuse.rst of Linux.

use crate::port;
use crate::protocol::{FILES_PORT, Start};
use rustix::mount::{MountFlags, mount, mount_bind};
use rustix::time::{ClockId, Timespec, clock_settime};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the host's files appear first.
const SHARE: &str = "/share";
/// The root of the command.
const ROOT: &str = "/host";
/// Where the guest has temporary file systems of its own, which hide what the host has there.
const TEMPORARY: [&str; 4] = ["/tmp", "/run", "/var/tmp", "/dev/shm"];
/// Makes the host's files the root, with the guest's own devices, processes and temporary files.
/// # Errors  Those of mount(2), of chroot(2) and of the ports.
pub fn prepare(start: &Start) -> io::Result<()> {
    // The clock stood still while the guest was a file.
    clock_settime(ClockId::Realtime, Timespec { tv_sec: start.seconds, tv_nsec: 0 })?;
    File::options().write(true).open("/dev/urandom")?.write_all(&start.entropy)?;
    for folder in [SHARE, ROOT] {
        std::fs::create_dir_all(folder)?;
    }
    mount_share()?;
    mount_bind(SHARE, ROOT).map_err(named(ROOT))?;
    for (kind, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount_at(kind, place, "")?;
    }
    for folder in ["/dev/pts", "/dev/shm"] {
        std::fs::create_dir_all(format!("{ROOT}{folder}"))?;
    }
    mount_at("devpts", "/dev/pts", "mode=620,ptmxmode=666")?;
    mount_at("cgroup2", "/sys/fs/cgroup", "")?;
    for place in TEMPORARY {
        if Path::new(&format!("{ROOT}{place}")).is_dir() {
            mount_at("tmpfs", place, "mode=1777")?;
        }
    }
    if let Some(folder) = Path::new(OsStr::from_bytes(&start.olifant)).parent() {
        show(folder)?;
    }
    show(Path::new(OsStr::from_bytes(&start.folder)))?;
    std::os::unix::fs::chroot(ROOT)?;
    std::env::set_current_dir("/")
}

/// Shows a folder of the host that a temporary file system of the guest hides.
fn show(folder: &Path) -> io::Result<()> {
    if !TEMPORARY.iter().any(|place| folder.starts_with(place)) {
        return Ok(());
    }
    let below = |top: &str| PathBuf::from(top).join(folder.strip_prefix("/").unwrap_or(folder));
    let (source, target) = (below(SHARE), below(ROOT));
    std::fs::create_dir_all(&target)?;
    mount_bind(&source, &target).map_err(named(&target.to_string_lossy()))
}

fn mount_at(kind: &str, place: &str, options: &str) -> io::Result<()> {
    let options = CString::new(options)?;
    let target = format!("{ROOT}{place}");
    mount(kind, &target, kind, MountFlags::empty(), Some(options.as_c_str())).map_err(named(&target))
}

fn named(target: &str) -> impl FnOnce(rustix::io::Errno) -> io::Error {
    let target = target.to_owned();
    move |error| io::Error::new(io::Error::from(error).kind(), format!("mount {target}: {error}"))
}

/// Mounts the host's files: what the kernel asks goes to the host, and the replies come back, both unchanged.
fn mount_share() -> io::Result<()> {
    let device = File::options().read(true).write(true).open("/dev/fuse")?;
    let mut requests = device.try_clone()?;
    let mut to_host = port::open(FILES_PORT)?;
    let mut from_host = to_host.try_clone()?;
    let options =
        format!("fd={},rootmode=40000,user_id=0,group_id=0,allow_other,max_read=1048576", device.as_raw_fd());
    let options = CString::new(options)?;
    mount("olifant", SHARE, "fuse", MountFlags::NODEV, Some(options.as_c_str())).map_err(named(SHARE))?;
    std::thread::spawn(move || {
        let mut request = vec![0; crate::files::LONGEST_REQUEST_BYTES];
        while let Ok(got @ 1..) = requests.read(&mut request) {
            if to_host.write_all(&request[..got]).is_err() {
                return;
            }
        }
    });
    let mut replies = device;
    std::thread::spawn(move || {
        let mut length = [0; 4];
        while from_host.read_exact(&mut length).is_ok() {
            let mut reply = length.to_vec();
            reply.resize((u32::from_le_bytes(length) as usize).max(length.len()), 0);
            if from_host.read_exact(&mut reply[length.len()..]).is_err() {
                return;
            }
            // A request that was interrupted has nobody waiting for its reply: the kernel refuses it, rightly.
            let _ = replies.write(&reply);
        }
    });
    Ok(())
}
