//! One line of a function's body in LLVM's textual IR, taken apart as far as the pass needs.

use super::types::is_name_character;

/// An instruction's line: `  %result = opcode rest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// The name with its `%`, if it has a result.
    pub result: Option<&'a str>,
    /// The first word, call prefixes (`tail` and so on) skipped.
    pub opcode: &'a str,
    /// What follows the opcode.
    pub rest: &'a str,
}

impl<'a> Instruction<'a> {
    /// Reads a line; `None` for labels, continuation lines, comments and debug records.
    pub fn parse(line: &'a str) -> Option<Instruction<'a>> {
        let text = line.strip_prefix("  ")?;
        if text.starts_with([' ', ';', '#', ']', '}']) {
            return None;
        }
        let (result, text) = match text.starts_with('%') {
            true => {
                let length = name_length(text)?;
                (Some(&text[..length]), text[length..].strip_prefix(" = ")?)
            }
            false => (None, text),
        };
        let mut words = text;
        loop {
            let end = words.find(' ').unwrap_or(words.len());
            let (opcode, rest) = (&words[..end], words[end..].trim_start());
            if !matches!(opcode, "tail" | "musttail" | "notail") {
                return Some(Instruction { result, opcode, rest });
            }
            words = rest;
        }
    }

    /// Whether control leaves the function for a while, so that what an access did before it must be counted by then.
    pub fn is_real_call(&self) -> bool {
        match self.opcode {
            "call" => !self.rest.contains(" @llvm."),
            "invoke" | "callbr" => true,
            _ => false,
        }
    }
}

/// Whether a line of a function's body starts a block.
pub fn is_label(line: &str) -> bool {
    !line.is_empty() && !line.starts_with([' ', '\t', ';', '}'])
}

/// The length of the name (`%x`, `%"x y"`) that `text` starts with.
pub fn name_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['%', '@'])?;
    if let Some(quoted) = rest.strip_prefix('"') {
        return Some(quoted.find('"')? + 3);
    }
    let length = rest.find(|c| !is_name_character(c)).unwrap_or(rest.len());
    (length > 0).then_some(length + 1)
}

/// The local names (`%x`) in `text`; type names among them.
pub fn local_names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%')
        .filter_map(|(at, _)| name_length(&text[at..]).map(|length| &text[at..at + length]))
}

/// The debug location of a line, as the end of another instruction's line: `, !dbg !7` or nothing.
pub fn debug_suffix(line: &str) -> &str {
    let Some(at) = line.find(", !dbg !") else { return "" };
    let digits = &line[at + 8..];
    let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    &line[at..at + 8 + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_apart() {
        let load =
            Instruction::parse("  %14 = load double, double* %12, align 8, !dbg !56, !tbaa !57").unwrap();
        assert_eq!(
            (load.result, load.opcode, load.rest.starts_with("double, ")),
            (Some("%14"), "load", true)
        );
        let call = Instruction::parse("  %\"a b\" = tail call i32 @f(i32 1)").unwrap();
        assert_eq!((call.result, call.opcode), (Some("%\"a b\""), "call"));
        assert!(call.is_real_call());
        assert!(!Instruction::parse("  call void @llvm.dbg.value(metadata i32 %2)").unwrap().is_real_call());
        for other in [
            "5:            ; preds = %3",
            "          to label %7 unwind label %9",
            "  ]",
            "    #dbg_value(i32 0)",
            "",
        ] {
            assert_eq!(Instruction::parse(other), None, "{other}");
        }
        assert!(is_label("for.body:"));
        assert!(!is_label("}"));
    }

    #[test]
    fn a_debug_location_is_found_between_other_metadata() {
        assert_eq!(debug_suffix("  store i32 1, i32* %p, align 4, !dbg !56, !tbaa !57"), ", !dbg !56");
        assert_eq!(debug_suffix("  store i32 1, i32* %p, align 4, !tbaa !57"), "");
    }
}
