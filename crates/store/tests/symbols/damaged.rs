//! Damaged objects give errors or fewer answers, and never bring the reader down.

use crate::compile::Program;
use olifant_opium::profile::Module;
use olifant_store::symbols::{LineTable, Symbolizer, global_symbols, is_instrumented};
use proptest::prelude::*;
use proptest::sample::Index;
use std::sync::LazyLock;

static OBJECT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let source = "static double grid[512];\nint main(void) { __olifant_tell(); return grid[3] > 0; }\n";
    std::fs::read(&Program::new("cc", &["-g", "-O2", "-no-pie"], source).path).unwrap()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damaged_bytes_never_bring_the_symbolizer_down(
        flips in proptest::collection::vec((any::<Index>(), 1..=u8::MAX), 1..60),
        cut in proptest::option::weighted(0.2, any::<Index>()),
        addresses in proptest::collection::vec(0x40_0000..0x40_5000_u64, 8),
    ) {
        let mut bytes = OBJECT.clone();
        for (place, mask) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= mask;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("grid");
        std::fs::write(&path, &bytes).unwrap();
        let module = Module { path: path.display().to_string(), bias: 0, start: 0x40_0000, end: 0x50_0000 };
        let symbolizer = Symbolizer::new(&[module]);
        for address in &addresses {
            prop_assert!(!symbolizer.frames_of_path(&[*address]).is_empty());
        }
        if let Ok(table) = LineTable::open(&path) {
            prop_assert!(table.addresses_of_line("grid.c", 2).iter().all(|range| range.start < range.end));
        }
        prop_assert_eq!(global_symbols(&path).is_ok(), is_instrumented(&path).is_ok());
    }
}
