//! A full device: the message says so, the old file stays, no temporary is left. The device is a small tmpfs in a
//! mount namespace of its own, in which this test runs itself again.

use crate::fixed;
use olifant_opium::profile::Granule;
use olifant_store::{StoreError, read, write};
use std::process::Command;

/// Names the folder of the small device to the inner run.
const DEVICE: &str = "OLIFANT_TEST_SMALL_DEVICE";

#[test]
fn a_full_disk_keeps_the_old_profile() {
    if let Some(device) = std::env::var_os(DEVICE) {
        return fill(std::path::Path::new(&device));
    }
    let folder = tempfile::tempdir().unwrap();
    let own_name = "full_disk::a_full_disk_keeps_the_old_profile";
    let script = "mount -t tmpfs -o size=256k none \"$1\" || exit 77; exec \"$2\" --exact \"$3\" --nocapture";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .arg(own_name)
        .env(DEVICE, folder.path())
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) && !refused(&output.stderr) => output,
        _ => {
            eprintln!("skipped: {own_name} needs unshare(1) and leave to mount a tmpfs in a user namespace");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
}

/// Whether unshare(1) itself was refused.
fn refused(stderr: &[u8]) -> bool {
    String::from_utf8_lossy(stderr).starts_with("unshare:")
}

fn fill(device: &std::path::Path) {
    let path = device.join("profile.olp");
    let small = fixed::profile();
    write(&small, &path).unwrap();
    let mut large = fixed::profile();
    large.granules = (0..100_000).map(|index| Granule { area: 0, index, home: 0, by: Vec::new() }).collect();
    let error = write(&large, &path).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("profile.olp: no space left on the device: free some, or name a file elsewhere")
    );
    assert_eq!(read(&path).unwrap(), small);
    assert_eq!(std::fs::read_dir(device).unwrap().count(), 1);
}
