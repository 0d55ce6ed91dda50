//! Files of earlier schemas are read; what they lack is empty.

use crate::fixed;
use olifant_opium::facts::Facts;
use olifant_opium::map::GranuleMap;
use olifant_store::{read, read_map, write};

/// What schema 2 added.
const ADDED: [&str; 16] = [
    "VIEW phase_traffic",
    "VIEW lock_costs",
    "VIEW first_touch_sites",
    "TABLE card",
    "TABLE filter_counters",
    "TABLE filter_ranges",
    "TABLE card_events",
    "TABLE filters",
    "TABLE secondary_counters",
    "TABLE phase_cells",
    "TABLE phases",
    "TABLE lock_nodes",
    "TABLE locks",
    "TABLE first_touches",
    "TABLE places",
    "TABLE contested_fields",
];

#[test]
fn a_file_of_schema_1_reads_as_a_profile_without_facts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.olp");
    write(&fixed::profile(), &path).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    for what in ADDED.iter().copied().chain(["TABLE granule_map"]) {
        connection.execute_batch(&format!("DROP {what}")).unwrap();
    }
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection.close().unwrap();
    let mut expected = fixed::profile();
    expected.facts = Facts::default();
    expected.contested.iter_mut().for_each(|line| line.fields.clear());
    assert_eq!(read(&path).unwrap(), expected);
    let (profile, map) = read_map(&path).unwrap();
    assert_eq!(map, GranuleMap::of(&expected));
    assert_eq!(profile, expected);
}
