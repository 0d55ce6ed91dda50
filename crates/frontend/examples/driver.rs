//! The compiler driver alone: `driver cc|c++|fc ARGUMENTS...`; what `olifant` does for these commands, for tests and scripts
//! that must not depend on the whole command.

use std::ffi::OsString;

use olifant_frontend::driver::{self, Language};

fn main() {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let command = if arguments.is_empty() { OsString::new() } else { arguments.remove(0) };
    let language = match command.to_str() {
        Some("cc") => Language::C,
        Some("c++") => Language::Cxx,
        Some("fc") => Language::Fortran,
        _ => {
            eprintln!("usage: driver cc|c++|fc ARGUMENTS...");
            std::process::exit(2);
        }
    };
    std::process::exit(driver::main(language, arguments));
}
