//! Compiler options as far as a driver must know them: which take a value, which belong to which step.
//! Sources: the option indexes of GCC 12 and Clang 14 to 19.

/// Options whose value is the next argument, or joined where `-I` style joining is usual.
const WITH_VALUE: [&str; 41] = [
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-include-pch",
    "-MF",
    "-MT",
    "-MQ",
    "-L",
    "-l",
    "-u",
    "-T",
    "-z",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "--param",
    "-target",
    "--sysroot",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-A",
    "-J",
    "-e",
    "-soname",
    "-wrapper",
    "-B",
    "-dumpbase-ext",
];

/// Options of that list whose value is always the next argument: joined, they would be other options (`-target-cpu`).
const ONLY_SEPARATE: [&str; 15] = [
    "-include",
    "-imacros",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-soname",
    "-wrapper",
    "-include-pch",
    "-dumpbase-ext",
];

/// Whether the value of `option` is the argument after it.
pub fn takes_next_argument(option: &str) -> bool {
    WITH_VALUE.contains(&option)
}

/// The joined value of the one-letter option `letter` (`-o`), as in `-ofile`.
pub fn joined_value<'a>(option: &str, text: &'a str) -> Option<&'a str> {
    text.strip_prefix(option).filter(|value| !value.is_empty() && !ONLY_SEPARATE.contains(&option))
}

/// Options that only ask the compiler about itself; with no input they are handed on.
pub fn is_query(text: &str) -> bool {
    matches!(text, "-v" | "-V" | "--version" | "-version" | "-qversion" | "--help" | "-###" | "-dumpversion")
        || matches!(
            text,
            "-dumpmachine" | "-dumpspecs" | "-dumpfullversion" | "--verbose" | "-help" | "--target-help"
        )
        || text.starts_with("-print-")
        || text.starts_with("--print-")
        || text.starts_with("--help=")
}

/// Options that end the work before an object is made; the compiler handles them alone.
pub fn stops_early(text: &str) -> bool {
    matches!(text, "-E" | "-M" | "-MM" | "-fsyntax-only" | "-###" | "--analyze" | "--preprocess")
        || text.starts_with("-fdump-tree-original-only")
}

/// Options that matter to the code generator and are not recorded in the IR.
pub fn is_for_code_generator(text: &str) -> bool {
    const FEATURES: [&str; 21] = [
        "pic",
        "PIC",
        "pie",
        "PIE",
        "function-sections",
        "data-sections",
        "unique-section-names",
        "fast-math",
        "fp-contract",
        "unsafe-math",
        "math-errno",
        "finite-math",
        "honor-",
        "signed-zeros",
        "trapping-math",
        "tls-model",
        "emulated-tls",
        "addrsig",
        "basic-block",
        "plt",
        "associative-math",
    ];
    if text.starts_with("-O") {
        return true;
    }
    if let Some(feature) = text.strip_prefix("-f") {
        let feature = feature.strip_prefix("no-").unwrap_or(feature);
        return FEATURES.iter().any(|name| feature.starts_with(name));
    }
    text.starts_with("-m") && !text.starts_with("-masm") && text != "-mllvm"
        || text.starts_with("--target=")
        || text.starts_with("--gcc-toolchain=")
}

/// Options of the assembler's step.
pub fn is_for_assembler(text: &str) -> bool {
    text.starts_with("-Wa,")
        || matches!(text, "-fno-integrated-as" | "-fintegrated-as")
        || text.starts_with("-march=")
        || text.starts_with("--target=")
}

/// Options of the link step alone, to be kept from the others.
pub fn is_for_linker(text: &str) -> bool {
    text.starts_with("-Wl,")
        || text.starts_with("-fuse-ld=")
        || text.starts_with("-nostd")
        || matches!(
            text,
            "-shared"
                | "-rdynamic"
                | "-s"
                | "-r"
                | "-no-pie"
                | "-nopie"
                | "-nodefaultlibs"
                | "-nolibc"
                | "-static-libgcc"
                | "-static-libstdc++"
                | "-static-libgfortran"
                | "-Bdynamic"
                | "-Bstatic"
                | "-symbolic"
                | "-pthread"
        )
}

/// Options with a value (in the next argument or joined) of the link step alone.
pub const LINKER_WITH_VALUE: [&str; 8] = ["-L", "-l", "-u", "-T", "-z", "-Xlinker", "-e", "-soname"];

/// Options with a value for finding and writing dependencies.
pub const DEPENDENCY_WITH_VALUE: [&str; 3] = ["-MF", "-MT", "-MQ"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_generator_gets_no_preprocessor_option() {
        for yes in
            ["-O2", "-fPIC", "-fno-pic", "-mavx2", "-march=native", "-ffast-math", "-fno-function-sections"]
        {
            assert!(is_for_code_generator(yes), "{yes}");
        }
        for no in
            ["-Ifoo", "-DX=1", "-Wall", "-std=c11", "-g", "-masm=intel", "-fvisibility=hidden", "-mllvm"]
        {
            assert!(!is_for_code_generator(no), "{no}");
        }
    }

    #[test]
    fn joined_values_are_seen_only_where_joining_is_usual() {
        assert_eq!(joined_value("-o", "-ofile"), Some("file"));
        assert_eq!(joined_value("-o", "-o"), None);
        assert_eq!(joined_value("-target", "-target-cpu"), None);
    }
}
