//! Compiles a program and lets it tell its own call path, as the runtime would record it.

use olifant_opium::profile::Module;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the load bias, then the return addresses of the call path, innermost first; included by every program.
const TELL: &str = r#"
#define _GNU_SOURCE
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

static int first_object(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(unsigned long *)bias = info->dlpi_addr;
    return 1;
}

__attribute__((noinline)) static void __olifant_tell(void)
{
    unsigned long bias = 0;
    void *path[16];
    int depth = backtrace(path, 16);
    dl_iterate_phdr(first_object, &bias);
    printf("0x%lx\n", bias);
    for (int i = 0; i < depth; i++)
        printf("%p\n", path[i]);
}
"#;

/// A compiled program.
pub struct Program {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
    source: String,
}

impl Program {
    /// Compiles `source` (C, or C++ where the compiler is `g++`), with the telling function in front.
    pub fn new(compiler: &str, options: &[&str], source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = if compiler == "g++" { "grid.cpp" } else { "grid.c" };
        std::fs::write(folder.path().join("tell.h"), TELL).unwrap();
        let source = format!("#include \"tell.h\"\n{source}");
        std::fs::write(folder.path().join(name), &source).unwrap();
        let path = folder.path().join("grid");
        let output = Command::new(compiler)
            .current_dir(folder.path())
            .args(options)
            .args(["-o", "grid", name])
            .output()
            .unwrap_or_else(|error| panic!("{compiler} is needed by this test: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Program { folder, path, source }
    }

    /// Runs it: the module as a profile would hold it, and the path told.
    pub fn run(&self) -> (Module, Vec<u64>) {
        let output = Command::new(&self.path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut numbers =
            text.lines().map_while(|line| u64::from_str_radix(line.strip_prefix("0x")?, 16).ok());
        let bias = numbers.next().unwrap();
        let size = 1 << 20;
        // Without position independence the bias is 0 and the program begins at its linked address.
        let (start, end) = if bias == 0 { (0x40_0000, 0x40_0000 + size) } else { (bias, bias + size) };
        (Module { path: self.path.display().to_string(), bias, start, end }, numbers.collect())
    }

    /// The line that holds `text`, counted from 1.
    pub fn line_of(&self, text: &str) -> u32 {
        let index = self.source.lines().position(|line| line.contains(text)).unwrap();
        u32::try_from(index).unwrap() + 1
    }

    /// Its source file.
    pub fn source_file(&self, name: &str) -> String {
        Path::new(self.folder.path()).join(name).display().to_string()
    }
}
