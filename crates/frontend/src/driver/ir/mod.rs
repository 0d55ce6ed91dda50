//! The instrumenting pass over LLVM's textual IR: a hook before every load and store.
//!
//! The pass runs after the compiler's own optimiser, so what is counted is what the optimised program does, vectors
//! and all, and the program is compiled without any sanitizer option (whose macros and whose restraint in optimising
//! would make it another program). A hook is an `asm` statement that names the access and asks for scratch registers;
//! the assembly pass (`super::assembly`) turns it into code once instructions can be counted.
//! Lines that hold no access keep their text but for names given to numbered values (`names`), so that address
//! computations can move (`run`).
//!
//! Counted: loads, stores, atomics, `llvm.memcpy` and its kind, aggregates. Left out: private stack slots at a fixed place
//! (`stack`), masked and gathering vector intrinsics, memory operands of `asm` statements, spilled registers, call
//! frames, resolvers of indirect functions (they run before the runtime).
//!
//! Sources: the LLVM language reference, versions 14 to 19.

mod atomics;
mod function;
mod hooks;
mod instruction;
mod names;
mod run;
mod stack;
mod types;

use std::borrow::Cow;
use std::collections::HashSet;

use super::assembly::{LIBRARY_FUNCTIONS, replacement};
use hooks::HookWriter;
use instruction::name_length;

/// Instruments a module.
pub fn instrument(module: &str) -> String {
    let lines: Vec<&str> = module.lines().collect();
    let facts = Facts::find(&lines);
    let mut hooks = HookWriter::default();
    let mut out = String::with_capacity(module.len() * 2);
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        if !(line.starts_with("define ") && line.ends_with('{')) {
            push_line(&facts.outside_functions(line), &mut out);
            continue;
        }
        let end = at + lines[at..].iter().position(|line| *line == "}").unwrap_or(lines.len() - at);
        let (define, body) = facts.named(line, &lines[at..end]);
        push_line(&define, &mut out);
        if facts.is_instrumented(line) {
            let body: Vec<&str> = body.iter().map(AsRef::as_ref).collect();
            let how =
                function::How { has_vectors: facts.has_vectors(line), may_move: !facts.has_numbered_types };
            function::instrument(&body, how, &mut hooks, &mut out);
        } else {
            body.iter().for_each(|line| push_line(line, &mut out));
        }
        at = end;
    }
    for declaration in hooks.declarations() {
        if !facts.declares(declaration) {
            out.push_str(declaration);
            out.push('\n');
        }
    }
    rename_library_functions(&out, &facts.library_functions)
}

fn push_line(line: &str, out: &mut String) {
    out.push_str(line);
    out.push('\n');
}

/// What the pass must know of a module before its functions.
#[derive(Debug, Default)]
struct Facts<'a> {
    /// Attribute groups (`#7`) of functions without vector registers.
    without_vectors: HashSet<&'a str>,
    /// Attribute groups of functions whose body is all `asm`.
    naked: HashSet<&'a str>,
    /// Functions that choose an implementation while the program is being linked.
    resolvers: HashSet<&'a str>,
    /// Names declared but not defined.
    declared: HashSet<&'a str>,
    /// Those of them that the runtime replaces.
    library_functions: Vec<&'a str>,
    /// Numbered values cannot be told from numbered types, so none is named and no line moved.
    has_numbered_types: bool,
}

impl<'a> Facts<'a> {
    fn find(lines: &[&'a str]) -> Facts<'a> {
        let mut facts = Facts { has_numbered_types: names::has_numbered_types(lines), ..Facts::default() };
        for line in lines {
            if let Some(rest) = line.strip_prefix("attributes ") {
                let group = rest.split(' ').next().unwrap_or("");
                if rest.contains("-sse,") || rest.contains("-sse\"") || rest.contains(" noimplicitfloat ") {
                    facts.without_vectors.insert(group);
                }
                if rest.contains(" naked ") {
                    facts.naked.insert(group);
                }
            } else if line.starts_with("declare ") {
                facts.declared.extend(global_names(line).next());
            } else if line.starts_with('@') && line.contains(" ifunc ") {
                facts.resolvers.extend(global_names(line).last());
            }
        }
        facts.library_functions =
            LIBRARY_FUNCTIONS.iter().copied().filter(|name| facts.declared.contains(name)).collect();
        facts
    }

    /// A function with all its values named.
    fn named<'l>(&self, define: &'l str, body: &[&'l str]) -> (Cow<'l, str>, Vec<Cow<'l, str>>) {
        if self.has_numbered_types {
            return (define.into(), body.iter().map(|line| Cow::from(*line)).collect());
        }
        let (define, first_block) = names::name_parameters(define);
        let mut named: Vec<Cow<'l, str>> = Vec::with_capacity(body.len() + 1);
        if !body.first().is_some_and(|line| instruction::is_label(line)) {
            named.push(names::first_label(first_block).into());
        }
        named.extend(body.iter().map(|line| Cow::from(names::name_line(line))));
        (define.into(), named)
    }

    fn outside_functions<'l>(&self, line: &'l str) -> Cow<'l, str> {
        match line.contains("blockaddress(") && !self.has_numbered_types {
            true => names::name_block_addresses(line).into(),
            false => line.into(),
        }
    }

    fn is_instrumented(&self, define: &str) -> bool {
        let name = global_names(define).next().unwrap_or("");
        !self.resolvers.contains(name) && !groups(define).any(|group| self.naked.contains(group))
    }

    fn has_vectors(&self, define: &str) -> bool {
        !groups(define).any(|group| self.without_vectors.contains(group))
    }

    fn declares(&self, declaration: &str) -> bool {
        global_names(declaration).next().is_some_and(|name| self.declared.contains(name))
    }
}

fn groups(define: &str) -> impl Iterator<Item = &str> {
    define.split(' ').filter(|word| word.starts_with('#'))
}

/// The global names in `line`, without their `@`.
fn global_names(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('@')
        .filter_map(|(at, _)| name_length(&line[at..]).map(|length| &line[at + 1..at + length]))
}

/// Every mention of a replaced library function goes to the runtime's version of it, also as an address; text in quotes
/// stays.
fn rename_library_functions(module: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return module.to_owned();
    }
    let mut out = String::with_capacity(module.len() + 1024);
    for line in module.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(['@', '"']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = match rest.starts_with('@') {
                true => name_length(rest).unwrap_or(1),
                false => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            };
            let (word, after) = rest.split_at(length);
            match names.contains(&&word[1..]).then(|| replacement(&word[1..])).flatten() {
                Some(name) => out.extend(["@", name.as_str()]),
                None => out.push_str(word),
            }
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
