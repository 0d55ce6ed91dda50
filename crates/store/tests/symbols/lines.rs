//! From lines back to addresses.

use crate::compile::Program;
use olifant_store::symbols::{LineTable, SymbolError, Symbolizer, addresses_of_line};
use std::ops::Range;
use std::path::Path;

const GRID: &str = r#"
__attribute__((noinline)) void *__olifant_malloc(unsigned long bytes)
{
    __olifant_tell();
    return malloc(bytes);
}

static inline double *make_row(unsigned long n)
{
    return __olifant_malloc(n * sizeof(double));
}

int main(int argc, char **argv)
{
    (void)argv;
    double *row = make_row(64 + argc);
    row[0] = 1;
    printf("%g\n", row[0]);
    return 0;
}
"#;

fn returns_into(ranges: &[Range<u64>], address: u64) -> bool {
    ranges.iter().any(|range| range.contains(&(address - 1)))
}

#[test]
fn every_frame_of_a_path_is_found_again_by_its_line() {
    for level in ["-O0", "-O2"] {
        let program = Program::new("cc", &["-g", level, "-no-pie"], GRID);
        let (module, path) = program.run();
        let symbolizer = Symbolizer::new(&[module]);
        let table = LineTable::open(&program.path).unwrap();
        for address in &path {
            for frame in symbolizer.frames_of_path(&[*address]).iter().filter(|frame| frame.line > 0) {
                let ranges = table.addresses_of_line(&frame.file, frame.line);
                assert!(returns_into(&ranges, *address), "{level}: {address:#x} in {frame:?}: {ranges:x?}");
            }
        }
        let call = program.line_of("return __olifant_malloc");
        assert!(path.iter().any(|address| returns_into(&table.addresses_of_line("grid.c", call), *address)));
    }
}

#[test]
fn an_inlined_call_returns_into_the_caller_s_line_too() {
    let program = Program::new("cc", &["-g", "-O2", "-no-pie"], GRID);
    let (_, path) = program.run();
    let ranges = addresses_of_line(&program.path, "grid.c", program.line_of("= make_row")).unwrap();
    assert!(path.iter().any(|address| returns_into(&ranges, *address)), "{ranges:x?} {path:x?}");
}

#[test]
fn other_lines_and_files_have_other_addresses() {
    let program = Program::new("cc", &["-g", "-O0", "-no-pie"], GRID);
    let table = LineTable::open(&program.path).unwrap();
    let call = program.line_of("return __olifant_malloc");
    let ranges = table.addresses_of_line("grid.c", call);
    assert!(ranges.is_sorted_by(|a, b| a.end < b.start), "{ranges:x?}");
    let others = table.addresses_of_line("grid.c", program.line_of("row[0] = 1"));
    assert!(
        others
            .iter()
            .all(|other| ranges.iter().all(|range| range.end <= other.start || other.end <= range.start))
    );
    assert_eq!(table.addresses_of_line("grid.c", 9_999), []);
    assert_eq!(table.addresses_of_line("other.c", call), []);
    assert_eq!(table.addresses_of_line(&program.source_file("grid.c"), call), ranges);
}

#[test]
fn an_object_without_lines_has_no_addresses() {
    let program = Program::new("cc", &["-O0", "-no-pie"], GRID);
    assert_eq!(addresses_of_line(&program.path, "grid.c", 5).unwrap(), []);
}

#[test]
fn what_is_no_object_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("grid.sh");
    std::fs::write(&text, "#!/bin/sh\nexit 0\n").unwrap();
    let error = addresses_of_line(&text, "grid.c", 5).unwrap_err();
    assert!(matches!(error, SymbolError::NotAnObject { .. }), "{error}");
    assert!(error.to_string().contains("grid.sh: not a program or shared library ("), "{error}");
    let error = addresses_of_line(Path::new("/nowhere/grid"), "grid.c", 5).unwrap_err();
    assert!(matches!(error, SymbolError::Unreadable { .. }), "{error}");
}

#[test]
fn a_function_owns_its_code_with_and_without_lines_and_where_it_was_inlined() {
    for options in [["-g", "-O0"], ["-g", "-O2"], ["-g0", "-O0"]] {
        let program = Program::new("cc", &[options[0], options[1], "-no-pie"], GRID);
        let (_, path) = program.run();
        let table = LineTable::open(&program.path).unwrap();
        let ranges = table.addresses_of_function("make_row");
        assert!(
            path.iter().any(|address| returns_into(&ranges, *address)),
            "{options:?}: {ranges:x?} {path:x?}"
        );
        assert!(ranges.is_sorted_by(|a, b| a.end < b.start), "{ranges:x?}");
        assert_eq!(table.addresses_of_function("make_col"), []);
    }
}
