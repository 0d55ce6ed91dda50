//! Numbers as text that a page can hold: LEB128, deflated, in base64.
//!
//! Base64 grows bytes by a third; a page is one text file, and JavaScript reads it back with `atob`. Raw deflate is what
//! `DecompressionStream` of browsers undoes by itself. Sources: DWARF 5, section 7.6 (LEB128); RFC 1951; RFC 4648,
//! section 4.

/// Middle of speed and size; more effort gains little on counts.
const LEVEL: u8 = 6;

/// The numbers as unsigned LEB128, deflated without a wrapper.
pub(super) fn deflate(numbers: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push((rest & 0x7f) as u8);
    }
    miniz_oxide::deflate::compress_to_vec(&bytes, LEVEL)
}

/// `bytes` in base64, padded.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_padding = digit > group.len();
            let value = (bits >> (18 - 6 * digit) & 0x3f) as usize;
            text.push(if is_padding { '=' } else { char::from(DIGITS[value]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_as_the_standard_has_it() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }

    #[test]
    fn deflated_numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, 1 << 14, u64::MAX];
        let bytes = miniz_oxide::inflate::decompress_to_vec(&deflate(&numbers)).unwrap();
        let mut found = Vec::new();
        let (mut value, mut shift) = (0_u64, 0);
        for byte in bytes {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                found.push(value);
                (value, shift) = (0, 0);
            }
        }
        assert_eq!(found, numbers);
    }
}
