//! Sizes as numactl's options for shared memory take them, and the size of a huge page.

use crate::ExecError;

/// A size: a number, with k, m or g behind it for powers of 1,024.
/// # Errors  `Usage`.
pub fn size(text: &str) -> Result<u64, ExecError> {
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let bytes = number(digits).and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| {
        ExecError::Usage(format!("size {text:?}: expected a number, with k, m or g behind it"))
    })
}

/// A decimal number, or a hexadecimal one with 0x: sizes have no traps of octal, an initial 0 is refused.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => None,
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

/// The size of a huge page.
pub fn huge_page() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    Some(value.trim().strip_suffix("kB")?.trim_end().parse::<usize>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_no_octal() {
        assert_eq!(size("20m"), Ok(20 << 20));
        assert_eq!(size("0x1000"), Ok(4096));
        assert_eq!(size("4K"), Ok(4096));
        for wrong in ["", "m", "010", "1t", "-1", "99999999999g"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
