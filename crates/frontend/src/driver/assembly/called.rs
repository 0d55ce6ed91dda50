//! Calls that mean something to the counting pass: gcc's hooks, the runtime's entries, and functions of the C library
//! whose accesses the runtime counts in their stead.

use super::marker::{Access, Marker};

/// A call of one of gcc's hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalledHook {
    /// An access of a size known here. The call is replaced by the inlined hook, which has it easy: the address is in the
    /// first argument's register, and every register a call may clobber is free.
    Access(Marker<'static>),
    /// As many bytes as the call's second argument says; stays a call.
    Range(Access),
}

/// What is called for a range (crates/runtime/hooks/called.c), and the register that receives its site's numbers.
pub const RANGE_HOOK: (&str, &str) = ("__olifant_called_range", "%rdx");

/// Functions of the C library that read or write their arguments' memory; `NAME` becomes `__olifant_NAME`.
pub const LIBRARY_FUNCTIONS: [&str; 25] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "memchr",
    "memrchr",
    "mempcpy",
    "bcmp",
    "bcopy",
    "bzero",
    "strlen",
    "strnlen",
    "strcpy",
    "stpcpy",
    "strncpy",
    "strcat",
    "strncat",
    "strcmp",
    "strncmp",
    "strchr",
    "strrchr",
    "strdup",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
];

/// The name the runtime gives its version of `name`, if it has one.
pub fn replacement(name: &str) -> Option<String> {
    LIBRARY_FUNCTIONS.contains(&name).then(|| format!("__olifant_{name}"))
}

/// The symbol a direct call names, whether through the PLT, the GOT or neither.
pub fn callee(operands: &str) -> Option<&str> {
    let name = operands.strip_prefix('*').unwrap_or(operands);
    let name = match name.split_once('@') {
        Some((name, "PLT" | "GOTPCREL(%rip)")) => name,
        Some(_) => return None,
        None if operands.starts_with('*') => return None,
        None => name,
    };
    name.chars().all(super::lines::is_symbol_character).then_some(name)
}

/// The hook that a call of gcc's `name` stands for.
pub fn hook(name: &str) -> Option<CalledHook> {
    let rest = name.strip_prefix("__tsan_")?;
    let (rest, is_unaligned) = match rest.strip_prefix("unaligned_") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (access, size) = match (rest.strip_prefix("read"), rest.strip_prefix("write")) {
        (Some(size), _) => (Access::Read, size),
        (_, Some(size)) => (Access::Write, size),
        _ => return None,
    };
    if size == "_range" && !is_unaligned {
        return Some(CalledHook::Range(access));
    }
    let bytes: u32 = size.parse().ok().filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8 | 16))?;
    Some(CalledHook::Access(Marker {
        access,
        bytes,
        may_straddle: is_unaligned,
        address: "(%rdi)",
        offset: "%rax",
        tag: "%rcx",
        vector: Some("%xmm0"),
    }))
}

/// How many instructions a call of `name` counts for. A call that the uninstrumented program makes is one. A call the
/// instrumentation put in brings its argument moves with it; they were counted already and are taken back here.
pub fn weight(name: &str) -> i32 {
    if name == "__olifant_range" {
        return -3;
    }
    if name.starts_with("__tsan_volatile_") {
        return -1;
    }
    if let Some(atomic) = name.strip_prefix("__tsan_atomic") {
        return if atomic.ends_with("_load") {
            -1
        } else if atomic.contains("compare_exchange") {
            -3
        } else {
            -2
        };
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gcc_hooks_are_known_by_every_way_of_calling_them() {
        for call in ["__tsan_read8", "__tsan_read8@PLT", "*__tsan_read8@GOTPCREL(%rip)"] {
            let hook = hook(callee(call).unwrap());
            assert!(
                matches!(hook, Some(CalledHook::Access(Marker { access: Access::Read, bytes: 8, .. }))),
                "{call}"
            );
        }
        assert_eq!(callee("*%rax"), None);
        assert_eq!(callee("*8(%rax)"), None);
        assert!(
            matches!(hook("__tsan_unaligned_write4"), Some(CalledHook::Access(marker)) if marker.may_straddle)
        );
        assert_eq!(hook("__tsan_write_range"), Some(CalledHook::Range(Access::Write)));
        for other in
            ["__tsan_func_entry", "__tsan_atomic32_load", "__tsan_read_write4", "read8", "__tsan_readx"]
        {
            assert_eq!(hook(other), None, "{other}");
        }
    }
}
