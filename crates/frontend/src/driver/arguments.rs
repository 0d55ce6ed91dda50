//! A compiler's command line, understood: inputs with their languages, the output, the last step, and the options in order.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::error::DriverError;
use super::options;
use super::refusals::{self, Verdict};

/// A language of the command: which compiler is asked, which C++ or Fortran libraries are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// `olifant cc`
    C,
    /// `olifant c++`
    Cxx,
    /// `olifant fc`
    Fortran,
}

/// What an input is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// Source to be instrumented.
    Source(Language),
    /// Assembly: assembled as it is.
    Assembly,
    /// A header to be precompiled: the compiler does it alone.
    Header,
    /// For the linker.
    Object,
}

/// The last step asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// `-E`, `-M`, `-fsyntax-only`: the compiler's business alone.
    Early,
    /// `-S`
    Assembly,
    /// `-c`
    Object,
    /// An executable or a library.
    Link,
}

/// One argument, or an option with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An option without a value of its own.
    Plain(OsString),
    /// An option and the next argument.
    Pair(String, OsString),
    /// An input: its place in `CommandLine::inputs`.
    Input(usize),
}

/// An input file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// As written; `-` is standard input.
    pub path: PathBuf,
    /// What it is.
    pub kind: InputKind,
    /// The `-x` in force, to be said again to the compiler.
    pub forced_language: Option<String>,
}

/// The whole line.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// The command's language.
    pub language: Language,
    /// Everything but `-o`, `-x`, `-c`, `-S` and what was dropped, in order.
    pub items: Vec<Item>,
    /// Inputs in order.
    pub inputs: Vec<Input>,
    /// `-o`
    pub output: Option<PathBuf>,
    /// The last step.
    pub last: Last,
    /// Options were only questions.
    pub has_query: bool,
    /// `-fopenmp`
    pub has_openmp: bool,
    /// What was dropped and why, for notes.
    pub notes: Vec<String>,
}

impl CommandLine {
    /// Understands `arguments` (response files expanded).
    /// # Errors what `refusals::judge` refuses; a missing value.
    pub fn parse(language: Language, arguments: &[OsString]) -> Result<CommandLine, DriverError> {
        let mut line = CommandLine {
            language,
            items: vec![],
            inputs: vec![],
            output: None,
            last: Last::Link,
            has_query: false,
            has_openmp: false,
            notes: vec![],
        };
        let mut forced: Option<String> = None;
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            if !text.starts_with('-') || text == "-" {
                line.add_input(argument, forced.as_deref())?;
            } else if options::takes_next_argument(&text) {
                let value = arguments.next().ok_or(DriverError::MissingValue { option: text.to_string() })?;
                line.add_pair(&text, value, &mut forced)?;
            } else if let Some(value) =
                options::joined_value("-o", &text).filter(|_| !text.starts_with("-object"))
            {
                line.output = Some(value.into());
            } else if let Some(value) = options::joined_value("-x", &text) {
                forced = (value != "none").then(|| value.to_owned());
            } else {
                line.add_option(argument, &text)?;
            }
        }
        Ok(line)
    }

    fn add_pair(
        &mut self,
        option: &str,
        value: &OsStr,
        forced: &mut Option<String>,
    ) -> Result<(), DriverError> {
        match option {
            "-o" => self.output = Some(value.into()),
            "-x" => {
                *forced = Some(value.to_string_lossy().into_owned()).filter(|language| language != "none")
            }
            "-target" if !refusals::is_supported_target(&value.to_string_lossy()) => {
                return Err(DriverError::Refused {
                    option: format!("-target {}", value.display()),
                    reason: "only x86_64 Linux is instrumented",
                });
            }
            "-Xclang" if value == "-emit-llvm" => {
                refusals::judge("-emit-llvm")?;
            }
            _ => self.items.push(Item::Pair(option.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    fn add_option(&mut self, argument: &OsStr, text: &str) -> Result<(), DriverError> {
        match text {
            "-c" | "--compile" => self.reach(Last::Object),
            "-S" | "--assemble" => self.reach(Last::Assembly),
            _ => {
                match refusals::judge(text)? {
                    Verdict::Keep => {}
                    Verdict::Ignore => return Ok(()),
                    Verdict::DropWithNote(why) => {
                        self.notes.push(format!("{text} dropped: {why}"));
                        return Ok(());
                    }
                }
                if options::stops_early(text) {
                    self.reach(Last::Early);
                }
                self.has_query |= options::is_query(text);
                self.has_openmp |= text == "-fopenmp" || text.starts_with("-fopenmp=");
                self.items.push(Item::Plain(argument.to_owned()));
            }
        }
        Ok(())
    }

    /// The earliest last step wins, as in every compiler.
    fn reach(&mut self, last: Last) {
        let rank = |last| match last {
            Last::Early => 0,
            Last::Assembly => 1,
            Last::Object => 2,
            Last::Link => 3,
        };
        if rank(last) < rank(self.last) {
            self.last = last;
        }
    }

    fn add_input(&mut self, argument: &OsStr, forced: Option<&str>) -> Result<(), DriverError> {
        let path = PathBuf::from(argument);
        let kind = match forced {
            Some(language) => kind_of_language(language)?,
            None => kind_of_file(&path, self.language),
        };
        self.items.push(Item::Input(self.inputs.len()));
        self.inputs.push(Input { path, kind, forced_language: forced.map(str::to_owned) });
        Ok(())
    }

    /// Whether anything would be linked: inputs or libraries.
    pub fn has_link_input(&self) -> bool {
        !self.inputs.is_empty()
            || self.items.iter().any(|item| match item {
                Item::Plain(text) => text.to_string_lossy().starts_with("-l"),
                Item::Pair(option, _) => option == "-l",
                Item::Input(_) => true,
            })
    }

    /// Whether an option without a value is `text`.
    pub fn has(&self, text: &str) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Plain(plain) if plain == text))
    }

    /// Options without a value, as text.
    pub fn plain_options(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| match item {
            Item::Plain(text) => text.to_str(),
            _ => None,
        })
    }
}

