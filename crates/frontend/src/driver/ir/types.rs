//! Types and operands in LLVM's textual IR, as far as loads and stores need them. Copes with typed pointers (`i32*`,
//! LLVM 14) and opaque ones (`ptr`). Source: the LLVM language reference, "Type System".

/// The length of the type that `text` starts with; `None` if it starts with none.
pub fn type_length(text: &str) -> Option<usize> {
    let mut at = base_length(text)?;
    loop {
        let rest = &text[at..];
        if rest.starts_with('*') {
            at += 1;
        } else if rest.starts_with(" addrspace(") {
            at += rest.find(')')? + 1;
        } else if rest.starts_with(" (") {
            // A function type's arguments; only a pointer to it can be loaded.
            at += 1 + bracketed_length(&rest[1..])?;
        } else {
            return Some(at);
        }
    }
}

fn base_length(text: &str) -> Option<usize> {
    match text.chars().next()? {
        '%' if text[1..].starts_with('"') => Some(text[2..].find('"')? + 3),
        '%' => Some(1 + text[1..].find(|c| !is_name_character(c)).unwrap_or(text.len() - 1)),
        '[' | '<' | '{' => bracketed_length(text),
        c if c.is_ascii_lowercase() => {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
            // `target("name", ...)` is a type with arguments.
            if &text[..end] == "target" { Some(end + bracketed_length(&text[end..])?) } else { Some(end) }
        }
        _ => None,
    }
}

/// The length of the bracketed text that `text` starts with, quotes respected.
pub fn bracketed_length(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    let mut in_quotes = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => in_quotes = !in_quotes,
            _ if in_quotes => {}
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        if depth == 0 {
            return None;
        }
    }
    None
}

/// Whether `c` may stand in an unquoted name.
pub fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '$' | '.' | '_')
}

/// A type with a value, and where the text goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand<'a> {
    /// The type.
    pub kind: &'a str,
    /// The value.
    pub value: &'a str,
    /// What follows, from the comma or blank on.
    pub rest: &'a str,
}

