//! Whether this processor samples the addresses of accesses by itself, which perf can record for `import`.
//!
//! Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-events; perf-mem(1); perf-amd-ibs(1).

use olifant_sys::Root;

const UNITS: &str = "sys/bus/event_source/devices";

/// The unit that samples addresses, by the name that people know it by; nothing where there is none, as in most virtual
/// machines.
pub fn hardware_sampling(root: &Root) -> Option<&'static str> {
    let has = |file: &str| root.path(format!("{UNITS}/{file}")).exists();
    if has("ibs_op/type") {
        return Some("IBS (AMD)");
    }
    ["cpu", "cpu_core"].iter().any(|unit| has(&format!("{unit}/events/mem-loads"))).then_some("PEBS (Intel)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_is_found_by_its_files_and_none_where_there_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert_eq!(hardware_sampling(&root), None);
        let make = |file: &str| {
            let path = folder.path().join(UNITS).join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        make("cpu_core/events/mem-loads");
        assert_eq!(hardware_sampling(&root), Some("PEBS (Intel)"));
        make("ibs_op/type");
        assert_eq!(hardware_sampling(&root), Some("IBS (AMD)"));
    }
}
