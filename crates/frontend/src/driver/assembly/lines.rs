//! What one line of compiler-written x86-64 assembly (AT&T syntax) is. Sits below the counting pass; knows no blocks.
//! Leaves out: the inside of a program's own `asm` statements, which are judged as a whole (`app_summary`).

/// The role of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// `name:`
    Label(&'a str),
    /// `.name rest`
    Directive(&'a str, &'a str),
    /// `mnemonic operands`; the comment is gone, a `rep` or `lock` prefix is skipped.
    Instruction(&'a str, &'a str),
    /// A hook the IR pass left: what follows `#OLIFANT `.
    Marker(&'a str),
    /// Start of an `asm` statement's text.
    AppStart,
    /// End of an `asm` statement's text.
    AppEnd,
    /// A blank line or a comment.
    Other,
}

/// The word that opens a hook's line; the IR pass writes it into an `asm` statement.
pub const MARKER: &str = "#OLIFANT ";

/// Classifies `line`.
pub fn classify(line: &str) -> Line<'_> {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix(MARKER) {
        return Line::Marker(rest.trim_end());
    }
    if text.starts_with('#') {
        return match text {
            "#APP" => Line::AppStart,
            "#NO_APP" => Line::AppEnd,
            _ => Line::Other,
        };
    }
    if let Some(name) = label(text) {
        return Line::Label(name);
    }
    if text.starts_with('.') {
        let (name, rest) = split_word(text);
        return Line::Directive(name, rest);
    }
    let code = text.split('#').next().unwrap_or("").trim_end();
    if code.is_empty() {
        return Line::Other;
    }
    let (first, rest) = split_word(code);
    match first {
        "lock" | "rep" | "repz" | "repnz" | "notrack" | "data16" | "rex64" => {
            if rest.is_empty() {
                Line::Other
            } else {
                let (mnemonic, operands) = split_word(rest);
                Line::Instruction(mnemonic, operands)
            }
        }
        _ => Line::Instruction(first, rest),
    }
}

/// The name a line defines, if it is a label. A quoted name may hold any character.
fn label(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('"') {
        let end = rest.find('"')?;
        return rest[end + 1..].starts_with(':').then(|| &rest[..end]);
    }
    let end = text.find(|c: char| !is_symbol_character(c))?;
    (end > 0 && text[end..].starts_with(':')).then(|| &text[..end])
}

/// Whether `c` may stand in an unquoted symbol.
pub fn is_symbol_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@')
}

fn split_word(text: &str) -> (&str, &str) {
    match text.find([' ', '\t']) {
        Some(at) => (&text[..at], text[at..].trim_start()),
        None => (text, ""),
    }
}

/// How an instruction passes control on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next line.
    Falls,
    /// To a callee, then to the next line.
    Calls,
    /// To a label or the next line.
    Branches,
    /// Never to the next line.
    Leaves,
}

/// The flow of the instruction `mnemonic`.
pub fn flow(mnemonic: &str) -> Flow {
    match mnemonic {
        "jmp" | "jmpq" | "ret" | "retq" | "ud2" | "hlt" | "int3" => Flow::Leaves,
        "call" | "callq" => Flow::Calls,
        "loop" | "loope" | "loopne" | "xbegin" => Flow::Branches,
        _ if mnemonic.starts_with('j') => Flow::Branches,
        _ => Flow::Falls,
    }
}

/// Whether the arithmetic flags are certainly dead just before this instruction: it overwrites all of them without
/// reading any, or the ABI lets no flag live across it. A call for the address of a thread-local variable is left alone:
/// the linker rewrites it together with the instruction before it.
pub fn flags_are_dead_before(mnemonic: &str, operands: &str) -> bool {
    if flow(mnemonic) == Flow::Calls {
        return !operands.contains("__tls_get_addr") && !operands.contains("@TLS");
    }
    if matches!(mnemonic, "ret" | "retq") {
        return true;
    }
    let integer = ["cmp", "test", "add", "sub", "and", "or", "xor", "neg", "imul"];
    let is_sized = |base: &str| {
        mnemonic.strip_prefix(base).is_some_and(|size| matches!(size, "" | "b" | "w" | "l" | "q"))
    };
    integer.iter().any(|base| is_sized(base))
        || matches!(mnemonic, "ucomisd" | "ucomiss" | "comisd" | "comiss" | "ptest")
        || matches!(mnemonic, "vucomisd" | "vucomiss" | "vcomisd" | "vcomiss" | "vptest")
}

