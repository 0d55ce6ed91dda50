//! Units as types. A quantity carries its unit in its type; conversions name the clock they use.

use serde::{Deserialize, Serialize};

/// A count of processor clock cycles.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cycles(pub u64);

/// A duration in nanoseconds. Fractions occur: 14 cycles of a 350 MHz clock are exactly 40 ns, 15 are not whole.
#[derive(Debug, Default, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub f64);

/// A size in bytes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A rate in bytes per second (MB/s in text means 1e6 bytes per second).
#[derive(Debug, Default, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

/// A clock frequency in hertz.
#[derive(Debug, Default, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hertz(pub f64);

impl Nanos {
    /// The nearest whole number of cycles of `clock`; half a cycle rounds up.
    pub fn to_cycles(self, clock: Hertz) -> Cycles {
        // A float-to-int `as` saturates, so a negative or absurd duration cannot wrap.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Cycles((self.0 * clock.0 / 1e9 + 0.5).floor() as u64)
    }
}

impl Cycles {
    /// The duration of this many cycles of `clock`, in seconds.
    pub fn to_seconds(self, clock: Hertz) -> f64 {
        self.0 as f64 / clock.0
    }
}

impl BytesPerSecond {
    /// How long `bytes` take at this rate.
    pub fn time_for(self, bytes: Bytes) -> Nanos {
        Nanos(bytes.0 as f64 * 1e9 / self.0)
    }
}
