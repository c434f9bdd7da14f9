//! `[low, high]`, `low < high`, both finite: a closed interval of scores.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A closed interval of scores with `low < high`, both finite.
///
/// Grids, densities and sketches cover one; the score function says which.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(f64, f64)", into = "(f64, f64)")]
pub struct Interval {
    /// Finite, below `high`.
    low: f64,
    /// Finite, above `low`; the width is finite too.
    high: f64,
}

impl From<Interval> for (f64, f64) {
    fn from(Interval { low, high }: Interval) -> Self {
        (low, high)
    }
}

impl TryFrom<(f64, f64)> for Interval {
    type Error = Error;

    /// An error unless the ends are finite and in order: they may come from a file.
    fn try_from((low, high): (f64, f64)) -> Result<Self> {
        Self::new(low, high)
    }
}

impl Interval {
    /// `[0, 1]`: the range of `1 - p`.
    pub const UNIT: Self = Self { low: 0.0, high: 1.0 };

    /// Checks that both ends are finite and in order.
    ///
    /// # Errors
    /// `OutOfRange` for an end that is NaN or infinite, `EmptyInterval` unless `low < high` and the width is finite.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        for value in [low, high] {
            if !value.is_finite() {
                return Err(Error::OutOfRange {
                    what: "an end of the score range",
                    value,
                    expected: "finite",
                });
            }
        }
        // Two finite ends can be further apart than f64 reaches; a grid over them would hold infinities.
        if low < high && (high - low).is_finite() {
            Ok(Self { low, high })
        } else {
            Err(Error::EmptyInterval { what: "the score range", low, high })
        }
    }

    /// For ranges that are valid by construction, also in constants.
    pub(crate) const fn between(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// Low end, finite and below the high one.
    pub fn low(self) -> f64 {
        self.low
    }

    /// High end, finite and above the low one.
    pub fn high(self) -> f64 {
        self.high
    }

    /// `high - low`, positive and finite: what tolerances and floors are relative to.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Whether `low <= value <= high`; a NaN is in no interval.
    pub fn contains(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
