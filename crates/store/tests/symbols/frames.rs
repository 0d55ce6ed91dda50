//! From addresses to frames.

use crate::compile::Program;
use olifant_opium::profile::*;
use olifant_store::symbols::{Symbolizer, resolve};

/// A program whose allocator is called by make_grid, called by main.
const GRID: &str = r#"
__attribute__((noinline)) void *__olifant_malloc(unsigned long bytes)
{
    __olifant_tell();
    return malloc(bytes);
}

KIND double *make_grid(unsigned long n)
{
    double *grid = __olifant_malloc(n * sizeof *grid);
    grid[n / 2] = 1;
    return grid;
}

int main(int argc, char **argv)
{
    (void)argv;
    double *grid = make_grid(64 + argc);
    printf("%g\n", grid[1]);
    return 0;
}
"#;

fn frames(program: &Program) -> Vec<Frame> {
    let (module, path) = program.run();
    assert!(path.len() > 3, "the program told {path:x?}");
    Symbolizer::new(&[module]).frames_of_path(&path)
}

fn frame(program: &Program, function: &str, text: &str) -> Frame {
    Frame { function: function.into(), file: program.source_file("grid.c"), line: program.line_of(text) }
}

#[test]
fn the_innermost_frame_is_the_program_s_caller_of_malloc() {
    for position in ["-no-pie", "-pie"] {
        let program = Program::new("cc", &["-g", "-O0", "-DKIND=", position], GRID);
        let found = frames(&program);
        assert_eq!(found[0], frame(&program, "make_grid", "= __olifant_malloc"), "{position}");
        assert_eq!(found[1], frame(&program, "main", "= make_grid"), "{position}");
    }
}

#[test]
fn inlined_calls_have_frames_of_their_own() {
    let program = Program::new("cc", &["-g", "-O2", "-no-pie", "-DKIND=static inline"], GRID);
    let (module, path) = program.run();
    let symbolizer = Symbolizer::new(&[module]);
    let found = symbolizer.frames_of_path(&path);
    assert_eq!(found[0], frame(&program, "make_grid", "= __olifant_malloc"));
    assert_eq!(found[1], frame(&program, "main", "= make_grid"));
    let both = symbolizer.frames_of_path(&path[2..3]);
    assert_eq!(both.len(), 2, "both frames come from the same return address");
}

#[test]
fn without_debugging_information_the_symbol_table_answers() {
    let program = Program::new("cc", &["-O0", "-no-pie", "-DKIND="], GRID);
    let found = frames(&program);
    for (frame, function) in found.iter().zip(["make_grid", "main"]) {
        let offset = frame.function.strip_prefix(&format!("{function}+0x")).expect(&frame.function);
        assert!(u32::from_str_radix(offset, 16).unwrap() > 0);
        assert_eq!((frame.file.as_str(), frame.line), ("", 0));
    }
}

#[test]
fn without_symbols_the_object_and_the_offset_answer() {
    let program = Program::new("cc", &["-O0", "-pie", "-s", "-DKIND="], GRID);
    let (module, path) = program.run();
    let bias = module.bias;
    let found = Symbolizer::new(&[module]).frames_of_path(&path);
    assert_eq!(found[0].function, format!("grid+{:#x}", path[0] - bias));
    assert_eq!(found.len(), path.len(), "nothing can be stripped where nothing is known");
}

#[test]
fn an_unreadable_object_is_reported_and_still_named() {
    let module = Module { path: "/nowhere/libgrid.so".into(), bias: 0x1000, start: 0x1000, end: 0x2000 };
    let symbolizer = Symbolizer::new(&[module]);
    assert_eq!(symbolizer.frames_of_path(&[0x1234, 0x9000])[0].function, "libgrid.so+0x234");
    assert_eq!(symbolizer.frames_of_path(&[0x9000])[0].function, "0x9000");
    let [error] = symbolizer.unreadable()[..] else { panic!("one object is unreadable") };
    assert_eq!(error.to_string(), "/nowhere/libgrid.so: cannot read: No such file or directory (os error 2)");
}

