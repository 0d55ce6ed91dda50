//! Reads little-endian numbers from bytes that nobody has vouched for: whatever is not there is `None`.

/// A place in some bytes.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'b>(pub &'b [u8]);

impl<'b> Cursor<'b> {
    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next two bytes.
    pub fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes(2)?.try_into().ok()?))
    }

    /// The next four bytes.
    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    /// The next four bytes as a process or thread.
    pub fn i32(&mut self) -> Option<i32> {
        Some(self.u32()?.cast_signed())
    }

    /// The next eight bytes.
    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// Passes over `count` words of eight bytes, however many that are.
    pub fn skip_words(&mut self, count: u64) -> Option<()> {
        let bytes = usize::try_from(count).ok()?.checked_mul(8)?;
        self.bytes(bytes).map(drop)
    }

    /// The bytes up to a zero, as text.
    pub fn text(&mut self) -> String {
        let text = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }
}