/// Whether a move saves a vector register in the frame or takes it back. No vector register outlives a call, so where hooks
/// are called nearly all such moves are there for them, and the plain program has none.
pub fn saves_around_call(mnemonic: &str, operands: &str) -> bool {
    let mnemonic = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    let is_frame = |operand: &str| operand.ends_with("(%rsp)") || operand.ends_with("(%rbp)");
    let is_vector = |operand: &str| ["%xmm", "%ymm", "%zmm"].iter().any(|name| operand.starts_with(name));
    matches!(mnemonic, "movsd" | "movss" | "movaps" | "movapd" | "movups" | "movupd" | "movdqa" | "movdqu")
        && operands
            .split_once(", ")
            .is_some_and(|(a, b)| is_frame(a) && is_vector(b) || is_vector(a) && is_frame(b))
}

/// What a program's own `asm` statement does, judged by its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppSummary {
    /// Statements that look like instructions.
    pub instructions: u32,
    /// Control may enter or leave inside it.
    pub moves_control: bool,
}

impl AppSummary {
    /// Adds one line of the statement.
    pub fn add(&mut self, line: &str) {
        for statement in line.split(';') {
            let text = statement.trim();
            if text.is_empty() || text.starts_with(['#', '/']) {
                continue;
            }
            match classify(text) {
                Line::Label(_) => {
                    self.moves_control = true;
                    self.instructions += 1;
                }
                Line::Instruction(mnemonic, _) => {
                    self.instructions += 1;
                    self.moves_control |= flow(mnemonic) != Flow::Falls;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_compilers_mean_by_them() {
        assert_eq!(classify(".LBB0_3:                 # =>This Inner Loop"), Line::Label(".LBB0_3"));
        assert_eq!(classify("main:"), Line::Label("main"));
        assert_eq!(classify("\t.loc\t0 5 67 # e.cpp:5:67"), Line::Directive(".loc", "0 5 67 # e.cpp:5:67"));
        assert_eq!(
            classify("\tmovl\t(%rbx), %esi  # 4-byte Reload"),
            Line::Instruction("movl", "(%rbx), %esi")
        );
        assert_eq!(classify("\tlock\t\tincl\t(%rdi)"), Line::Instruction("incl", "(%rdi)"));
        assert_eq!(classify("\trep;movsq"), Line::Instruction("rep;movsq", ""));
        assert_eq!(classify("\tlock"), Line::Other);
        assert_eq!(
            classify("\t#OLIFANT read 8 (%rax) %rcx %rdx %xmm0"),
            Line::Marker("read 8 (%rax) %rcx %rdx %xmm0")
        );
        assert_eq!(classify("# %bb.0:"), Line::Other);
        assert_eq!(classify("\t#APP"), Line::AppStart);
    }

    #[test]
    fn flags_survive_moves_and_die_at_compares_and_calls() {
        for dead in ["cmpl", "testq", "addq", "subl", "ucomisd", "callq", "ret", "xorl", "sub", "orb", "andb"]
        {
            assert!(flags_are_dead_before(dead, ""), "{dead}");
        }
        for live in [
            "movl", "adcl", "sbbq", "setne", "cmovel", "jne", "incl", "lea", "shlq", "jmp", "subsd", "addsd",
            "andps",
        ] {
            assert!(!flags_are_dead_before(live, ""), "{live}");
        }
    }

    #[test]
    fn nothing_is_put_between_the_halves_of_a_thread_local_address() {
        assert!(!flags_are_dead_before("callq", "__tls_get_addr@PLT"));
        assert!(!flags_are_dead_before("call", "*x@TLSCALL(%rax)"));
    }

    #[test]
    fn only_frame_moves_of_vector_registers_save_around_a_call() {
        assert!(saves_around_call("movsd", "%xmm0, 8(%rsp)"));
        assert!(saves_around_call("vmovapd", "-48(%rbp), %ymm3"));
        assert!(!saves_around_call("movsd", "8(%rdi), %xmm0"));
        assert!(!saves_around_call("addsd", "8(%rsp), %xmm0"));
        assert!(!saves_around_call("movq", "%rax, 8(%rsp)"));
    }

    #[test]
    fn an_asm_statement_with_a_label_moves_control() {
        let mut summary = AppSummary::default();
        summary.add("\tmovl %eax, %ebx; addl $1, %eax");
        assert_eq!(summary, AppSummary { instructions: 2, moves_control: false });
        summary.add("1:\tjmp 1b");
        assert!(summary.moves_control);
    }
}
