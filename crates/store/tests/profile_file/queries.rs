//! The views give the sums that docs/profile.md promises, and every query printed there runs.

use crate::fixed;
use olifant_store::write;
use rusqlite::Connection;
use rusqlite::types::Value;

/// The documentation of the schema.
const BOOK: &str = include_str!("../../../../docs/profile.md");

/// A database of the fixed profile.
fn database() -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.olp");
    write(&fixed::profile(), &path).unwrap();
    let connection = Connection::open(&path).unwrap();
    (folder, connection)
}

/// The rows of a query, a row to a line, columns parted by bars.
fn rows(connection: &Connection, query: &str) -> Vec<String> {
    let mut statement = connection.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let columns = statement.column_count();
    let shown = |value| match value {
        Value::Null => "-".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Text(text) => text,
        Value::Blob(_) => panic!("{query} gives a blob"),
    };
    statement
        .query_map([], |row| {
            let values = (0..columns).map(|column| Ok(shown(row.get(column)?)));
            Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn the_file_carries_its_marks() {
    let (_folder, connection) = database();
    assert_eq!(rows(&connection, "PRAGMA application_id"), ["1330399558"]);
    assert_eq!(rows(&connection, "PRAGMA user_version"), ["2"]);
    assert_eq!(rows(&connection, "PRAGMA integrity_check"), ["ok"]);
    assert!(rows(&connection, "PRAGMA foreign_key_check").is_empty());
}

#[test]
fn area_traffic_parts_local_from_remote() {
    let (_folder, connection) = database();
    assert_eq!(
        rows(&connection, "SELECT * FROM area_traffic"),
        [
            "0|make_grid (grid.c:42)|heap|8192|make_grid|src/grid.c|42|95|107|0.5297029702970297",
            "1|table|global|4096|-|-|-|25|5|0.16666666666666666"
        ]
    );
    let by_node = "SELECT area, node, home, transactions, is_remote FROM area_traffic_by_node";
    assert_eq!(rows(&connection, by_node), ["0|0|0|95|0", "0|1|0|107|1", "1|0|1|5|1", "1|1|1|25|0"]);
}

#[test]
fn every_view_sums_to_the_remote_transactions_of_the_totals() {
    let (_folder, connection) = database();
    for query in [
        "SELECT sum(count) FROM transactions WHERE is_remote",
        "SELECT sum(remote) FROM area_traffic",
        "SELECT sum(transactions) FROM area_traffic_by_node WHERE is_remote",
        "SELECT sum(transactions) FROM node_traffic WHERE node <> home",
        "SELECT sum(remote) FROM thread_traffic",
        "SELECT remote_transactions FROM totals",
    ] {
        assert_eq!(rows(&connection, query), ["112"], "{query}");
    }
    assert_eq!(rows(&connection, "SELECT * FROM contested_areas"), ["1|table|false|1|21"]);
}

#[test]
fn every_query_of_the_book_runs_and_finds_something() {
    let (_folder, connection) = database();
    let queries: Vec<_> =
        BOOK.split("```sql").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(queries.len() >= 8, "only {} queries found in the book", queries.len());
    let found: Vec<_> = queries.iter().map(|query| rows(&connection, query)).collect();
    assert!(found[0][0].starts_with("make_grid (grid.c:42)|8192|95|107|53|make_grid|src/grid.c|42"));
    assert_eq!(found[4], ["0|1|0|1|67"], "pages used by one other node only");
    assert!(found[5].is_empty(), "no granule is read only by two nodes: {:?}", found[5]);
    assert_eq!(found[6][1], "table|64|21|false|1|5|5|8000000000000000");
    assert_eq!(found[7], ["mutex|table|1|30|20|4000|9"]);
    assert_eq!(found[8], ["make_grid (grid.c:42)|1|2|main|grid.c|12"]);
    assert_eq!(found[9], ["0|5|table|0|25"]);
    assert_eq!(found[10], ["tables|0x8000|1|node|25"]);
    assert_eq!(found[11].len(), 2, "frames of the call path");
}

#[test]
fn every_table_and_view_is_in_the_book() {
    let (_folder, connection) = database();
    for name in rows(&connection, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')") {
        let (table, view) = (format!("**{name}**"), format!("| `{name}`"));
        assert!(BOOK.contains(&table) || BOOK.contains(&view), "{name} is not in docs/profile.md");
        for column in rows(&connection, &format!("SELECT name FROM pragma_table_info('{name}')")) {
            assert!(BOOK.contains(&column), "{name}.{column} is not in docs/profile.md");
        }
    }
}
