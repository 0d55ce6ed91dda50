//! The server against a real folder, asked as the kernel asks.

use super::*;
use proptest::prelude::*;
use rustix::io::Errno;
use std::collections::VecDeque;

/// A kernel that asks one thing after the other.
struct Kernel {
    server: FileServer,
    unique: u64,
}

impl Kernel {
    fn new(root: &std::path::Path, writable: &std::path::Path) -> Self {
        Kernel { server: FileServer::new(root.to_owned(), writable.to_owned()), unique: 0 }
    }

    fn ask(&mut self, opcode: Opcode, node: u64, body: &[u8]) -> Result<Vec<u8>, Errno> {
        self.unique += 1;
        let mut request =
            u32::try_from(wire::REQUEST_HEADER_BYTES + body.len()).unwrap().to_le_bytes().to_vec();
        request.extend(opcode.0.to_le_bytes());
        request.extend(self.unique.to_le_bytes());
        request.extend(node.to_le_bytes());
        request.extend([0; 16]);
        request.extend(body);
        let reply = self.server.answer(&request).unwrap();
        assert_eq!(u32::from_le_bytes(reply[..4].try_into().unwrap()) as usize, reply.len());
        assert_eq!(reply[8..16], self.unique.to_le_bytes());
        match i32::from_le_bytes(reply[4..8].try_into().unwrap()) {
            0 => Ok(reply[16..].to_vec()),
            error => Err(Errno::from_raw_os_error(-error)),
        }
    }

    fn look_up(&mut self, folder: u64, name: &str) -> Result<u64, Errno> {
        let entry = self.ask(Opcode::LOOKUP, folder, &zero_ended(name))?;
        assert_eq!(entry.len(), 128);
        Ok(u64::from_le_bytes(entry[..8].try_into().unwrap()))
    }

    fn read(&mut self, node: u64, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let opened = self.ask(Opcode::OPEN, node, &[0; 8])?;
        let mut body = opened[..8].to_vec();
        body.extend(offset.to_le_bytes());
        body.extend(size.to_le_bytes());
        body.extend([0; 20]);
        self.ask(Opcode::READ, node, &body)
    }
}

fn zero_ended(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("open")).unwrap();
    std::fs::write(folder.path().join("open/file"), "0123456789").unwrap();
    std::fs::write(folder.path().join("closed"), "kept").unwrap();
    folder
}

#[test]
fn a_file_is_found_by_its_path_and_read_in_pieces() {
    let folder = folder();
    let mut kernel = Kernel::new(folder.path(), &folder.path().join("open"));
    assert_eq!(
        kernel
            .ask(Opcode::INIT, 0, &[7, 0, 0, 0, 31, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255])
            .unwrap()
            .len(),
        64
    );
    let open = kernel.look_up(1, "open").unwrap();
    let file = kernel.look_up(open, "file").unwrap();
    assert_eq!(kernel.read(file, 2, 3).unwrap(), b"234");
    assert_eq!(kernel.read(file, 8, 100).unwrap(), b"89");
    assert_eq!(kernel.look_up(open, "none"), Err(Errno::NOENT));
    assert_eq!(kernel.look_up(open, ".."), Err(Errno::INVAL));
    assert_eq!(kernel.look_up(99, "x"), Err(Errno::STALE));
}

#[test]
fn what_is_created_and_written_is_on_the_host() {
    let folder = folder();
    let mut kernel = Kernel::new(folder.path(), &folder.path().join("open"));
    let open = kernel.look_up(1, "open").unwrap();
    // O_RDWR, mode 0640, no mask
    let mut create = [2_u32.to_le_bytes(), 0o640_u32.to_le_bytes(), [0; 4], [0; 4]].concat();
    create.extend(zero_ended("new"));
    let reply = kernel.ask(Opcode::CREATE, open, &create).unwrap();
    assert_eq!(reply.len(), 128 + 16);
    let mut write = reply[128..136].to_vec();
    write.extend(3_u64.to_le_bytes());
    write.extend(2_u32.to_le_bytes());
    write.extend([0; 20]);
    write.extend(b"hi");
    kernel.ask(Opcode::WRITE, open, &write).unwrap();
    assert_eq!(std::fs::read(folder.path().join("open/new")).unwrap(), b"\0\0\0hi");
    let names = [zero_ended("new"), zero_ended("newer")].concat();
    kernel.ask(Opcode::RENAME, open, &[open.to_le_bytes().to_vec(), names].concat()).unwrap();
    assert!(folder.path().join("open/newer").exists());
    kernel.ask(Opcode::UNLINK, open, &zero_ended("newer")).unwrap();
    assert!(!folder.path().join("open/newer").exists());
}

