//! Named sets on disk.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use olifant_placement::ResourceSet;
use rset::registry::{Registry, RegistryError, Scope};
use std::os::unix::fs::PermissionsExt;

struct Folders {
    _directory: tempfile::TempDir,
    registry: Registry,
}

fn folders() -> Folders {
    let directory = tempfile::tempdir().unwrap();
    let user = directory.path().join("user/rsets");
    let system = directory.path().join("system");
    Folders { registry: Registry::new(Some(user), system), _directory: directory }
}

fn set(cpus: &str, nodes: &str) -> ResourceSet {
    ResourceSet::new(cpus.parse().unwrap(), nodes.parse().unwrap())
}

#[test]
fn a_set_that_was_put_is_read_back_with_owner_and_mode() {
    let folders = folders();
    let registry = &folders.registry;
    let left = set("0-3,8", "0");
    let put = registry.put("jobs/left", &left, Scope::User, 0o640, false).unwrap();
    assert_eq!(put, registry.get("jobs/left").unwrap());
    assert_eq!((put.set, put.mode, put.scope), (left, 0o640, Scope::User));
    assert_eq!(std::fs::metadata(&put.path).unwrap().permissions().mode() & 0o777, 0o640);
    let names: Vec<String> = registry.list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["jobs/left"]);
    // Nothing is left beside it.
    assert_eq!(std::fs::read_dir(put.path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_users_set_hides_the_systems() {
    let folders = folders();
    let registry = &folders.registry;
    registry.put("mine", &set("0", "0"), Scope::System, 0o644, false).unwrap();
    assert_eq!(registry.get("mine").unwrap().scope, Scope::System);
    registry.put("mine", &set("1", "1"), Scope::User, 0o644, false).unwrap();
    assert_eq!(registry.get("mine").unwrap().set, set("1", "1"));
    assert_eq!(registry.list().unwrap().len(), 2);
    registry.remove("mine", Scope::User).unwrap();
    assert_eq!(registry.get("mine").unwrap().set, set("0", "0"));
}

#[test]
fn an_existing_set_is_replaced_only_on_request() {
    let folders = folders();
    let registry = &folders.registry;
    registry.put("mine", &set("0", "0"), Scope::User, 0o644, false).unwrap();
    let error = registry.put("mine", &set("1", "1"), Scope::User, 0o644, false).unwrap_err();
    assert!(matches!(error, RegistryError::Exists(_)), "{error}");
    assert_eq!(registry.get("mine").unwrap().set, set("0", "0"));
    registry.put("mine", &set("1", "1"), Scope::User, 0o644, true).unwrap();
    assert_eq!(registry.get("mine").unwrap().set, set("1", "1"));
}

#[test]
fn what_is_absent_malformed_or_misnamed_is_told_apart() {
    let folders = folders();
    let registry = &folders.registry;
    let entry = registry.put("batch", &set("0", "0"), Scope::User, 0o644, false).unwrap();
    assert_eq!(
        registry.get("bacth").unwrap_err().to_string(),
        "no set is named \"bacth\" (did you mean \"batch\"?)"
    );
    for name in ["all", "0-3", "a/b/c", "../x", "a b", "", "/x", ".hidden"] {
        assert!(matches!(registry.get(name).unwrap_err(), RegistryError::Name { .. }), "{name}");
    }
    std::fs::write(&entry.path, "cpus = \"0-\"\n").unwrap();
    let error = registry.get("batch").unwrap_err();
    assert!(error.to_string().contains("character 3"), "{error}");
    assert!(matches!(registry.remove("none-such", Scope::User).unwrap_err(), RegistryError::Absent { .. }));
}

#[test]
fn readers_see_a_set_whole_while_it_is_replaced() {
    let folders = folders();
    let registry = &folders.registry;
    let versions = [set("0-3", "0"), set("4-7", "1")];
    registry.put("busy", &versions[0], Scope::User, 0o644, false).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for turn in 0..50 {
                registry.put("busy", &versions[turn % 2], Scope::User, 0o644, true).unwrap();
            }
        });
        while !writer.is_finished() {
            let seen = registry.get("busy").unwrap().set;
            assert!(versions.contains(&seen), "{seen}");
        }
    });
}