#[test]
fn containers_of_cxx_allocate_in_the_program_s_line() {
    let source = r#"
#include <new>
#include <vector>

void *operator new(std::size_t bytes)
{
    __olifant_tell();
    return malloc(bytes);
}
void operator delete(void *memory) noexcept { free(memory); }
void operator delete(void *memory, std::size_t) noexcept { free(memory); }

namespace ocean {
struct Grid {
    std::vector<double> cells;
    explicit Grid(unsigned long n);
};
Grid::Grid(unsigned long n) : cells() {
    cells.resize(n);
}
}

int main(int argc, char **)
{
    ocean::Grid grid(64 + argc);
    return grid.cells[1] > 0;
}
"#;
    for level in ["-O0", "-O2"] {
        let program = Program::new("g++", &["-g", level, "-no-pie"], source);
        let found = frames(&program);
        assert_eq!(found[0].function, "ocean::Grid::Grid(unsigned long)", "{level}: {found:#?}");
        assert_eq!(found[0].line, program.line_of("cells.resize"), "{level}");
        assert_eq!(found[1].line, program.line_of("ocean::Grid grid"), "{level}");
    }
}

#[test]
fn resolving_fills_sites_and_names_areas() {
    let program = Program::new("cc", &["-g", "-O0", "-no-pie", "-DKIND="], GRID);
    let (module, path) = program.run();
    let mut profile = profile_of(module, path);
    let symbolizer = Symbolizer::new(&profile.modules);
    resolve(&mut profile, &symbolizer);
    assert_eq!(profile.sites[0].frames[0].function, "make_grid");
    assert_eq!(
        profile.areas[0].name,
        format!("make_grid (grid.c:{})", program.line_of("= __olifant_malloc"))
    );
    assert_eq!(profile.areas[1].name, "table");
    let once = profile.clone();
    resolve(&mut profile, &Symbolizer::new(&[]));
    assert_eq!(profile, once, "what was resolved stays, even without the program");
}

#[test]
fn an_instruction_is_looked_up_at_its_own_address() {
    let program = Program::new("cc", &["-O0", "-no-pie", "-DKIND="], GRID);
    let (module, path) = program.run();
    let symbolizer = Symbolizer::new(std::slice::from_ref(&module));
    let site = symbolizer.frames_of_path(&path[2..3])[0].function.clone();
    let offset = u64::from_str_radix(site.rsplit_once("+0x").unwrap().1, 16).unwrap();
    assert_eq!(symbolizer.frames_at(path[2] - offset)[0].function, "make_grid+0x0");
}

fn profile_of(module: Module, path: Vec<u64>) -> Profile {
    let area = |name: &str, site| Area {
        kind: AreaKind::Heap,
        name: name.into(),
        start: 0x1000,
        bytes: 512,
        site,
        ordinal: 0,
        thread: 0,
        born: 0,
        freed: None,
    };
    Profile {
        run: RunInfo {
            program: "grid".into(),
            args: Vec::new(),
            machine: String::new(),
            machine_toml: String::new(),
            configuration: String::new(),
            thread_policy: String::new(),
            memory_policy: String::new(),
            plan: None,
            seed: 0,
            evidence: Evidence::Simulated,
            is_complete: true,
            exit_code: 0,
            version: String::new(),
        },
        totals: Totals::default(),
        cpus: Vec::new(),
        nodes: Vec::new(),
        links: Vec::new(),
        threads: Vec::new(),
        modules: vec![module],
        sites: vec![Site { path, frames: Vec::new() }],
        areas: vec![area("", Some(0)), Area { kind: AreaKind::Global, ..area("table", None) }],
        granule_bytes: 4096,
        granules: Vec::new(),
        contested: Vec::new(),
        facts: olifant_opium::facts::Facts::default(),
    }
}
