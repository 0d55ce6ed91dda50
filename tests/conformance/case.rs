//! A line of programs/conformance/list: the program, how it is started, how it must end.

/// One conformance program.
#[derive(Debug, Clone)]
pub struct Case {
    /// File name of the binary.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The exit code as a shell sees it: 128 + n for signal n.
    pub code: i32,
    /// What it prints to stdout.
    pub stdout: String,
}

impl Case {
    /// Reads a line; nothing for a comment or an empty line.
    ///
    /// # Panics
    /// If the line is not of the form that the list's head describes.
    pub fn parse(line: &str) -> Option<Case> {
        if line.starts_with('#') || line.trim().is_empty() {
            return None;
        }
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [name, _language, _flags, end, arguments, stdout] = columns[..] else {
            panic!("conformance/list: expected 6 columns: {line}")
        };
        let items = |column: &str| -> Vec<String> {
            if column == "-" { Vec::new() } else { column.split(',').map(str::to_owned).collect() }
        };
        Some(Case {
            name: name.to_owned(),
            arguments: items(arguments),
            code: code(end)
                .unwrap_or_else(|| panic!("conformance/list: neither exit code nor signal: {end}")),
            stdout: items(stdout).iter().map(|line| format!("{line}\n")).collect(),
        })
    }
}

/// The exit code of `3` or `SIGSEGV`.
fn code(end: &str) -> Option<i32> {
    const SIGNALS: [(&str, i32); 8] = [
        ("SIGHUP", 1),
        ("SIGINT", 2),
        ("SIGQUIT", 3),
        ("SIGABRT", 6),
        ("SIGFPE", 8),
        ("SIGKILL", 9),
        ("SIGSEGV", 11),
        ("SIGTERM", 15),
    ];
    let signal = SIGNALS.iter().find(|(name, _)| *name == end).map(|(_, number)| 128 + number);
    signal.or_else(|| end.parse().ok())
}
