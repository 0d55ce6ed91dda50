//! `docs/protocol.md` holds the protocol's table as the engine runs it.
//!
//! To print it anew after a change of the table: `OLIFANT_WRITE_DOCS=1 cargo test -p olifant-sim --test documentation`

use olifant_sim::protocol;
use std::path::Path;

const BEGIN: &str = "<!-- printed from crates/sim/src/protocol.rs: begin -->\n";
const END: &str = "<!-- printed from crates/sim/src/protocol.rs: end -->\n";

#[test]
fn the_printed_table_is_the_one_that_runs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/protocol.md has lost its begin mark");
    let (printed, after) = rest.split_once(END).expect("docs/protocol.md has lost its end mark");
    let table = format!("\n{}\n", protocol::describe());
    if std::env::var_os("OLIFANT_WRITE_DOCS").is_some() {
        std::fs::write(&path, [before, BEGIN, &table, END, after].concat()).unwrap();
    } else {
        assert_eq!(
            printed, table,
            "docs/protocol.md is out of date; the head of this test says how to print it anew"
        );
    }
}
