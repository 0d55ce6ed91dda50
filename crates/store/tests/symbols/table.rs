//! What the symbol table tells.

use crate::compile::Program;
use olifant_store::symbols::{global_symbols, is_instrumented};

const GLOBALS: &str = r#"
double matrix[64][64];
static int counters[100] = { 1 };
int __alias_target[8];
extern int shown_name[8] __attribute__((alias("__alias_target")));
const double constants[4] = { 1, 2, 3, 4 };
static __thread long per_thread[4];
const char *const relocated[2] = { "one", "two" };

int main(void)
{
    static long calls;
    calls += (long)matrix[3] + counters[3] + per_thread[0] + (long)relocated[1];
    __olifant_tell();
    return (int)calls + (int)constants[1] + shown_name[0];
}
"#;

#[test]
fn globals_are_the_variable_data_with_a_size_by_address() {
    for options in [["-O0", "-no-pie"], ["-O0", "-pie"]] {
        let program = Program::new("cc", &options, GLOBALS);
        let found = global_symbols(&program.path).unwrap();
        assert!(found.is_sorted_by(|a, b| a.address < b.address), "{found:?}");
        let size = |name: &str| found.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.bytes);
        assert_eq!(size("matrix"), Some(64 * 64 * 8));
        assert_eq!(size("counters"), Some(400));
        assert_eq!(size("shown_name"), Some(32));
        assert_eq!(size("__alias_target"), None, "the same object has a better name");
        assert!(found.iter().any(|symbol| symbol.name.starts_with("calls")));
        for absent in ["constants", "per_thread", "relocated", "main"] {
            assert_eq!(size(absent), None, "{absent} is no variable data");
        }
    }
}

#[test]
fn a_stripped_program_has_no_globals() {
    let program = Program::new("cc", &["-O0", "-s"], GLOBALS);
    assert!(global_symbols(&program.path).unwrap().iter().all(|symbol| symbol.name != "matrix"));
}

#[test]
fn an_instrumented_program_is_known_by_its_runtime() {
    let plain = Program::new("cc", &["-O0"], GLOBALS);
    assert!(!is_instrumented(&plain.path).unwrap());
    let marked = format!("int __olifant_runtime_version = 1;\n{GLOBALS}");
    let instrumented = Program::new("cc", &["-O0"], &marked);
    assert!(is_instrumented(&instrumented.path).unwrap());
    let needing = "extern int __olifant_runtime_version __attribute__((weak));\n\
                   int main(void) { __olifant_tell(); return &__olifant_runtime_version != 0; }\n";
    let needing = Program::new("cc", &["-O0"], needing);
    assert!(!is_instrumented(&needing.path).unwrap(), "a reference is not a definition");
}
