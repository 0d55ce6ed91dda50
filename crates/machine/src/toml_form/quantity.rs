//! Quantities and the units that a machine file may write them in.

use crate::{Bytes, BytesPerSecond, Cycles, Hertz, Nanos};

/// A number as a file gives it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Whole(u64),
    Real(f64),
}

impl Number {
    /// The number as a real one. Whole numbers above 2^53 lose their last bits.
    pub(super) fn real(self) -> f64 {
        match self {
            Number::Whole(whole) => whole as f64,
            Number::Real(real) => real,
        }
    }
}

/// A unit: the ending of its keys, and how many base units it is.
pub(super) type Unit = (&'static str, u64);

/// A type that is written as a number with a unit.
pub(super) trait Quantity: Copy + PartialEq {
    /// Its units; the first is the base, the rest grow.
    const UNITS: &'static [Unit];
    /// What its numbers must be, for messages.
    const EXPECTED: &'static str;
    /// The quantity that `number` of a unit of `scale` base units is; `None` where it is no such quantity.
    fn from_number(number: Number, scale: u64) -> Option<Self>;
    /// The number of units of `scale` base units that this is, if that number reads back to exactly this.
    fn in_unit(self, scale: u64) -> Option<String>;
}

/// The key's ending and the number, in the largest unit that gives a whole number, else in the base unit.
pub(super) fn written<Q: Quantity>(quantity: Q) -> (&'static str, String) {
    let whole = |text: &String| text != "0" && text.bytes().all(|byte| byte.is_ascii_digit());
    for &(ending, scale) in Q::UNITS.iter().rev() {
        if let Some(text) = quantity.in_unit(scale).filter(whole) {
            return (ending, text);
        }
    }
    let (ending, scale) = Q::UNITS[0];
    (ending, quantity.in_unit(scale).unwrap_or_default())
}

impl Quantity for Bytes {
    const UNITS: &'static [Unit] = &[("bytes", 1), ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30)];
    const EXPECTED: &'static str = "a number, 0 or more, that is a whole number of bytes";

    fn from_number(number: Number, scale: u64) -> Option<Self> {
        match number {
            Number::Whole(whole) => whole.checked_mul(scale).map(Bytes),
            Number::Real(real) => {
                let bytes = real * scale as f64;
                // Beyond 2^53 a real number no longer names one byte count.
                let is_exact = (0.0..=9_007_199_254_740_992.0).contains(&bytes) && bytes.fract() == 0.0;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                is_exact.then_some(Bytes(bytes as u64))
            }
        }
    }

    fn in_unit(self, scale: u64) -> Option<String> {
        self.0.is_multiple_of(scale).then(|| (self.0 / scale).to_string())
    }
}

impl Quantity for Cycles {
    const UNITS: &'static [Unit] = &[("cycles", 1)];
    const EXPECTED: &'static str = "a whole number, 0 or more";

    fn from_number(number: Number, scale: u64) -> Option<Self> {
        match number {
            Number::Whole(whole) => whole.checked_mul(scale).map(Cycles),
            Number::Real(_) => None,
        }
    }

    fn in_unit(self, scale: u64) -> Option<String> {
        (scale == 1).then(|| self.0.to_string())
    }
}

macro_rules! real_quantity {
    ($type:ident, $units:expr) => {
        impl Quantity for $type {
            const UNITS: &'static [Unit] = $units;
            const EXPECTED: &'static str = "a number, 0 or more";

            fn from_number(number: Number, scale: u64) -> Option<Self> {
                Some($type(number.real() * scale as f64))
            }

            fn in_unit(self, scale: u64) -> Option<String> {
                let number = self.0 / scale as f64;
                // `{:?}` gives the shortest text that reads back to the same number, with a point or an exponent.
                let text = format!("{number:?}");
                let text = text.strip_suffix(".0").unwrap_or(&text).to_owned();
                (number * scale as f64 == self.0).then_some(text)
            }
        }
    };
}

real_quantity!(Nanos, &[("ns", 1), ("us", 1_000), ("ms", 1_000_000)]);
real_quantity!(BytesPerSecond, &[("bytes_per_s", 1), ("mb_per_s", 1_000_000)]);
real_quantity!(Hertz, &[("hz", 1), ("khz", 1_000), ("mhz", 1_000_000)]);
