//! A snapshot as text: a table for a person, JSON or CSV for a program.

use crate::{MappingPages, Snapshot};
use core::fmt::Write as _;
use olifant_machine::NodeId;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Mappings that a table shows by themselves.
const SHOWN: usize = 24;
/// Columns for the name of a mapping.
const NAME_WIDTH: usize = 32;

/// The form of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownAs {
    /// For a person.
    Table,
    /// One object on one line.
    Json,
    /// A header and rows.
    Csv,
}

impl Snapshot {
    /// The snapshot in a form.
    pub fn text(&self, form: ShownAs) -> String {
        match form {
            ShownAs::Table => self.table(),
            ShownAs::Json => self.json(),
            ShownAs::Csv => self.csv(),
        }
    }

    fn json(&self) -> String {
        let by_node = |bytes: &BTreeMap<NodeId, u64>| -> Vec<_> {
            bytes.iter().map(|(node, bytes)| json!({ "node": node.0, "bytes": bytes })).collect()
        };
        let mappings: Vec<_> = self
            .mappings
            .iter()
            .map(|mapping| {
                json!({
                    "start": format!("{:#x}", mapping.start), "end": format!("{:#x}", mapping.end),
                    "permissions": mapping.permissions, "name": mapping.name, "nodes": by_node(&mapping.bytes),
                })
            })
            .collect();
        let threads: Vec<_> = self
            .threads
            .iter()
            .map(|thread| {
                json!({
                    "thread": thread.thread, "name": thread.name, "state": thread.state.to_string(),
                    "cpu": thread.cpu.0, "node": thread.node.map(|node| node.0), "allowed": thread.allowed.to_string(),
                })
            })
            .collect();
        let whole = json!({
            "process": self.process, "name": self.name, "threads": threads, "nodes": by_node(&self.bytes()),
            "mappings": mappings,
        });
        format!("{whole}\n")
    }

    fn csv(&self) -> String {
        let mut text = "kind,thread,name,state,cpu,allowed,start,end,permissions,node,bytes\n".to_owned();
        for thread in &self.threads {
            let node = thread.node.map_or_else(String::new, |node| node.to_string());
            let (name, allowed) = (quoted(&thread.name), quoted(&thread.allowed.to_string()));
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "thread,{},{name},{},{},{allowed},,,,{node},",
                thread.thread, thread.state, thread.cpu
            );
        }
        for mapping in &self.mappings {
            for (node, bytes) in &mapping.bytes {
                let (start, end) = (mapping.start, mapping.end);
                let name = quoted(&mapping.name);
                let _ = writeln!(
                    text,
                    "pages,,{name},,,,{start:#x},{end:#x},{},{node},{bytes}",
                    mapping.permissions
                );
            }
        }
        text
    }

    fn table(&self) -> String {
        let mut text = format!("process {} {}\n\n", self.process, self.name);
        let _ = writeln!(
            text,
            " {:>7}  {:<15}  state  {:>4}  {:>4}  may run on",
            "thread", "name", "cpu", "node"
        );
        for thread in &self.threads {
            let node = thread.node.map_or_else(|| "-".to_owned(), |node| node.to_string());
            let (id, name, state, cpu) = (thread.thread, &thread.name, thread.state, thread.cpu.0);
            let _ =
                writeln!(text, " {id:>7}  {name:<15}  {state:<5}  {cpu:>4}  {node:>4}  {}", thread.allowed);
        }
        text.push('\n');
        let sum = self.bytes();
        let nodes: BTreeSet<NodeId> = sum.keys().copied().collect();
        let _ = write!(text, " {:<NAME_WIDTH$}  perm", "mapping");
        for node in &nodes {
            let _ = write!(text, "  {:>9}", format!("node {node}"));
        }
        text.push('\n');
        let mut order: Vec<&MappingPages> = self.mappings.iter().collect();
        order.sort_by_key(|mapping| std::cmp::Reverse(mapping.bytes.values().sum::<u64>()));
        for mapping in order.iter().take(SHOWN) {
            row(&mut text, &label(mapping), &mapping.permissions, &nodes, &mapping.bytes);
        }
        if order.len() > SHOWN {
            let mut rest = BTreeMap::new();
            for (&node, &bytes) in order.iter().skip(SHOWN).flat_map(|mapping| &mapping.bytes) {
                *rest.entry(node).or_insert(0) += bytes;
            }
            row(&mut text, &format!("{} smaller ones", order.len() - SHOWN), "", &nodes, &rest);
        }
        row(&mut text, "all", "", &nodes, &sum);
        text
    }
}

fn row(
    text: &mut String,
    label: &str,
    permissions: &str,
    nodes: &BTreeSet<NodeId>,
    bytes: &BTreeMap<NodeId, u64>,
) {
    let _ = write!(text, " {label:<NAME_WIDTH$}  {permissions:<4}");
    for node in nodes {
        let _ = write!(text, "  {:>9}", bytes.get(node).map_or_else(String::new, |&bytes| size(bytes)));
    }
    let kept = text.trim_end().len();
    text.truncate(kept);
    text.push('\n');
}

/// The name, or the address of anonymous memory; a long name keeps its end.
fn label(mapping: &MappingPages) -> String {
    if mapping.name.is_empty() {
        return format!("{:#x}", mapping.start);
    }
    let letters: Vec<char> = mapping.name.chars().collect();
    match letters.len().checked_sub(NAME_WIDTH) {
        Some(1..) => format!("…{}", letters[letters.len() - NAME_WIDTH + 1..].iter().collect::<String>()),
        _ => mapping.name.clone(),
    }
}

/// Bytes in the unit that leaves one to four digits.
fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999_999 => format!("{} KiB", bytes >> 10),
        10_000_000..=9_999_999_999 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

/// A field of a row, in quotes where it would not read back without.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadPlace;
    use olifant_machine::CpuId;

    fn snapshot() -> Snapshot {
        Snapshot {
            process: 7,
            name: "ocean".into(),
            threads: vec![ThreadPlace {
                thread: 7,
                name: "a, \"b\"".into(),
                state: 'R',
                cpu: CpuId(5),
                node: Some(NodeId(1)),
                allowed: "4-7,9".parse().unwrap(),
            }],
            mappings: vec![MappingPages {
                start: 0x1000,
                end: 0x9000,
                permissions: "rw-p".into(),
                name: "[heap]".into(),
                bytes: BTreeMap::from([(NodeId(0), 4096), (NodeId(3), 20 << 20)]),
            }],
        }
    }

    #[test]
    fn a_table_has_a_column_for_each_node_that_has_pages() {
        let table = snapshot().table();
        assert!(table.contains("node 0     node 3\n"), "{table}");
        assert!(table.contains(" [heap]                            rw-p      4 KiB     20 MiB\n"), "{table}");
        assert!(table.contains("       7  a, \"b\"           R         5     1  4-7,9\n"), "{table}");
    }

    #[test]
    fn csv_keeps_commas_and_quotes() {
        assert!(
            snapshot().csv().contains("thread,7,\"a, \"\"b\"\"\",R,5,\"4-7,9\",,,,1,\n"),
            "{}",
            snapshot().csv()
        );
        assert!(snapshot().csv().contains("pages,,[heap],,,,0x1000,0x9000,rw-p,3,20971520\n"));
    }

    #[test]
    fn json_sums_by_node() {
        let value: serde_json::Value = serde_json::from_str(&snapshot().json()).unwrap();
        assert_eq!(value["nodes"][1], json!({ "node": 3, "bytes": 20 << 20 }));
        assert_eq!(value["mappings"][0]["start"], "0x1000");
    }
}
