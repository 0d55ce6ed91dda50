//! Options in the manner of getopt_long(3), as numactl and its like read them: short ones in clusters, long ones with
//! `=` or a word behind, shortened as far as they stay unique; the first word that is no option begins the command.

use crate::ExecError;
use std::ffi::{OsStr, OsString};

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionForm {
    /// Its long name, without dashes.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// Whether a value belongs to it.
    pub takes_value: bool,
    /// Whether a part of its name is enough, where no other option begins so.
    pub may_be_shortened: bool,
}

/// An option as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its long name.
    pub name: &'static str,
    /// Its value, empty where it takes none.
    pub value: String,
}

/// The options in front of a command, one after the other.
pub struct CommandLine<'a> {
    forms: &'a [OptionForm],
    words: &'a [OsString],
    /// Letters of a cluster that are not yet read.
    cluster: Vec<char>,
}

impl<'a> CommandLine<'a> {
    /// Options of these forms from the front of `words`.
    pub fn new(forms: &'a [OptionForm], words: &'a [OsString]) -> Self {
        CommandLine { forms, words, cluster: Vec::new() }
    }

    /// The next option; `None` where the command begins.
    /// # Errors  `Usage` for an option that is unknown, ambiguous, or lacks its value or has one too many.
    pub fn next(&mut self) -> Result<Option<Given>, ExecError> {
        if !self.cluster.is_empty() {
            let letter = self.cluster.remove(0);
            return self.short(letter).map(Some);
        }
        let Some(word) = self.words.first() else { return Ok(None) };
        let Some(text) = word.to_str() else { return Ok(None) };
        if text == "--" {
            self.words = &self.words[1..];
            return Ok(None);
        }
        if let Some(long) = text.strip_prefix("--") {
            self.words = &self.words[1..];
            return self.long(long).map(Some);
        }
        match text.strip_prefix('-') {
            Some(letters) if !letters.is_empty() => {
                self.words = &self.words[1..];
                self.cluster = letters.chars().collect();
                self.next()
            }
            _ => Ok(None),
        }
    }

    /// The command and its arguments, once all options are read.
    pub fn command(&self) -> &'a [OsString] {
        self.words
    }

    fn short(&mut self, letter: char) -> Result<Given, ExecError> {
        let form = self.forms.iter().find(|form| form.short == Some(letter));
        let form = form.ok_or_else(|| ExecError::Usage(format!("option -{letter} is unknown")))?;
        let value = if !form.takes_value {
            String::new()
        } else if self.cluster.is_empty() {
            self.value_word(&format!("-{letter}"))?
        } else {
            std::mem::take(&mut self.cluster).into_iter().collect()
        };
        Ok(Given { name: form.long, value })
    }

    fn long(&mut self, text: &str) -> Result<Given, ExecError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let form = self.named(name)?;
        let value = match (form.takes_value, value) {
            (false, None) => String::new(),
            (true, Some(value)) => value.to_owned(),
            (true, None) => self.value_word(&format!("--{}", form.long))?,
            (false, Some(_)) => {
                return Err(ExecError::Usage(format!("option --{} takes no value", form.long)));
            }
        };
        Ok(Given { name: form.long, value })
    }

    /// The form of this name, or the only one whose name begins so.
    fn named(&self, name: &str) -> Result<&'a OptionForm, ExecError> {
        if let Some(exact) = self.forms.iter().find(|form| form.long == name) {
            return Ok(exact);
        }
        let candidates: Vec<&OptionForm> =
            self.forms.iter().filter(|form| form.may_be_shortened && form.long.starts_with(name)).collect();
        match candidates.as_slice() {
            [only] => Ok(only),
            [] => {
                let hint = olifant_machine::nearest(name, self.forms.iter().map(|form| form.long));
                let hint = hint.map_or_else(String::new, |long| format!(" (did you mean --{long}?)"));
                Err(ExecError::Usage(format!("option --{name} is unknown{hint}")))
            }
            several => {
                let names: Vec<String> = several.iter().map(|form| format!("--{}", form.long)).collect();
                Err(ExecError::Usage(format!("option --{name} is ambiguous: {}", names.join(", "))))
            }
        }
    }

    fn value_word(&mut self, option: &str) -> Result<String, ExecError> {
        let (value, rest) = self
            .words
            .split_first()
            .ok_or_else(|| ExecError::Usage(format!("option {option} needs a value")))?;
        self.words = rest;
        text(value)
    }
}

/// A word that must be text.
fn text(word: &OsStr) -> Result<String, ExecError> {
    word.to_str()
        .map(str::to_owned)
        .ok_or_else(|| ExecError::Usage(format!("{}: not valid UTF-8", word.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [OptionForm; 5] = [
        OptionForm { long: "membind", short: Some('m'), takes_value: true, may_be_shortened: true },
        OptionForm { long: "preferred", short: Some('p'), takes_value: true, may_be_shortened: true },
        OptionForm { long: "preferred-many", short: Some('P'), takes_value: true, may_be_shortened: true },
        OptionForm { long: "memory", short: None, takes_value: true, may_be_shortened: false },
        OptionForm { long: "balancing", short: Some('b'), takes_value: false, may_be_shortened: true },
    ];

    /// Options and command.
    type Read = (Vec<(&'static str, String)>, Vec<String>);

    fn read(line: &str) -> Result<Read, String> {
        let words: Vec<OsString> =
            line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let mut reader = CommandLine::new(&FORMS, &words);
        let mut options = Vec::new();
        while let Some(given) = reader.next().map_err(|error| error.to_string())? {
            options.push((given.name, given.value));
        }
        Ok((options, reader.command().iter().map(|word| word.to_string_lossy().into_owned()).collect()))
    }

    #[test]
    fn every_spelling_of_an_option_is_the_same_option() {
        for line in ["-m 1 true", "-m1 true", "--membind=1 true", "--membind 1 true", "--mem=1 -- true"] {
            assert_eq!(read(line).unwrap(), (vec![("membind", "1".into())], vec!["true".into()]), "{line}");
        }
        assert_eq!(read("-bm0-1 x").unwrap().0, [("balancing", String::new()), ("membind", "0-1".into())]);
    }

    #[test]
    fn options_of_the_command_are_its_own() {
        assert_eq!(read("-m0 ls -b --membind=1").unwrap().1, ["ls", "-b", "--membind=1"]);
        assert_eq!(read("-- -b").unwrap(), (vec![], vec!["-b".into()]));
        assert_eq!(read("- x").unwrap().1, ["-", "x"]);
    }

    #[test]
    fn an_exact_name_wins_over_a_longer_one_and_an_ambiguous_one_is_refused() {
        assert_eq!(read("--preferred=1").unwrap().0[0].0, "preferred");
        assert_eq!(read("--preferred-=1").unwrap().0[0].0, "preferred-many");
        assert_eq!(read("--mem=1").unwrap().0[0].0, "membind", "options added later take no short form away");
        assert_eq!(
            read("--pref=1").unwrap_err(),
            "option --pref is ambiguous: --preferred, --preferred-many"
        );
    }

    #[test]
    fn a_wrong_option_is_named() {
        assert_eq!(read("--membnid=1").unwrap_err(), "option --membnid is unknown (did you mean --membind?)");
        assert_eq!(read("-x").unwrap_err(), "option -x is unknown");
        assert_eq!(read("-m").unwrap_err(), "option -m needs a value");
        assert_eq!(read("--balancing=1").unwrap_err(), "option --balancing takes no value");
    }
}