fn kind_of_language(language: &str) -> Result<InputKind, DriverError> {
    Ok(match language {
        "c" | "cpp-output" => InputKind::Source(Language::C),
        "c++" | "c++-cpp-output" => InputKind::Source(Language::Cxx),
        "f77" | "f77-cpp-input" | "f95" | "f95-cpp-input" => InputKind::Source(Language::Fortran),
        "assembler" | "assembler-with-cpp" => InputKind::Assembly,
        "c-header" | "c++-header" => InputKind::Header,
        _ => return Err(DriverError::Language { language: language.to_owned() }),
    })
}

/// Endings are those of GCC's manual, "Overall Options".
fn kind_of_file(path: &Path, command: Language) -> InputKind {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or("");
    let c = if command == Language::Cxx { Language::Cxx } else { Language::C };
    match ending {
        "c" | "i" => InputKind::Source(c),
        "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "ii" => InputKind::Source(Language::Cxx),
        "f" | "for" | "ftn" | "F" | "FOR" | "fpp" | "FPP" | "FTN" | "f90" | "f95" | "f03" | "f08" | "F90"
        | "F95" | "F03" | "F08" => InputKind::Source(Language::Fortran),
        "s" | "S" | "sx" => InputKind::Assembly,
        "h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc" => InputKind::Header,
        _ if path == Path::new("-") => InputKind::Source(command),
        _ => InputKind::Object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CommandLine {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        CommandLine::parse(Language::C, &arguments).unwrap()
    }

    #[test]
    fn inputs_know_their_language() {
        let line = parse("-c a.c b.cpp -x c++ c.c -x none d.s lib.a e.f90 -o out");
        let kinds: Vec<_> = line.inputs.iter().map(|input| input.kind.clone()).collect();
        let source = InputKind::Source;
        assert_eq!(
            kinds,
            [
                source(Language::C),
                source(Language::Cxx),
                source(Language::Cxx),
                InputKind::Assembly,
                InputKind::Object,
                source(Language::Fortran)
            ]
        );
        assert_eq!(line.inputs[2].forced_language.as_deref(), Some("c++"));
        assert_eq!(line.output, Some("out".into()));
        assert_eq!(line.last, Last::Object);
    }

    #[test]
    fn the_earliest_last_step_wins() {
        assert_eq!(parse("-c -S a.c").last, Last::Assembly);
        assert_eq!(parse("-S -E a.c").last, Last::Early);
        assert_eq!(parse("a.c").last, Last::Link);
        assert_eq!(parse("-MD -MF a.d -c a.c").last, Last::Object);
    }

    #[test]
    fn values_are_no_inputs() {
        let line = parse("-include a.h -I b -D c -MF d -Xlinker e -oprog -lm f.o");
        assert_eq!(line.inputs.len(), 1);
        assert_eq!(line.output, Some("prog".into()));
        assert!(CommandLine::parse(Language::C, &["-o".into()]).is_err());
    }

    #[test]
    fn standard_input_is_source_and_openmp_is_seen() {
        let line = parse("-fopenmp -x c -");
        assert_eq!(line.inputs[0].kind, InputKind::Source(Language::C));
        assert!(line.has_openmp);
        assert!(!parse("-fno-openmp a.c").has_openmp);
        assert!(!parse("-fopenmp-simd a.c").has_openmp);
    }
}
