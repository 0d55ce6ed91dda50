//! A hook as it stands in assembly before its counts are known: what it checks, and the registers it was given.
//! The IR pass writes markers (`ir::accesses`); the compiler's register allocator fills in the registers.

use super::lines::MARKER;

/// What an access does to its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads, and later in the same block writes the same address.
    ReadWrite,
}

impl Access {
    /// Its word in a marker.
    pub fn word(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "update",
        }
    }

    /// The reads and writes of the contract's IMM, without instructions.
    pub fn immediate(self) -> u64 {
        match self {
            Access::Read => 1 << 32,
            Access::Write => 1 << 48,
            Access::ReadWrite => (1 << 32) + (1 << 48),
        }
    }

    /// The fewest instructions the contract lets it count: one a read, one a write.
    pub fn fewest_instructions(self) -> u32 {
        match self {
            Access::Read | Access::Write => 1,
            Access::ReadWrite => 2,
        }
    }
}

/// One hook: `#OLIFANT word bytes alignment address register register [vector]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker<'a> {
    /// Read, write or both.
    pub access: Access,
    /// Size in bytes, 1 to 32.
    pub bytes: u32,
    /// Whether the access may straddle a line: its alignment is less than its size.
    pub may_straddle: bool,
    /// The address as an AT&T memory operand.
    pub address: &'a str,
    /// A free 64-bit register.
    pub offset: &'a str,
    /// Another one.
    pub tag: &'a str,
    /// A free vector register; none in code compiled without SSE.
    pub vector: Option<&'a str>,
}

impl<'a> Marker<'a> {
    /// Reads what follows `#OLIFANT ` on a line.
    pub fn parse(text: &'a str) -> Option<Marker<'a>> {
        let mut words = text.split_ascii_whitespace();
        let access = match words.next()? {
            "read" => Access::Read,
            "write" => Access::Write,
            "update" => Access::ReadWrite,
            _ => return None,
        };
        let bytes: u32 = words.next()?.parse().ok()?;
        let alignment: u32 = words.next()?.parse().ok()?;
        let (address, offset, tag) = (words.next()?, words.next()?, words.next()?);
        Some(Marker {
            access,
            bytes,
            may_straddle: alignment < bytes.next_power_of_two(),
            address,
            offset,
            tag,
            vector: words.next(),
        })
    }

    /// The template of an `asm` statement for an access, its outputs `$0` (offset), `$1` (tag) and perhaps `$2` (vector).
    /// `address` is an AT&T memory operand in terms of the inputs, which follow; no blanks.
    pub fn template(access: Access, bytes: u32, alignment: u32, address: &str, has_vector: bool) -> String {
        let vector = if has_vector { " $2" } else { "" };
        format!("{MARKER}{} {bytes} {alignment} {address} $0 $1{vector}", access.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_with_its_registers_filled_in_parses() {
        let template = Marker::template(Access::ReadWrite, 16, 8, "$3", true);
        let line = template
            .replace("$0", "%rax")
            .replace("$1", "%rcx")
            .replace("$2", "%xmm9")
            .replace("$3", "8(%rsi)");
        let marker = Marker::parse(line.strip_prefix(MARKER).unwrap()).unwrap();
        assert_eq!(marker.access, Access::ReadWrite);
        assert!(marker.may_straddle);
        assert_eq!((marker.address, marker.offset, marker.tag), ("8(%rsi)", "%rax", "%rcx"));
        assert_eq!(marker.vector, Some("%xmm9"));
    }

    #[test]
    fn a_long_double_aligned_to_16_does_not_straddle() {
        assert!(!Marker::parse("read 10 16 (%rax) %rcx %rdx").unwrap().may_straddle);
        assert!(Marker::parse("read 4 1 (%rax) %rcx %rdx").unwrap().may_straddle);
    }
}
