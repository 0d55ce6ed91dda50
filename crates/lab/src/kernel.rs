//! A kernel for the guest: the one given, the newest in the cache, or Debian's kernel for clouds, fetched without being
//! installed.
//!
//! The kernel must have virtio-pci, virtio-console and fuse built in, as Debian's 6.12 for clouds has.
//! Sources: apt-get(8) download, dpkg(1) -x.

use crate::{LabError, cache};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's packages of one kernel each: `linux-image-6.12.117+deb12-cloud-amd64`.
const PACKAGE_START: &str = "linux-image-";
const PACKAGE_END: &str = "-cloud-amd64";
/// The first version whose parts needed here are built in, and that knows weighted interleaving.
const LEAST_VERSION: [u64; 2] = [6, 12];

/// The kernel's file. `talk` hears of a download.
/// # Errors  `NoKernel` says what to install or run.
pub fn find(given: Option<&Path>, talk: &dyn Fn(&str)) -> Result<PathBuf, LabError> {
    if let Some(given) = given {
        return match std::fs::File::open(given) {
            Ok(_) => Ok(given.to_owned()),
            Err(source) => Err(LabError::File { what: "cannot read kernel", path: given.to_owned(), source }),
        };
    }
    let folder = cache::folder("kernels")?;
    if let Some(kept) = newest_kept(&folder)? {
        return Ok(kept);
    }
    let package = newest_package()?;
    talk(&format!("fetching {package} (about 35 MB, once) into {}", folder.display()));
    fetch(&package, &folder)
}

/// The kernel with the highest version in the cache.
fn newest_kept(folder: &Path) -> Result<Option<PathBuf>, LabError> {
    let entries = std::fs::read_dir(folder).map_err(LabError::file("cannot read folder", folder))?;
    let kept = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let newest = kept.filter(|name| name.starts_with("vmlinuz-")).max_by_key(|name| version(name));
    Ok(newest.map(|name| folder.join(name)))
}

/// The newest suitable package that the package lists know.
fn newest_package() -> Result<String, LabError> {
    let search = Command::new("apt-cache")
        .args(["search", "--names-only", "^linux-image-[0-9].*-cloud-amd64$"])
        .output();
    let search = search
        .map_err(|_| LabError::NoKernel("apt-cache is missing, so none can be fetched here".to_owned()))?;
    let listed = String::from_utf8_lossy(&search.stdout).into_owned();
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    // The signed kernels of single versions: names without one are empty packages that depend on those.
    let single = names.filter(|name| {
        let version = name.strip_prefix(PACKAGE_START).and_then(|rest| rest.strip_suffix(PACKAGE_END));
        version.is_some_and(|version| version.matches('.').count() >= 2)
    });
    let suitable = single.filter(|name| version(name).as_slice() >= LEAST_VERSION.as_slice());
    suitable.max_by_key(|name| version(name)).map(str::to_owned).ok_or_else(|| {
        LabError::NoKernel(
            "the package lists have no linux-image-*-cloud-amd64 of version 6.12 or later (Debian 12 or later, \
             after apt-get update)"
                .to_owned(),
        )
    })
}

/// Downloads a package and keeps its kernel.
fn fetch(package: &str, folder: &Path) -> Result<PathBuf, LabError> {
    let work = tempfile::tempdir_in(folder).map_err(LabError::file("cannot make a folder in", folder))?;
    run(Command::new("apt-get")
        .args(["-q", "-o", "APT::Sandbox::User=root", "download", package])
        .current_dir(work.path()))?;
    let archive = single_file(work.path(), "linux-image-")?;
    run(Command::new("dpkg").arg("-x").arg(&archive).arg(work.path().join("unpacked")))?;
    let kernel = single_file(&work.path().join("unpacked/boot"), "vmlinuz-")?;
    let name = kernel.file_name().unwrap_or_default();
    let kept = folder.join(name);
    std::fs::rename(&kernel, &kept).map_err(LabError::file("cannot write", &kept))?;
    Ok(kept)
}

fn run(command: &mut Command) -> Result<(), LabError> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.map_err(|error| LabError::NoKernel(format!("{tool}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(LabError::NoKernel(format!("{tool}: {said}; try apt-get update first")))
}

fn single_file(folder: &Path, start: &str) -> Result<PathBuf, LabError> {
    let entries = std::fs::read_dir(folder).map_err(LabError::file("cannot read folder", folder))?;
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let name = names.find(|name| name.starts_with(start));
    name.map(|name| folder.join(name))
        .ok_or_else(|| LabError::NoKernel(format!("no {start}* in {}", folder.display())))
}

/// The numbers in a name, for comparing versions.
fn version(name: &str) -> Vec<u64> {
    let numbers = name.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(
            version("linux-image-6.12.117+deb12-cloud-amd64")
                > version("linux-image-6.12.41+deb12-cloud-amd64")
        );
        assert!(version("linux-image-6.1.0-50-cloud-amd64").as_slice() < LEAST_VERSION.as_slice());
    }

    #[test]
    fn the_newest_kept_kernel_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(newest_kept(folder.path()).unwrap(), None);
        for name in ["vmlinuz-6.12.9-cloud-amd64", "vmlinuz-6.12.41-cloud-amd64", "other"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let newest = newest_kept(folder.path()).unwrap().unwrap();
        assert!(newest.ends_with("vmlinuz-6.12.41-cloud-amd64"));
    }

    #[test]
    fn a_kernel_that_is_not_there_is_named() {
        let error = find(Some(Path::new("no/such/kernel")), &|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("cannot read kernel no/such/kernel: "), "{error}");
    }
}