impl<'a> Operand<'a> {
    /// Reads `TYPE [attributes] VALUE`.
    pub fn parse(text: &'a str) -> Option<Operand<'a>> {
        let length = type_length(text)?;
        let kind = &text[..length];
        let mut rest = text[length..].trim_start();
        loop {
            let length = value_length(rest)?;
            let word = &rest[..length];
            if !is_attribute(word) {
                return Some(Operand { kind, value: word, rest: &rest[length..] });
            }
            rest = rest[length..].trim_start();
            if word == "align" {
                let digits = rest.find(|c: char| !c.is_ascii_digit())?;
                rest = rest[digits..].trim_start();
            }
        }
    }

    /// Whether the pointer type is opaque.
    pub fn is_opaque_pointer(&self) -> bool {
        self.kind == "ptr" || self.kind.starts_with("ptr ")
    }
}

/// The length of one value or parameter attribute: a name, a number, a constant expression, an aggregate.
fn value_length(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut saw_word = false;
    loop {
        let rest = &text[at..];
        let c = rest.chars().next();
        match c {
            None | Some(',' | ')') => break,
            Some('(' | '[' | '{' | '<') => return Some(at + bracketed_length(rest)?),
            Some('"') => at += rest[1..].find('"')? + 2,
            // Words before a bracket belong to a constant expression: `getelementptr inbounds (`.
            Some(' ') if is_expression(&text[..at]) => at += 1,
            Some(' ') => break,
            Some(c) => at += c.len_utf8(),
        }
        saw_word = true;
    }
    saw_word.then_some(at)
}

fn is_expression(words: &str) -> bool {
    let first = words.split(' ').next().unwrap_or("");
    matches!(
        first,
        "getelementptr"
            | "bitcast"
            | "inttoptr"
            | "ptrtoint"
            | "addrspacecast"
            | "trunc"
            | "zext"
            | "sext"
            | "select"
    ) || matches!(
        first,
        "add" | "sub" | "mul" | "and" | "or" | "xor" | "shl" | "dso_local_equivalent" | "no_cfi"
    )
}

fn is_attribute(word: &str) -> bool {
    let name = word.split('(').next().unwrap_or(word);
    matches!(
        name,
        "noundef"
            | "nonnull"
            | "noalias"
            | "nocapture"
            | "readonly"
            | "writeonly"
            | "readnone"
            | "returned"
            | "nofree"
    ) || matches!(
        name,
        "align"
            | "dereferenceable"
            | "dereferenceable_or_null"
            | "signext"
            | "zeroext"
            | "immarg"
            | "captures"
            | "range"
            | "writable"
            | "initializes"
            | "noext"
            | "inreg"
    )
}

/// The size in bytes of a scalar or a vector of scalars; `None` for aggregates, whose size the compiler is asked for.
pub fn scalar_bytes(kind: &str) -> Option<u32> {
    if kind.ends_with('*') || kind == "ptr" || kind.starts_with("ptr ") {
        return Some(8);
    }
    match kind {
        "half" | "bfloat" => return Some(2),
        "float" => return Some(4),
        "double" | "x86_mmx" => return Some(8),
        "x86_fp80" => return Some(10),
        "fp128" => return Some(16),
        _ => {}
    }
    if let Some(bits) = kind.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok()) {
        return Some(bits.div_ceil(8));
    }
    let (count, element) = kind.strip_prefix('<')?.strip_suffix('>')?.split_once(" x ")?;
    let count: u32 = count.parse().ok()?;
    match element.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok()) {
        Some(bits) => Some((count * bits).div_ceil(8)),
        None => Some(count * scalar_bytes(element)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_end_where_the_reference_says() {
        for (text, kind) in [
            ("i32* %p", "i32*"),
            ("ptr addrspace(3) %p", "ptr addrspace(3)"),
            ("void (i32, i8*)* %f", "void (i32, i8*)*"),
            ("[4 x <2 x double>] %v", "[4 x <2 x double>]"),
            ("%struct.a-b.1** %p", "%struct.a-b.1**"),
            ("%\"class.std::vector<int, a>\"* %p", "%\"class.std::vector<int, a>\"*"),
            ("<{ i8, i32 }> %v", "<{ i8, i32 }>"),
            ("i8 (%struct.S*, ...)** %p", "i8 (%struct.S*, ...)**"),
            ("i32 addrspace(257)* %p", "i32 addrspace(257)*"),
        ] {
            assert_eq!(type_length(text).map(|end| &text[..end]), Some(kind));
        }
        assert_eq!(type_length("%p, align 4").map(|end| &"%p, align 4"[..end]), Some("%p"));
        assert_eq!(type_length("@g"), None);
    }

    #[test]
    fn operands_may_be_constant_expressions_and_carry_attributes() {
        let operand = Operand::parse("i8* noundef nonnull align 8 dereferenceable(16) %x, i64 16").unwrap();
        assert_eq!((operand.kind, operand.value, operand.rest), ("i8*", "%x", ", i64 16"));
        let text =
            "double* getelementptr inbounds ([100 x double], [100 x double]* @g, i64 0, i64 1), align 8";
        let operand = Operand::parse(text).unwrap();
        assert_eq!(
            operand.value,
            "getelementptr inbounds ([100 x double], [100 x double]* @g, i64 0, i64 1)"
        );
        assert_eq!(operand.rest, ", align 8");
        let operand = Operand::parse("i32* @\"a b,c\" seq_cst, align 4").unwrap();
        assert_eq!((operand.value, operand.rest), ("@\"a b,c\"", " seq_cst, align 4"));
        let operand = Operand::parse("ptr @v, align 4").unwrap();
        assert!(operand.is_opaque_pointer());
        assert_eq!(Operand::parse("<2 x i64> <i64 1, i64 2>, ptr %p").unwrap().value, "<i64 1, i64 2>");
        assert_eq!(Operand::parse("double -1.5e+00, ptr %p").unwrap().value, "-1.5e+00");
        assert_eq!(
            Operand::parse("i8* bitcast (void ()* @f to i8*)").unwrap().value,
            "bitcast (void ()* @f to i8*)"
        );
    }

    #[test]
    fn sizes_are_the_bytes_in_memory() {
        for (kind, bytes) in [
            ("i1", 1),
            ("i8", 1),
            ("i24", 3),
            ("i128", 16),
            ("x86_fp80", 10),
            ("ptr", 8),
            ("%struct.x**", 8),
            ("<4 x float>", 16),
            ("<4 x i32*>", 32),
            ("<8 x i1>", 1),
        ] {
            assert_eq!(scalar_bytes(kind), Some(bytes), "{kind}");
        }
        assert_eq!(scalar_bytes("{ i32, i32 }"), None);
        assert_eq!(scalar_bytes("[2 x i64]"), None);
    }
}
