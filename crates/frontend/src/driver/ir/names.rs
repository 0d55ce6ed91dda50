//! Names for numbered values. LLVM wants unnamed values numbered in textual order, so a line can only be moved if what it
//! defines has a name: `%7` becomes `%n.7`, the block `7:` becomes `n.7:`.

/// Put before the number.
const PREFIX: &str = "n.";

/// Whether the module has numbered types (`%0 = type`), which look like numbered values: then nothing may be renamed.
pub fn has_numbered_types(lines: &[&str]) -> bool {
    lines.iter().any(|line| {
        line.strip_prefix('%').is_some_and(|rest| {
            let digits = digits(rest);
            digits > 0 && rest[digits..].starts_with(" = type")
        })
    })
}

/// Names the parameters on a `define` line, and says which number its first block has if it has no label of its own.
pub fn name_parameters(define: &str) -> (String, usize) {
    let parameters = define.match_indices('%').filter(|(at, _)| digits(&define[at + 1..]) > 0).count();
    (name_values(define), parameters)
}

/// The label line of a function's first block, which has none in the text.
pub fn first_label(number: usize) -> String {
    format!("{PREFIX}{number}:")
}

/// Names everything numbered on a line of a function's body.
pub fn name_line(line: &str) -> String {
    let digits = digits(line);
    if digits > 0 && line[digits..].starts_with(':') {
        return format!("{PREFIX}{}", name_values(line));
    }
    name_values(line)
}

/// Names the blocks whose addresses a line outside of functions takes.
pub fn name_block_addresses(line: &str) -> String {
    const WORD: &str = "blockaddress(";
    let mut out = String::with_capacity(line.len() + 16);
    let mut rest = line;
    while let Some(at) = rest.find(WORD) {
        let end = rest[at..].find(')').map_or(rest.len(), |end| at + end);
        out.push_str(&rest[..at]);
        out.push_str(&name_values(&rest[at..end]));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Every `%7` outside of quotes.
fn name_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(['%', '"']) {
        let end = if rest[at..].starts_with('"') {
            rest[at + 1..].find('"').map_or(rest.len(), |end| at + end + 2)
        } else {
            at + 1
        };
        out.push_str(&rest[..end]);
        let is_value = rest[at..end].starts_with('%');
        rest = &rest[end..];
        if is_value && digits(rest) > 0 {
            out.push_str(PREFIX);
        }
    }
    out.push_str(rest);
    out
}

/// The length of the number that `text` starts with; zero if a longer name does (`%5a` is none, but be safe).
fn digits(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if text[end..].starts_with(super::types::is_name_character) { 0 } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_values_and_blocks_get_names_and_nothing_else_does() {
        assert_eq!(
            name_line("  %14 = load i32, i32* %\"1\", align 4"),
            "  %n.14 = load i32, i32* %\"1\", align 4"
        );
        assert_eq!(name_line("5:            ; preds = %3"), "n.5:            ; preds = %n.3");
        assert_eq!(name_line("  br label %5, !dbg !7"), "  br label %n.5, !dbg !7");
        assert_eq!(
            name_line("  call void asm \"mov %1, $0\", \"r\"(i32 %9)"),
            "  call void asm \"mov %1, $0\", \"r\"(i32 %n.9)"
        );
        assert_eq!(name_line("  %x = add i32 %struct.5, 10"), "  %x = add i32 %struct.5, 10");
        let define = "define void @f(i32* noundef %0, %struct.S* %1) #0 {";
        assert_eq!(
            name_parameters(define),
            ("define void @f(i32* noundef %n.0, %struct.S* %n.1) #0 {".to_owned(), 2)
        );
        assert_eq!(
            name_block_addresses(
                "@t = constant [2 x i8*] [i8* blockaddress(@q, %8), i8* blockaddress(@q, %x)]"
            ),
            "@t = constant [2 x i8*] [i8* blockaddress(@q, %n.8), i8* blockaddress(@q, %x)]"
        );
    }

    #[test]
    fn numbered_types_are_seen() {
        assert!(has_numbered_types(&["%0 = type { i32 }"]));
        assert!(!has_numbered_types(&["%struct.a = type { i32 }", "  %0 = add i32 1, 2"]));
    }
}
