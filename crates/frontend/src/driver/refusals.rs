//! Options that an instrumented build refuses, drops with a note, or ignores.

use super::error::DriverError;

/// What to do with an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing special.
    Keep,
    /// Drop it silently: it makes no difference to what the program computes.
    Ignore,
    /// Drop it and say so.
    DropWithNote(&'static str),
}

/// Judges `option`.
/// # Errors `Refused` if the result could not be an instrumented program.
pub fn judge(option: &str) -> Result<Verdict, DriverError> {
    let refuse = |reason| Err(DriverError::Refused { option: option.to_owned(), reason });
    match option {
        "-static" | "--static" | "-static-pie" => {
            refuse("an instrumented program needs the dynamic linker; leave the option out")
        }
        "-m32" | "-mx32" | "-m16" => refuse("only 64-bit x86 is instrumented"),
        "-emit-llvm" => {
            refuse("olifant writes ordinary objects and assembly; use clang itself for LLVM files")
        }
        "-pie" | "--pie" => Ok(Verdict::Ignore),
        "-save-temps" | "--save-temps" => Ok(Verdict::DropWithNote("no temporary files are made")),
        "-gsplit-dwarf" => Ok(Verdict::DropWithNote("debug information stays in the object")),
        _ if option.starts_with("-fsanitize=") => {
            refuse("sanitizers do not go together with instrumentation; build without them")
        }
        _ if option.starts_with("-fsanitize-coverage=") => {
            refuse("coverage hooks do not go together with instrumentation; build without them")
        }
        _ if option.starts_with("-save-temps=") => Ok(Verdict::DropWithNote("no temporary files are made")),
        _ if is_link_time_optimisation(option) => {
            Ok(Verdict::DropWithNote("each file is instrumented and optimised by itself"))
        }
        _ if option.starts_with("--target=") => match is_supported_target(&option[9..]) {
            true => Ok(Verdict::Keep),
            false => refuse("only x86_64 Linux is instrumented"),
        },
        _ => Ok(Verdict::Keep),
    }
}

/// Whether programs for `triple` can be instrumented.
pub fn is_supported_target(triple: &str) -> bool {
    (triple.starts_with("x86_64-") || triple.starts_with("amd64-"))
        && triple.contains("linux")
        && !triple.ends_with("x32")
}

fn is_link_time_optimisation(option: &str) -> bool {
    matches!(
        option,
        "-ffat-lto-objects"
            | "-fno-fat-lto-objects"
            | "-fwhole-program-vtables"
            | "-fvirtual-function-elimination"
    ) || (option == "-flto" || option.starts_with("-flto=") || option.starts_with("-flto-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitizers_and_static_links_are_refused_with_a_reason() {
        for option in [
            "-static",
            "-fsanitize=address",
            "-fsanitize=thread",
            "-m32",
            "-emit-llvm",
            "--target=aarch64-linux-gnu",
        ] {
            let message = judge(option).unwrap_err().to_string();
            assert!(message.starts_with(option), "{message}");
        }
        for option in
            ["-fno-sanitize=all", "-static-libgcc", "-fno-lto", "-O2", "--target=x86_64-pc-linux-gnu"]
        {
            assert_eq!(judge(option).unwrap(), Verdict::Keep, "{option}");
        }
    }

    #[test]
    fn link_time_optimisation_is_dropped_with_a_note_and_pie_without() {
        for option in ["-flto", "-flto=thin", "-flto=auto", "-ffat-lto-objects"] {
            assert!(matches!(judge(option).unwrap(), Verdict::DropWithNote(_)), "{option}");
        }
        assert_eq!(judge("-pie").unwrap(), Verdict::Ignore);
    }
}
