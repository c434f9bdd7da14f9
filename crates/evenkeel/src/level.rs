//! `alpha`, `1 - alpha` and `d`: numbers between 0 and 1 that are easily confused, each with its own type.
//!
//! ```text
//! Miscoverage         alpha       (0, 1)     how often a set may miss its label
//! Level               1 - alpha   [0, 1]     where a quantile is taken
//! FailureProbability  d           (0, 1)     how often a confidence statement may fail
//! ```

use crate::error::{Error, Result};

/// Miscoverage rate `alpha`, strictly between 0 and 1: a set should miss the label at most this often.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Miscoverage(f64);

impl Miscoverage {
    /// Checks that `0 < alpha < 1`.
    ///
    /// # Errors
    /// `OutOfRange` unless `0 < alpha < 1`.
    pub fn new(alpha: f64) -> Result<Self> {
        // Asks for what is allowed, so that a NaN fails: it is neither `<= 0` nor `>= 1`.
        if alpha > 0.0 && alpha < 1.0 {
            Ok(Self(alpha))
        } else {
            Err(Error::OutOfRange {
                what: "alpha",
                value: alpha,
                expected: "between 0 and 1, both excluded (0.1 asks for 90 % coverage)",
            })
        }
    }

    /// The rate `alpha`, strictly between 0 and 1.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The quantile level `1 - alpha` that a threshold for this rate sits at.
    pub fn level(self) -> Level {
        Level(1.0 - self.0)
    }
}

/// Level of a quantile, in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Level(f64);

impl Level {
    /// Checks that `0 <= level <= 1`.
    ///
    /// # Errors
    /// `OutOfRange` unless `0 <= level <= 1`.
    pub fn new(level: f64) -> Result<Self> {
        // Both ends are levels, unlike rates: the quantile at 1 is the largest score.
        if (0.0..=1.0).contains(&level) {
            Ok(Self(level))
        } else {
            Err(Error::OutOfRange {
                what: "quantile level",
                value: level,
                expected: "between 0 and 1",
            })
        }
    }

    /// The level, in `[0, 1]`.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A range `[low, high]` of miscoverage rates, `0 <= low < high <= 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MiscoverageRange {
    /// Smallest rate, at least 0.
    low: f64,
    /// Largest rate, at most 1.
    high: f64,
}

impl MiscoverageRange {
    /// Checks that `0 <= low < high <= 1`.
    ///
    /// # Errors
    /// `OutOfRange` for an end outside `[0, 1]`, `EmptyInterval` unless `low < high`.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        for value in [low, high] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::OutOfRange {
                    what: "an end of the miscoverage range",
                    value,
                    expected: "between 0 and 1",
                });
            }
        }
        if low < high {
            Ok(Self { low, high })
        } else {
            Err(Error::EmptyInterval { what: "the miscoverage range", low, high })
        }
    }

    /// Smallest and largest miscoverage rate, in this order.
    pub(crate) fn ends(self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// `high - low`, in `(0, 1]`.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// The quantile levels of the range, `[1 - high, 1 - low]`.
    ///
    /// The paper's Prop A.9 prints the rates themselves as levels; its `Q_alpha` is the `1 - alpha` quantile,
    /// so the levels are their complements.
    pub fn levels(self) -> (Level, Level) {
        (Level(1.0 - self.high), Level(1.0 - self.low))
    }
}

/// Probability `d` with which one confidence statement may fail, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct FailureProbability(f64);

impl FailureProbability {
    /// `d = 0.05`: one statement in twenty may fail.
    pub const FIVE_PERCENT: Self = Self(0.05);

    /// Checks that `0 < d < 1`.
    ///
    /// # Errors
    /// `OutOfRange` unless `0 < d < 1`.
    pub fn new(d: f64) -> Result<Self> {
        if d > 0.0 && d < 1.0 {
            Ok(Self(d))
        } else {
            Err(Error::OutOfRange {
                what: "the failure probability delta",
                value: d,
                expected: "between 0 and 1, both excluded",
            })
        }
    }

    /// The probability `d`, strictly between 0 and 1.
    pub fn get(self) -> f64 {
        self.0
    }
}
/// A share as a percentage, without its sign; levels such as 97.5 or 99.99 keep their digits.
pub(crate) fn percentage(share: f64) -> String {
    // Four digits are finer than any level means, and coarser than the rounding of `1 - alpha`. What is below one is not called one.
    let rounded = (1e6 * share).round() / 1e4;
    if rounded >= 100.0 && share < 1.0 { "99.9999".to_owned() } else { format!("{rounded}") }
}
