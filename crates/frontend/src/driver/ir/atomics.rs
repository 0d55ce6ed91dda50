//! Atomic instructions become calls of the runtime's `__tsan_atomicN_*`, so that it sees the value (spin-waits) and counts
//! the access; the C ABI is that of the thread sanitizer's interface. What that interface has no name for (minimum, maximum,
//! floating-point addition) keeps its instruction and gets a hook in front. Fences stay: one OS thread runs them all.

use std::fmt::Write;

use super::super::assembly::Access;
use super::hooks::{Accessed, HookWriter};
use super::instruction::{Instruction, debug_suffix};
use super::types::{Operand, scalar_bytes};

/// The C11 number of an LLVM ordering.
fn memory_order(ordering: &str) -> Option<u32> {
    Some(match ordering {
        "unordered" | "monotonic" => 0,
        "acquire" => 2,
        "release" => 3,
        "acq_rel" => 4,
        "seq_cst" => 5,
        _ => return None,
    })
}

/// Rewrites the atomic instruction on `line`; `false` if it must stay as it is (then nothing was written).
pub fn rewrite(
    line: &str,
    instruction: &Instruction<'_>,
    has_vectors: bool,
    hooks: &mut HookWriter,
    out: &mut String,
) -> bool {
    let mut text = String::new();
    let is_done = match instruction.opcode {
        "load" => load(line, instruction, hooks, &mut text),
        "store" => store(line, instruction, hooks, &mut text),
        "cmpxchg" => compare_exchange(line, instruction, hooks, &mut text),
        "atomicrmw" => modify(line, instruction, has_vectors, hooks, &mut text),
        _ => None,
    }
    .is_some();
    if is_done {
        out.push_str(&text);
    }
    is_done
}

/// Whether the instruction is an atomic one that other threads can see.
pub fn is_atomic(instruction: &Instruction<'_>) -> bool {
    let is_atomic = match instruction.opcode {
        "load" | "store" => instruction.rest.starts_with("atomic "),
        "cmpxchg" | "atomicrmw" => true,
        _ => false,
    };
    is_atomic && !instruction.rest.contains("syncscope(\"singlethread\")")
}

fn without_flags<'a>(mut text: &'a str, flags: &[&str]) -> &'a str {
    while let Some(rest) = flags.iter().find_map(|flag| text.strip_prefix(flag)) {
        text = rest;
    }
    text
}

/// Bits of a type that the interface has functions for.
fn width(kind: &str) -> Option<u32> {
    let bits = scalar_bytes(kind)? * 8;
    (matches!(bits, 8 | 16 | 32 | 64 | 128) && !kind.starts_with(['<', 'x'])).then_some(bits)
}

/// The instruction that turns a value into an integer of its size, if it is none.
fn to_integer(kind: &str) -> Option<&'static str> {
    if kind.ends_with('*') || kind == "ptr" {
        Some("ptrtoint")
    } else if kind.starts_with('i') {
        None
    } else {
        Some("bitcast")
    }
}

fn from_integer(kind: &str) -> Option<&'static str> {
    to_integer(kind).map(|cast| if cast == "ptrtoint" { "inttoptr" } else { cast })
}

/// `value` as an integer; a cast is written if it needs one.
fn integer(
    kind: &str,
    value: &str,
    bits: u32,
    hooks: &mut HookWriter,
    debug: &str,
    out: &mut String,
) -> String {
    let Some(cast) = to_integer(kind) else { return value.to_owned() };
    let name = hooks.fresh_name();
    let _ = writeln!(out, "  {name} = {cast} {kind} {value} to i{bits}{debug}");
    name
}

/// Writes `result = call ...` and, for a pointer or floating-point type, the cast back.
fn call_for(
    result: &str,
    kind: &str,
    bits: u32,
    call: &str,
    hooks: &mut HookWriter,
    debug: &str,
    out: &mut String,
) {
    let _ = match from_integer(kind) {
        None => writeln!(out, "  {result} = {call}{debug}"),
        Some(cast) => {
            let name = hooks.fresh_name();
            writeln!(out, "  {name} = {call}{debug}\n  {result} = {cast} i{bits} {name} to {kind}{debug}")
        }
    };
}

fn load(line: &str, instruction: &Instruction<'_>, hooks: &mut HookWriter, out: &mut String) -> Option<()> {
    let debug = debug_suffix(line);
    let text = without_flags(instruction.rest, &["atomic ", "volatile "]);
    let (kind, pointer) = text.split_at(super::types::type_length(text)?);
    let pointer = Operand::parse(pointer.strip_prefix(", ")?)?;
    let order = memory_order(first_word(pointer.rest))?;
    let bits = width(kind)?;
    let (address, pointer_kind) = hooks.as_bytes(&pointer, debug, out);
    hooks.declare(format!("declare i{bits} @__tsan_atomic{bits}_load({pointer_kind}, i32)"));
    let call = format!("call i{bits} @__tsan_atomic{bits}_load({pointer_kind} {address}, i32 {order})");
    call_for(instruction.result?, kind, bits, &call, hooks, debug, out);
    Some(())
}

