//! What each request does on the host's files. Handles are open files by number; a folder's handle holds its entries as
//! they were when it was opened.

use super::LONGEST_PIECE_BYTES;
use super::tree::Tree;
use super::wire::{Body, Opcode, Request};
use rustix::fs::{AtFlags, CWD, OFlags, RenameFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, FileExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

type Reply = Result<Vec<u8>, Errno>;

const PROTOCOL_MAJOR: u32 = 7;
const PROTOCOL_MINOR: u32 = 31;
/// FUSE_ASYNC_READ, FUSE_ATOMIC_O_TRUNC, FUSE_BIG_WRITES, FUSE_AUTO_INVAL_DATA, FUSE_PARALLEL_DIROPS, FUSE_MAX_PAGES.
const FEATURES: u32 = 1 | 1 << 3 | 1 << 5 | 1 << 12 | 1 << 18 | 1 << 22;
/// FOPEN_KEEP_CACHE: pages read before are still good; FUSE_AUTO_INVAL_DATA drops them where the file has changed.
const KEEP_PAGES: u32 = 1 << 1;

/// Bits of fuse_setattr_in's `valid`.
mod valid {
    pub const MODE: u32 = 1;
    pub const OWNER: u32 = 1 << 1;
    pub const GROUP: u32 = 1 << 2;
    pub const SIZE: u32 = 1 << 3;
    pub const ACCESS_TIME: u32 = 1 << 4;
    pub const CHANGE_TIME: u32 = 1 << 5;
    pub const HANDLE: u32 = 1 << 6;
    pub const ACCESS_NOW: u32 = 1 << 7;
    pub const CHANGE_NOW: u32 = 1 << 8;
}

struct FolderEntry {
    inode: u64,
    kind: u32,
    name: OsString,
}

/// The files, and what is open.
pub struct Operations {
    tree: Tree,
    writable: PathBuf,
    files: HashMap<u64, File>,
    folders: HashMap<u64, Vec<FolderEntry>>,
    next_handle: u64,
}

impl Operations {
    /// Nothing open yet.
    pub fn new(root: PathBuf, writable: PathBuf) -> Self {
        Operations {
            tree: Tree::new(root),
            writable,
            files: HashMap::new(),
            folders: HashMap::new(),
            next_handle: 1,
        }
    }

    /// The kernel no longer holds files.
    pub fn forget(&mut self, request: &Request) {
        let mut fields = request.fields();
        if request.opcode == Opcode::FORGET {
            if let Ok(times) = fields.u64() {
                self.tree.forget(request.node, times);
            }
            return;
        }
        let Ok(count) = fields.u32().and_then(|count| fields.u32().map(|_| count)) else { return };
        for _ in 0..count {
            let (Ok(node), Ok(times)) = (fields.u64(), fields.u64()) else { return };
            self.tree.forget(node, times);
        }
    }

    /// Carries out a request that is replied to. A request that is not known is refused with ENOSYS, which the kernel
    /// remembers for those that a file system may lack.
    pub fn carry_out(&mut self, request: &Request) -> Reply {
        match request.opcode {
            Opcode::INIT => init(request),
            Opcode::DESTROY | Opcode::FLUSH => Ok(Vec::new()),
            Opcode::LOOKUP => self.entry(self.child(request.node, request.fields().name()?)?),
            Opcode::GETATTR => self.get_attributes(request),
            Opcode::SETATTR => self.set_attributes(request),
            Opcode::READLINK => {
                let target = std::fs::read_link(self.tree.path(request.node)?).map_err(errno)?;
                Ok(target.into_os_string().into_encoded_bytes())
            }
            Opcode::STATFS => self.file_system(request),
            Opcode::OPEN => self.open(request),
            Opcode::CREATE => self.create(request),
            Opcode::READ => self.read(request),
            Opcode::WRITE => self.write(request),
            Opcode::FSYNC => {
                self.file(request.fields().u64()?)?.sync_all().map_err(errno)?;
                Ok(Vec::new())
            }
            Opcode::RELEASE => {
                self.files.remove(&request.fields().u64()?);
                Ok(Vec::new())
            }
            Opcode::OPENDIR => self.open_folder(request),
            Opcode::READDIR => self.read_folder(request),
            Opcode::RELEASEDIR => {
                self.folders.remove(&request.fields().u64()?);
                Ok(Vec::new())
            }
            Opcode::SYMLINK | Opcode::MKNOD | Opcode::MKDIR | Opcode::LINK => self.make(request),
            Opcode::UNLINK | Opcode::RMDIR => self.remove(request),
            Opcode::RENAME | Opcode::RENAME2 => self.rename(request),
            _ => Err(Errno::NOSYS),
        }
    }

    /// The path of an entry of a folder.
    fn child(&self, folder: u64, name: &OsStr) -> Result<PathBuf, Errno> {
        if name.is_empty() || name == "." || name == ".." || name.as_bytes().contains(&b'/') {
            return Err(Errno::INVAL);
        }
        Ok(self.tree.path(folder)?.join(name))
    }

    /// Refuses what would change a file that is not shared for writing.
    fn check_writable(&self, path: &Path) -> Result<(), Errno> {
        if path.starts_with(&self.writable) { Ok(()) } else { Err(Errno::ROFS) }
    }

    fn file(&self, handle: u64) -> Result<&File, Errno> {
        self.files.get(&handle).ok_or(Errno::BADF)
    }

    fn handle(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }

    fn entry(&mut self, path: PathBuf) -> Reply {
        let about = std::fs::symlink_metadata(&path).map_err(errno)?;
        let mut body = Body::default();
        body.entry(self.tree.look_up(path), &about);
        Ok(body.0)
    }

    fn get_attributes(&mut self, request: &Request) -> Reply {
        let mut fields = request.fields();
        let has_handle = fields.u32()? & 1 != 0;
        fields.u32()?;
        let open = if has_handle { self.files.get(&fields.u64()?) } else { None };
        let about = match open {
            Some(file) => file.metadata(),
            None => std::fs::symlink_metadata(self.tree.path(request.node)?),
        };
        let mut body = Body::default();
        body.attributes_reply(&about.map_err(errno)?);
        Ok(body.0)
    }

    fn set_attributes(&mut self, request: &Request) -> Reply {
        let path = self.tree.path(request.node)?.to_owned();
        self.check_writable(&path)?;
        let mut fields = request.fields();
        let wanted = fields.u32()?;
        fields.u32()?;
        let (handle, size) = (fields.u64()?, fields.u64()?);
        fields.skip::<8>()?;
        let (access, change) = (fields.u64()?, fields.u64()?);
        fields.skip::<8>()?;
        let (access_nanoseconds, change_nanoseconds) = (fields.u32()?, fields.u32()?);
        fields.skip::<4>()?;
        let mode = fields.u32()?;
        fields.skip::<4>()?;
        let (owner, group) = (fields.u32()?, fields.u32()?);
        if wanted & valid::SIZE != 0 {
            let open = if wanted & valid::HANDLE != 0 { self.files.get(&handle) } else { None };
            match open {
                Some(file) => file.set_len(size).map_err(errno)?,
                None => OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .and_then(|file| file.set_len(size))
                    .map_err(errno)?,
            }
        }
        if wanted & valid::MODE != 0 {
            std::fs::set_permissions(&path, Permissions::from_mode(mode & 0o7777)).map_err(errno)?;
        }
        if wanted & (valid::OWNER | valid::GROUP) != 0 {
            let given = |bit: u32, id: u32| (wanted & bit != 0).then_some(id);
            std::os::unix::fs::lchown(&path, given(valid::OWNER, owner), given(valid::GROUP, group))
                .map_err(errno)?;
        }
        let times = Timestamps {
            last_access: time(wanted, valid::ACCESS_TIME, valid::ACCESS_NOW, access, access_nanoseconds),
            last_modification: time(
                wanted,
                valid::CHANGE_TIME,
                valid::CHANGE_NOW,
                change,
                change_nanoseconds,
            ),
        };
        if wanted & (valid::ACCESS_TIME | valid::CHANGE_TIME) != 0 {
            rustix::fs::utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        let mut body = Body::default();
        body.attributes_reply(&std::fs::symlink_metadata(&path).map_err(errno)?);
        Ok(body.0)
    }

    fn file_system(&mut self, request: &Request) -> Reply {
        let told = rustix::fs::statvfs(self.tree.path(request.node)?)?;
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let mut body = Body::default();
        body.u64(told.f_blocks).u64(told.f_bfree).u64(told.f_bavail).u64(told.f_files).u64(told.f_ffree);
        body.u32(small(told.f_bsize))
            .u32(small(told.f_namemax))
            .u32(small(told.f_frsize))
            .u32(0)
            .bytes(&[0; 24]);
        Ok(body.0)
    }

    fn open(&mut self, request: &Request) -> Reply {
        let flags = OFlags::from_bits_retain(request.fields().u32()?);
        let path = self.tree.path(request.node)?.to_owned();
        let file = self.open_file(&path, flags, None)?;
        Ok(self.opened(file))
    }

    fn create(&mut self, request: &Request) -> Reply {
        let mut fields = request.fields();
        let (flags, mode, mask) = (fields.u32()?, fields.u32()?, fields.u32()?);
        fields.u32()?;
        let path = self.child(request.node, fields.name()?)?;
        let file =
            self.open_file(&path, OFlags::from_bits_retain(flags) | OFlags::CREATE, Some(mode & !mask))?;
        let mut body = self.entry(path)?;
        body.extend(self.opened(file));
        Ok(body)
    }

    fn open_file(&self, path: &Path, flags: OFlags, mode: Option<u32>) -> Result<File, Errno> {
        let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC | OFlags::CREATE);
        if writes {
            self.check_writable(path)?;
        }
        // A pipe, socket or device of the host is none in the guest, and opening one here could wait for ever.
        match std::fs::symlink_metadata(path) {
            Ok(about) if !about.is_file() => return Err(Errno::ACCESS),
            _ => {}
        }
        // Always readable where it may be: the guest's kernel reads the rest of a page that is partly written.
        let kept = flags & (OFlags::TRUNC | OFlags::EXCL);
        let options = |reads: bool| {
            let mut options = OpenOptions::new();
            options.read(reads).write(writes);
            options.custom_flags(i32::try_from((kept | OFlags::NOFOLLOW).bits()).unwrap_or(0));
            options
        };
        let open = |reads: bool| match mode {
            Some(mode) => options(reads).create(true).mode(mode).open(path),
            None => options(reads).open(path),
        };
        let reads = !flags.contains(OFlags::WRONLY) || std::fs::File::open(path).is_ok() || mode.is_some();
        open(reads).map_err(errno)
    }

    fn opened(&mut self, file: File) -> Vec<u8> {
        let handle = self.handle();
        self.files.insert(handle, file);
        let mut body = Body::default();
        body.u64(handle).u32(KEEP_PAGES).u32(0);
        body.0
    }

    fn read(&mut self, request: &Request) -> Reply {
        let mut fields = request.fields();
        let (file, offset, size) = (self.file(fields.u64()?)?, fields.u64()?, fields.u32()?);
        let mut bytes = vec![0; size.min(LONGEST_PIECE_BYTES) as usize];
        let mut filled = 0;
        // A short reply means the end of the file to the kernel.
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(got) => filled += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(errno(error)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn write(&mut self, request: &Request) -> Reply {
        let mut fields = request.fields();
        let (handle, offset, size) = (fields.u64()?, fields.u64()?, fields.u32()?);
        fields.skip::<20>()?;
        let bytes = fields.rest().get(..size as usize).ok_or(Errno::INVAL)?;
        self.file(handle)?.write_all_at(bytes, offset).map_err(errno)?;
        let mut body = Body::default();
        body.u32(size).u32(0);
        Ok(body.0)
    }

    fn open_folder(&mut self, request: &Request) -> Reply {
        let path = self.tree.path(request.node)?;
        let mut entries = vec![(".".into(), request.node), ("..".into(), request.node)]
            .into_iter()
            .map(|(name, inode)| FolderEntry { inode, kind: 0o4, name })
            .collect::<Vec<_>>();
        for entry in std::fs::read_dir(path).map_err(errno)? {
            let entry = entry.map_err(errno)?;
            let kind = entry.file_type().map_or(0, |kind| kind_number(&kind));
            entries.push(FolderEntry { inode: entry.ino(), kind, name: entry.file_name() });
        }
        let handle = self.handle();
        self.folders.insert(handle, entries);
        let mut body = Body::default();
        body.u64(handle).u32(0).u32(0);
        Ok(body.0)
    }

    fn read_folder(&mut self, request: &Request) -> Reply {
        let mut fields = request.fields();
        let (handle, offset, size) = (fields.u64()?, fields.u64()?, fields.u32()? as usize);
        let entries = self.folders.get(&handle).ok_or(Errno::BADF)?;
        let mut body = Body::default();
        let first = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, entry) in entries.iter().enumerate().skip(first) {
            let length = body.0.len();
            body.folder_entry(entry.inode, index as u64 + 1, entry.kind, &entry.name);
            if body.0.len() > size {
                body.0.truncate(length);
                break;
            }
        }
        Ok(body.0)
    }

    fn make(&mut self, request: &Request) -> Reply {
        let mut fields = request.fields();
        let path = match request.opcode {
            Opcode::SYMLINK => {
                let path = self.writable_child(request.node, fields.name()?)?;
                std::os::unix::fs::symlink(fields.name()?, &path).map_err(errno)?;
                path
            }
            Opcode::MKDIR => {
                let mode = fields.u32()? & !fields.u32()?;
                let path = self.writable_child(request.node, fields.name()?)?;
                rustix::fs::mkdir(&path, rustix::fs::Mode::from_raw_mode(mode & 0o7777))?;
                path
            }
            Opcode::LINK => {
                let old = self.tree.path(fields.u64()?)?.to_owned();
                // A name in the shared folder would be a way to write to it.
                self.check_writable(&old)?;
                let path = self.writable_child(request.node, fields.name()?)?;
                std::fs::hard_link(old, &path).map_err(errno)?;
                path
            }
            _ => {
                let (mode, _, mask) = (fields.u32()?, fields.u32()?, fields.u32()?);
                fields.u32()?;
                let path = self.writable_child(request.node, fields.name()?)?;
                let kind = rustix::fs::FileType::from_raw_mode(mode);
                use rustix::fs::FileType::{Fifo, RegularFile, Socket};
                if !matches!(kind, RegularFile | Fifo | Socket) {
                    return Err(Errno::PERM);
                }
                let mode = rustix::fs::Mode::from_raw_mode(mode & !mask & 0o7777);
                rustix::fs::mknodat(CWD, &path, kind, mode, 0)?;
                path
            }
        };
        self.entry(path)
    }

    fn writable_child(&self, folder: u64, name: &OsStr) -> Result<PathBuf, Errno> {
        let path = self.child(folder, name)?;
        self.check_writable(&path)?;
        Ok(path)
    }

    fn remove(&mut self, request: &Request) -> Reply {
        let path = self.writable_child(request.node, request.fields().name()?)?;
        if request.opcode == Opcode::RMDIR {
            std::fs::remove_dir(&path).map_err(errno)?;
        } else {
            std::fs::remove_file(&path).map_err(errno)?;
        }
        self.tree.remove(&path);
        Ok(Vec::new())
    }

    fn rename(&mut self, request: &Request) -> Reply {
        let mut fields = request.fields();
        let folder = fields.u64()?;
        let flags = if request.opcode == Opcode::RENAME2 {
            let flags = fields.u32()?;
            fields.u32()?;
            RenameFlags::from_bits(flags).ok_or(Errno::INVAL)?
        } else {
            RenameFlags::empty()
        };
        let from = self.writable_child(request.node, fields.name()?)?;
        let to = self.writable_child(folder, fields.name()?)?;
        rustix::fs::renameat_with(CWD, &from, CWD, &to, flags)?;
        if flags.contains(RenameFlags::EXCHANGE) {
            self.tree.exchange(&from, &to);
        } else {
            self.tree.rename(&from, &to);
        }
        Ok(Vec::new())
    }
}

fn init(request: &Request) -> Reply {
    let mut fields = request.fields();
    let (major, _, read_ahead, offered) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
    if major != PROTOCOL_MAJOR {
        return Err(Errno::PROTO);
    }
    let mut body = Body::default();
    body.u32(PROTOCOL_MAJOR)
        .u32(PROTOCOL_MINOR)
        .u32(read_ahead.max(LONGEST_PIECE_BYTES))
        .u32(offered & FEATURES);
    // 16 requests at once, busy from 12; writes as long as a piece; times exact to the nanosecond; 256 pages.
    body.bytes(&16_u16.to_le_bytes()).bytes(&12_u16.to_le_bytes()).u32(LONGEST_PIECE_BYTES).u32(1);
    body.bytes(&256_u16.to_le_bytes()).bytes(&[0; 34]);
    Ok(body.0)
}

fn time(wanted: u32, given: u32, now: u32, seconds: u64, nanoseconds: u32) -> Timespec {
    let nanoseconds = match wanted {
        _ if wanted & given == 0 => UTIME_OMIT,
        _ if wanted & now != 0 => UTIME_NOW,
        _ => i64::from(nanoseconds),
    };
    Timespec { tv_sec: seconds.cast_signed(), tv_nsec: nanoseconds }
}

/// The DT_ number of a file type.
fn kind_number(kind: &std::fs::FileType) -> u32 {
    match kind {
        _ if kind.is_file() => 8,
        _ if kind.is_dir() => 4,
        _ if kind.is_symlink() => 10,
        _ if kind.is_fifo() => 1,
        _ if kind.is_char_device() => 2,
        _ if kind.is_block_device() => 6,
        _ if kind.is_socket() => 12,
        _ => 0,
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
