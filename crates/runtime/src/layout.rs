//! Where the program's memory lies: fixed addresses, so that no result depends on where the kernel puts mappings.
//!
//! All of it stays below 2 TiB, because the hooks' tags tell addresses apart modulo 4 TiB only. The program's own image
//! (linked without position independence) lies below 64 GiB.

/// Bytes of one host page.
pub const HOST_PAGE: usize = 4096;

/// A half-open range of addresses.
#[derive(Clone, Copy)]
pub struct Span {
    /// First address.
    pub start: usize,
    /// End address.
    pub end: usize,
}

impl Span {
    const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Whether the address lies inside.
    pub const fn contains(self, address: usize) -> bool {
        self.start <= address && address < self.end
    }

    /// Its size.
    pub const fn bytes(self) -> usize {
        self.end - self.start
    }
}

const GIB: usize = 1 << 30;

/// Chunks of small allocations.
pub const SMALL: Span = Span::new(64 * GIB, 192 * GIB);
/// Allocations that have pages of their own.
pub const LARGE: Span = Span::new(192 * GIB, 1024 * GIB);
/// What the program maps itself.
pub const MAPPINGS: Span = Span::new(1024 * GIB, 1536 * GIB);
/// The program's break.
pub const BREAK: Span = Span::new(1536 * GIB, 1552 * GIB);
/// Stacks of the program's threads.
pub const STACKS: Span = Span::new(1552 * GIB, 1920 * GIB);
/// Thread-local storage: stacks of the donors.
pub const DONORS: Span = Span::new(1920 * GIB, 1984 * GIB);
/// Copied arguments, then the copied environment.
pub const ARGUMENTS: Span = Span::new(1984 * GIB, 1985 * GIB);
/// The copied environment.
pub const ENVIRONMENT: Span = Span::new(1985 * GIB, 1986 * GIB);

/// Stand-ins for memory that lies elsewhere: nothing is mapped here.
pub const FOREIGN: Span = Span::new(1986 * GIB, 2048 * GIB);

/// `bytes` rounded up to a multiple of `unit`, a power of two.
pub const fn round_up(bytes: usize, unit: usize) -> usize {
    (bytes + unit - 1) & !(unit - 1)
}
