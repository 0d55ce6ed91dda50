//! The tables of the house rules: floors, the fence, bans, limits and every exception, in this one place.

/// The floors, lowest first: a crate may import its own floor and those below.
pub const FLOORS: [&[&str]; 5] = [
    &["machine", "placement"],
    &["sim", "opium", "advisor"],
    &["sys", "store", "heaplog"],
    &[
        "host",
        "frontend",
        "runtime",
        "bench",
        "report",
        "partition",
        "rset",
        "lab",
        "exec",
        "sampler",
        "ledger",
    ],
    &["cli", "capi", "preload", "sites", "partitiond"],
];

/// The highest floor whose crates are pure: no files, environment, clock, threads, processes or sockets.
pub const HIGHEST_PURE_FLOOR: usize = 1;

/// Modules of `std` that a pure floor may not name.
pub const IMPURE_MODULES: [&str; 7] = ["fs", "env", "time", "thread", "process", "net", "os"];

/// Types that a pure floor may not name, wherever they were imported from.
pub const IMPURE_TYPES: [&str; 2] = ["Instant", "SystemTime"];

/// Crates that may hold unsafe code, each with the reason.
pub const FENCE: [(&str, &str); 7] = [
    ("sys", "system calls take and return raw memory"),
    ("heaplog", "memory that processes share"),
    ("sites", "interposed C functions take raw pointers"),
    ("runtime", "a C ABI called by instrumented programs, and switches between user-level contexts"),
    ("frontend", "the launcher's signal handler, until `sys` arrives"),
    ("capi", "a C ABI takes raw pointers"),
    ("preload", "interposed C functions take raw pointers"),
];

/// A source file (Rust, C, header) holds at most so many lines, test modules not counted: past it, a reader can no
/// longer hold the one thing that the file is about.
pub const LONGEST_FILE: usize = 600;

/// Ends of file names that hold a table, which is one thing at any length.
pub const TABLE_FILES: [&str; 2] = ["table.rs", "tables.rs"];

/// Files that may be longer than [`LONGEST_FILE`], each with the reason.
pub const LONG_FILES: &[(&str, &str)] = &[];

/// Folders (from the root) that are not read: made by builds, or captured from elsewhere byte for byte.
pub const SKIPPED_FOLDERS: [&str; 4] = [".git", "target", "build", "tests/captures"];

/// Files that name what they forbid.
pub const MARKER_FILES: [&str; 2] = ["xtask/src/tidy/rules.rs", "xtask/tests/tidy.rs"];

/// Marks of unfinished work, each with what to do instead.
pub const MARKERS: [(&str, &str); 5] = [
    ("TODO", "do it, or file an issue"),
    ("FIXME", "fix it, or file an issue"),
    ("XXX", "say what is surprising, in words"),
    ("dbg!", "remove the trace"),
    ("#[ignore", "a test runs or is not there"),
];

/// Starts of absolute paths that belong to one machine. Folders under `/home/` are not among them: tests use some of
/// invented people as examples.
pub const HOST_PATHS: [&str; 3] = ["/work/", "/root/", "/tmp/"];

/// The crate folder (under `crates/`) that a path belongs to.
pub fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// The floor of a crate folder.
pub fn floor_of(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}
