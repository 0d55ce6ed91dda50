//! The lines of IR that the pass puts before an access: markers in `asm` statements, and calls.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::assembly::{Access, Marker};
use super::types::Operand;

/// The longest access that gets an inlined hook: the shortest cache line.
const LONGEST_INLINE: u32 = 32;

/// An access to be hooked.
#[derive(Debug, Clone, Copy)]
pub struct Accessed<'a> {
    /// Read, write or both.
    pub access: Access,
    /// The pointer.
    pub pointer: Operand<'a>,
    /// The type accessed.
    pub kind: &'a str,
    /// Bytes, if known here.
    pub bytes: Option<u32>,
    /// Alignment in bytes.
    pub alignment: u32,
    /// `, !dbg !7` or nothing.
    pub debug: &'a str,
}

/// Writes hooks; remembers which functions they call.
#[derive(Debug, Default)]
pub struct HookWriter {
    next_name: u32,
    declarations: BTreeSet<String>,
}

impl HookWriter {
    /// A name no other instruction has. Named, because an unnamed value would shift the numbers of all that follow.
    pub fn fresh_name(&mut self) -> String {
        self.next_name += 1;
        format!("%olifant.{}", self.next_name)
    }

    /// Declarations of the functions called, one a line.
    pub fn declarations(&self) -> impl Iterator<Item = &str> {
        self.declarations.iter().map(String::as_str)
    }

    /// Remembers that `declaration` is needed.
    pub fn declare(&mut self, declaration: String) {
        self.declarations.insert(declaration);
    }

    /// A hook for `accessed`.
    pub fn access(&mut self, accessed: &Accessed<'_>, has_vectors: bool, out: &mut String) {
        match accessed.bytes {
            Some(bytes) if (1..=LONGEST_INLINE).contains(&bytes) => {
                self.marker(accessed, bytes, has_vectors, out);
            }
            Some(bytes) => {
                self.range(accessed.access, &accessed.pointer, &bytes.to_string(), accessed.debug, out)
            }
            None => {
                let size = size_expression(accessed.kind, accessed.pointer.is_opaque_pointer());
                self.range(accessed.access, &accessed.pointer, &size, accessed.debug, out);
            }
        }
    }

    fn marker(&mut self, accessed: &Accessed<'_>, bytes: u32, has_vectors: bool, out: &mut String) {
        let name = self.fresh_name();
        // A memory operand, so that the address need not be in a register of its own.
        let (results, outputs, address) = if has_vectors {
            ("{ i64, i64, <4 x i32> }", "=&r,=&r,=&x", "$3")
        } else {
            ("{ i64, i64 }", "=&r,=&r", "$2")
        };
        let template = Marker::template(accessed.access, bytes, accessed.alignment, address, has_vectors);
        let Operand { kind, value, .. } = accessed.pointer;
        let _ = writeln!(
            out,
            "  {name} = call {results} asm sideeffect \"{template}\", \
             \"{outputs},*m,~{{memory}},~{{dirflag}},~{{fpsr}},~{{flags}}\"({kind} elementtype({}) {value}){}",
            accessed.kind, accessed.debug,
        );
    }

    /// A call of `__olifant_range`; `bytes` is an `i64` value.
    pub fn range(
        &mut self,
        access: Access,
        pointer: &Operand<'_>,
        bytes: &str,
        debug: &str,
        out: &mut String,
    ) {
        let (address, kind) = self.as_bytes(pointer, debug, out);
        self.declare(format!("declare void @__olifant_range({kind}, i64, i64)"));
        let kinds = match access {
            Access::ReadWrite => &[Access::Read, Access::Write][..],
            Access::Read => &[Access::Read],
            Access::Write => &[Access::Write],
        };
        for one in kinds {
            let immediate = one.immediate() + 1;
            let _ = writeln!(
                out,
                "  call void @__olifant_range({kind} {address}, i64 {bytes}, i64 {immediate}){debug}"
            );
        }
    }

    /// The pointer as one that a declared function takes (a cast is written where pointers have types), and its type.
    pub fn as_bytes(
        &mut self,
        pointer: &Operand<'_>,
        debug: &str,
        out: &mut String,
    ) -> (String, &'static str) {
        if pointer.is_opaque_pointer() {
            return (pointer.value.to_owned(), "ptr");
        }
        if pointer.kind == "i8*" {
            return (pointer.value.to_owned(), "i8*");
        }
        let name = self.fresh_name();
        let _ = writeln!(out, "  {name} = bitcast {} {} to i8*{debug}", pointer.kind, pointer.value);
        (name, "i8*")
    }
}

/// The size of a type as a constant expression: the address of element one of an array at zero.
fn size_expression(kind: &str, is_opaque: bool) -> String {
    if is_opaque {
        format!("ptrtoint (ptr getelementptr ({kind}, ptr null, i64 1) to i64)")
    } else {
        format!("ptrtoint ({kind}* getelementptr ({kind}, {kind}* null, i64 1) to i64)")
    }
}
