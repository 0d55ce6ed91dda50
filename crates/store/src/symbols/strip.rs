//! Which frames lie beneath the program: the runtime's, the allocator's, and those of the C++ library, whose
//! containers would otherwise all seem to allocate in the same line of one header.

/// Entry points of the C allocator; `mmap` makes areas too.
const ALLOCATORS: [&str; 12] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "mmap",
    "mmap64",
    "mremap",
];
/// How the runtime's functions begin.
const RUNTIME: [&str; 2] = ["__olifant", "olifant_"];
/// What may stand before an allocator's name: the linker's `--wrap`, and the C library's own names.
const WRAPPERS: [&str; 3] = ["__wrap_", "__real_", "__libc_"];
/// How the linker's names begin: operator new and new[], namespace std and its abbreviations, namespace __gnu_cxx.
const CXX_LIBRARY: [&str; 9] =
    ["_Zn", "_ZNSt", "_ZNKSt", "_ZSt", "_ZNSa", "_ZNSs", "_ZNKSs", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"];
/// Part of the path of every header of the C++ library (GNU and LLVM).
const CXX_HEADERS: &str = "/include/c++/";

/// Whether a function is no part of the program. `raw` is the linker's name where there is one.
pub(crate) fn is_beneath_the_program(raw: &str, demangled: &str, file: &str) -> bool {
    let plain = WRAPPERS.iter().find_map(|wrapper| raw.strip_prefix(wrapper)).unwrap_or(raw);
    RUNTIME.iter().any(|prefix| raw.starts_with(prefix) || demangled.starts_with(prefix))
        || ALLOCATORS.contains(&plain)
        || CXX_LIBRARY.iter().any(|prefix| raw.starts_with(prefix))
        || file.contains(CXX_HEADERS)
}

#[cfg(test)]
mod tests {
    use super::is_beneath_the_program;

    #[test]
    fn the_runtime_the_allocator_and_the_cxx_library_are_beneath() {
        for (raw, demangled, file) in [
            ("__olifant_malloc", "__olifant_malloc", ""),
            ("_ZN16olifant_frontend4heap6record17h0E", "olifant_frontend::heap::record", "heap.rs"),
            ("malloc", "malloc", ""),
            ("__wrap_calloc", "__wrap_calloc", ""),
            ("_Znwm", "operator new(unsigned long)", ""),
            ("_Znam", "operator new[](unsigned long)", ""),
            ("_ZNSt6vectorIdSaIdEEC2Em", "std::vector<double>::vector(unsigned long)", ""),
            ("vector", "vector", "/usr/include/c++/12/bits/stl_vector.h"),
        ] {
            assert!(is_beneath_the_program(raw, demangled, file), "{raw}");
        }
    }

    #[test]
    fn the_program_is_not_beneath_itself() {
        for (raw, demangled, file) in [
            ("main", "main", "main.c"),
            ("xmalloc", "xmalloc", "util.c"),
            ("my_olifant_grid", "my_olifant_grid", "grid.c"),
            ("_ZN4grid6GridC1Em", "grid::Grid::Grid(unsigned long)", "/src/include/grid.hpp"),
            ("_Z4makem", "make(unsigned long)", ""),
        ] {
            assert!(!is_beneath_the_program(raw, demangled, file), "{raw}");
        }
    }
}
