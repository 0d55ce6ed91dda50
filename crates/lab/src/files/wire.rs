//! The bytes of FUSE requests and replies: numbers in the host's order, least significant byte first on x86.
//! Source: include/uapi/linux/fuse.h of Linux, protocol 7.31, whose names these are.

use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// struct fuse_in_header.
pub const REQUEST_HEADER_BYTES: usize = 40;
/// struct fuse_out_header.
const REPLY_HEADER_BYTES: usize = 16;
/// How long the guest may believe what it was told of a file, in seconds.
const VALID_SECONDS: u64 = 1;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opcode(pub u32);

#[rustfmt::skip]
impl Opcode {
    pub const LOOKUP: Self = Opcode(1);
    pub const FORGET: Self = Opcode(2);
    pub const GETATTR: Self = Opcode(3);
    pub const SETATTR: Self = Opcode(4);
    pub const READLINK: Self = Opcode(5);
    pub const SYMLINK: Self = Opcode(6);
    pub const MKNOD: Self = Opcode(8);
    pub const MKDIR: Self = Opcode(9);
    pub const UNLINK: Self = Opcode(10);
    pub const RMDIR: Self = Opcode(11);
    pub const RENAME: Self = Opcode(12);
    pub const LINK: Self = Opcode(13);
    pub const OPEN: Self = Opcode(14);
    pub const READ: Self = Opcode(15);
    pub const WRITE: Self = Opcode(16);
    pub const STATFS: Self = Opcode(17);
    pub const RELEASE: Self = Opcode(18);
    pub const FSYNC: Self = Opcode(20);
    pub const FLUSH: Self = Opcode(25);
    pub const INIT: Self = Opcode(26);
    pub const OPENDIR: Self = Opcode(27);
    pub const READDIR: Self = Opcode(28);
    pub const RELEASEDIR: Self = Opcode(29);
    pub const CREATE: Self = Opcode(35);
    pub const INTERRUPT: Self = Opcode(36);
    pub const DESTROY: Self = Opcode(38);
    pub const BATCH_FORGET: Self = Opcode(42);
    pub const RENAME2: Self = Opcode(45);
}

/// A request: its header, and what follows.
#[derive(Debug)]
pub struct Request<'b> {
    /// What is asked.
    pub opcode: Opcode,
    /// Its number, which the reply repeats.
    pub unique: u64,
    /// The file asked about.
    pub node: u64,
    body: &'b [u8],
}

impl<'b> Request<'b> {
    /// Reads the header.
    pub fn read(bytes: &'b [u8]) -> Option<Self> {
        let (header, body) = bytes.split_at_checked(REQUEST_HEADER_BYTES)?;
        let mut fields = Fields(header);
        fields.u32().ok()?;
        Some(Request {
            opcode: Opcode(fields.u32().ok()?),
            unique: fields.u64().ok()?,
            node: fields.u64().ok()?,
            body,
        })
    }

    /// What follows the header.
    pub fn fields(&self) -> Fields<'b> {
        Fields(self.body)
    }
}

/// The rest of a request, read from the front. A request that is too short is invalid.
pub struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Errno> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Errno::INVAL)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// A number of four bytes.
    pub fn u32(&mut self) -> Result<u32, Errno> {
        self.take().map(u32::from_le_bytes)
    }

    /// A number of eight bytes.
    pub fn u64(&mut self) -> Result<u64, Errno> {
        self.take().map(u64::from_le_bytes)
    }

    /// Passes over bytes that mean nothing here.
    pub fn skip<const N: usize>(&mut self) -> Result<(), Errno> {
        self.take::<N>().map(drop)
    }

    /// A name, which ends with a zero.
    pub fn name(&mut self) -> Result<&'b OsStr, Errno> {
        let end = self.0.iter().position(|&byte| byte == 0).ok_or(Errno::INVAL)?;
        let name = OsStr::from_bytes(&self.0[..end]);
        self.0 = &self.0[end + 1..];
        Ok(name)
    }

    /// All that is left.
    pub fn rest(self) -> &'b [u8] {
        self.0
    }
}

/// A reply: the header, and the body of a success.
pub fn reply(unique: u64, result: Result<Vec<u8>, Errno>) -> Vec<u8> {
    let (error, body) = match result {
        Ok(body) => (0, body),
        Err(errno) => (-errno.raw_os_error(), Vec::new()),
    };
    let length = u32::try_from(REPLY_HEADER_BYTES + body.len()).unwrap_or(u32::MAX);
    let mut bytes = Body::default();
    bytes.u32(length).i32(error).u64(unique).bytes(&body);
    bytes.0
}

/// The body of a reply, written from the front.
#[derive(Debug, Default)]
pub struct Body(pub Vec<u8>);

impl Body {
    /// A number of four bytes.
    pub fn u32(&mut self, number: u32) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    fn i32(&mut self, number: i32) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    /// A number of eight bytes.
    pub fn u64(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// struct fuse_attr.
    pub fn attributes(&mut self, about: &Metadata) -> &mut Self {
        self.u64(about.ino()).u64(about.size()).u64(about.blocks());
        for seconds in [about.atime(), about.mtime(), about.ctime()] {
            self.bytes(&seconds.to_le_bytes());
        }
        for nanoseconds in [about.atime_nsec(), about.mtime_nsec(), about.ctime_nsec()] {
            self.u32(u32::try_from(nanoseconds).unwrap_or(0));
        }
        let links = u32::try_from(about.nlink()).unwrap_or(u32::MAX);
        self.u32(about.mode()).u32(links).u32(about.uid()).u32(about.gid());
        let block = u32::try_from(about.blksize()).unwrap_or(4096);
        self.u32(u32::try_from(about.rdev()).unwrap_or(0)).u32(block).u32(0)
    }

    /// struct fuse_attr_out.
    pub fn attributes_reply(&mut self, about: &Metadata) -> &mut Self {
        self.u64(VALID_SECONDS).u32(0).u32(0).attributes(about)
    }

    /// struct fuse_entry_out.
    pub fn entry(&mut self, node: u64, about: &Metadata) -> &mut Self {
        self.u64(node).u64(0).u64(VALID_SECONDS).u64(VALID_SECONDS).u32(0).u32(0).attributes(about)
    }

    /// struct fuse_dirent; `offset` is where the next one begins, in entries.
    pub fn folder_entry(&mut self, inode: u64, offset: u64, kind: u32, name: &OsStr) -> &mut Self {
        let length = u32::try_from(name.len()).unwrap_or(0);
        self.u64(inode).u64(offset).u32(length).u32(kind).bytes(name.as_bytes());
        let aligned = self.0.len().next_multiple_of(8);
        self.0.resize(aligned, 0);
        self
    }
}