#[test]
fn nothing_outside_the_shared_folder_can_be_changed() {
    let folder = folder();
    let mut kernel = Kernel::new(folder.path(), &folder.path().join("open"));
    let open = kernel.look_up(1, "open").unwrap();
    let closed = kernel.look_up(1, "closed").unwrap();
    assert_eq!(kernel.read(closed, 0, 10).unwrap(), b"kept");
    let for_writing = 1_u32.to_le_bytes().repeat(2);
    assert_eq!(kernel.ask(Opcode::OPEN, closed, &for_writing), Err(Errno::ROFS));
    assert_eq!(kernel.ask(Opcode::UNLINK, 1, &zero_ended("closed")), Err(Errno::ROFS));
    assert_eq!(kernel.ask(Opcode::MKDIR, 1, &[vec![0; 8], zero_ended("made")].concat()), Err(Errno::ROFS));
    let names = [zero_ended("file"), zero_ended("out")].concat();
    assert_eq!(
        kernel.ask(Opcode::RENAME, open, &[1_u64.to_le_bytes().to_vec(), names].concat()),
        Err(Errno::ROFS)
    );
    let linked = [closed.to_le_bytes().to_vec(), zero_ended("in")].concat();
    assert_eq!(kernel.ask(Opcode::LINK, open, &linked), Err(Errno::ROFS));
}

#[test]
fn a_folder_is_read_in_as_many_pieces_as_the_kernel_likes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "bb", "ccc", "dddd"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let mut kernel = Kernel::new(folder.path(), folder.path());
    let opened = kernel.ask(Opcode::OPENDIR, 1, &[0; 8]).unwrap();
    let mut names = Vec::new();
    let mut offset = 0_u64;
    loop {
        // Room for one entry at a time.
        let body =
            [opened[..8].to_vec(), offset.to_le_bytes().to_vec(), 40_u32.to_le_bytes().to_vec(), vec![0; 20]];
        let entry = kernel.ask(Opcode::READDIR, 1, &body.concat()).unwrap();
        if entry.is_empty() {
            break;
        }
        offset = u64::from_le_bytes(entry[8..16].try_into().unwrap());
        let length = u32::from_le_bytes(entry[16..20].try_into().unwrap()) as usize;
        names.push(String::from_utf8(entry[24..24 + length].to_vec()).unwrap());
    }
    names.sort();
    assert_eq!(names, [".", "..", "a", "bb", "ccc", "dddd"]);
}

#[test]
fn requests_that_are_torn_or_unknown_do_no_harm() {
    let folder = folder();
    let mut kernel = Kernel::new(folder.path(), folder.path());
    assert_eq!(kernel.ask(Opcode(4000), 1, &[]), Err(Errno::NOSYS));
    let mut wire = VecDeque::from(vec![255_u8; 64]);
    assert!(read_request(&mut wire, &mut Vec::new()).is_err());
}

proptest! {
    #[test]
    fn no_request_harms_what_is_not_shared(
        requests in prop::collection::vec((1..60_u32, 0..6_u64, prop::collection::vec(any::<u8>(), 0..120)), 1..20),
    ) {
        let folder = folder();
        let mut kernel = Kernel::new(folder.path(), &folder.path().join("open"));
        let open = kernel.look_up(1, "open").unwrap();
        kernel.look_up(open, "file").unwrap();
        kernel.look_up(1, "closed").unwrap();
        // Forgetting and interrupting have no reply.
        for (opcode, node, body) in requests.into_iter().filter(|(opcode, _, _)| ![2, 36, 42].contains(opcode)) {
            // Whatever the reply, one comes.
            let _ = kernel.ask(Opcode(opcode), node, &body);
        }
        prop_assert_eq!(std::fs::read(folder.path().join("closed")).unwrap(), b"kept");
    }
}