fn store(line: &str, instruction: &Instruction<'_>, hooks: &mut HookWriter, out: &mut String) -> Option<()> {
    let debug = debug_suffix(line);
    let value = Operand::parse(without_flags(instruction.rest, &["atomic ", "volatile "]))?;
    let pointer = Operand::parse(value.rest.strip_prefix(", ")?)?;
    let order = memory_order(first_word(pointer.rest))?;
    let bits = width(value.kind)?;
    let stored = integer(value.kind, value.value, bits, hooks, debug, out);
    let (address, kind) = hooks.as_bytes(&pointer, debug, out);
    hooks.declare(format!("declare void @__tsan_atomic{bits}_store({kind}, i{bits}, i32)"));
    let _ = writeln!(
        out,
        "  call void @__tsan_atomic{bits}_store({kind} {address}, i{bits} {stored}, i32 {order}){debug}"
    );
    Some(())
}

fn modify(
    line: &str,
    instruction: &Instruction<'_>,
    has_vectors: bool,
    hooks: &mut HookWriter,
    out: &mut String,
) -> Option<()> {
    let debug = debug_suffix(line);
    let text = without_flags(instruction.rest, &["volatile "]);
    let (operation, text) = text.split_once(' ')?;
    let pointer = Operand::parse(text)?;
    let value = Operand::parse(pointer.rest.strip_prefix(", ")?)?;
    let bits = width(value.kind)?;
    let function = match operation {
        "xchg" => "exchange",
        "add" => "fetch_add",
        "sub" => "fetch_sub",
        "and" => "fetch_and",
        "or" => "fetch_or",
        "xor" => "fetch_xor",
        "nand" => "fetch_nand",
        _ => {
            let alignment = bits / 8;
            let accessed = Accessed {
                access: Access::ReadWrite,
                pointer,
                kind: value.kind,
                bytes: Some(bits / 8),
                alignment,
                debug,
            };
            hooks.access(&accessed, has_vectors, out);
            let _ = writeln!(out, "{line}");
            return Some(());
        }
    };
    let order = memory_order(first_word(value.rest))?;
    let operand = integer(value.kind, value.value, bits, hooks, debug, out);
    let (address, kind) = hooks.as_bytes(&pointer, debug, out);
    hooks.declare(format!("declare i{bits} @__tsan_atomic{bits}_{function}({kind}, i{bits}, i32)"));
    let call = format!(
        "call i{bits} @__tsan_atomic{bits}_{function}({kind} {address}, i{bits} {operand}, i32 {order})"
    );
    call_for(instruction.result?, value.kind, bits, &call, hooks, debug, out);
    Some(())
}

fn compare_exchange(
    line: &str,
    instruction: &Instruction<'_>,
    hooks: &mut HookWriter,
    out: &mut String,
) -> Option<()> {
    let debug = debug_suffix(line);
    let pointer = Operand::parse(without_flags(instruction.rest, &["weak ", "volatile "]))?;
    let expected = Operand::parse(pointer.rest.strip_prefix(", ")?)?;
    let desired = Operand::parse(expected.rest.strip_prefix(", ")?)?;
    let mut orders =
        desired.rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter_map(memory_order);
    let (success, failure) = (orders.next()?, orders.next()?);
    let kind = expected.kind;
    let bits = width(kind)?;
    let expected_bits = integer(kind, expected.value, bits, hooks, debug, out);
    let desired_bits = integer(kind, desired.value, bits, hooks, debug, out);
    let (address, pointer_kind) = hooks.as_bytes(&pointer, debug, out);
    let function = format!("__tsan_atomic{bits}_compare_exchange_val");
    hooks.declare(format!("declare i{bits} @{function}({pointer_kind}, i{bits}, i{bits}, i32, i32)"));
    let (old, old_bits, is_equal, half) =
        (hooks.fresh_name(), hooks.fresh_name(), hooks.fresh_name(), hooks.fresh_name());
    let _ = write!(
        out,
        "  {old_bits} = call i{bits} @{function}({pointer_kind} {address}, i{bits} {expected_bits}, \
         i{bits} {desired_bits}, i32 {success}, i32 {failure}){debug}\n  \
         {is_equal} = icmp eq i{bits} {old_bits}, {expected_bits}{debug}\n"
    );
    let old = match from_integer(kind) {
        None => old_bits,
        Some(cast) => {
            let _ = writeln!(out, "  {old} = {cast} i{bits} {old_bits} to {kind}{debug}");
            old
        }
    };
    let result = instruction.result?;
    let _ = write!(
        out,
        "  {half} = insertvalue {{ {kind}, i1 }} undef, {kind} {old}, 0{debug}\n  \
         {result} = insertvalue {{ {kind}, i1 }} {half}, i1 {is_equal}, 1{debug}\n"
    );
    Some(())
}

/// The first word of ` syncscope("agent") acquire, align 4`, scopes skipped.
fn first_word(text: &str) -> &str {
    text.split([' ', ',']).find(|word| !word.is_empty() && !word.starts_with("syncscope(")).unwrap_or("")
}
