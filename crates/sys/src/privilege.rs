//! Whether a program runs with rights that its starter does not have, for which the loader ignores what would come into it.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// S_ISUID, S_ISGID, and execution by the group, without which S_ISGID means something else.
const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2010;

/// Whether the program at `path` gets another user's or group's rights, or capabilities, when this process becomes it.
/// Source: execve(2), ld.so(8) (secure-execution mode).
pub fn gains_rights(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    // SAFETY: none of these takes anything or can fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let is_others = metadata.mode() & SET_USER != 0 && metadata.uid() != user;
    let is_other_groups = metadata.mode() & SET_GROUP == SET_GROUP && metadata.gid() != group;
    is_others || is_other_groups || (user != 0 && has_capabilities(path))
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: both names are C strings; with no room the kernel writes nothing and tells the size.
    let answer =
        unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), core::ptr::null_mut(), 0) };
    answer > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_of_ones_own_gains_nothing_and_one_of_another_group_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::write(&path, "").unwrap();
        assert!(!gains_rights(&path));
        let is_root = path.metadata().unwrap().uid() == 0;
        if is_root && std::os::unix::fs::chown(&path, Some(1), Some(1)).is_ok() {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
            assert!(gains_rights(&path));
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o2755)).unwrap();
            assert!(gains_rights(&path));
        }
    }
}
