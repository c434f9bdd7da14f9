//! `[low, high]`: ranges of data, and where a value lies in one.

/// Values beyond this are drawn at it. The width of a range must be finite too, or every position would be NaN.
const LARGEST: f64 = 1e300;

/// A closed range of positive width, finite at both ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// From 0 to 1.
    pub(crate) const UNIT: Self = Self { low: 0.0, high: 1.0 };

    /// The smallest range around the finite ones of some values; none if there are none.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        values
            .into_iter()
            .filter(|value| value.is_finite())
            .map(|value| value.clamp(-LARGEST, LARGEST))
            .fold(None, |found: Option<(f64, f64)>, value| {
                Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
            })
            .map(|(low, high)| Self::widened(low, high))
    }

    /// A range of one point, or one whose ends rounding cannot tell apart, is widened about its middle.
    fn widened(low: f64, high: f64) -> Self {
        let scale = low.abs().max(high.abs());
        if high - low > 1e-9 * scale {
            return Self { low, high };
        }
        // Relative: a range around 1e6 widened by a half would look as empty as before.
        let margin = if scale > 0.0 { 0.1 * scale } else { 0.5 };
        Self { low: low - margin, high: high + margin }
    }

    /// The range, reaching at least to a value.
    pub(crate) fn including(self, value: f64) -> Self {
        if !value.is_finite() {
            return self;
        }
        let value = value.clamp(-LARGEST, LARGEST);
        Self { low: self.low.min(value), high: self.high.max(value) }
    }

    /// The range with a share of its width added on each side.
    pub(crate) fn padded(self, below: f64, above: f64) -> Self {
        let width = self.high - self.low;
        Self { low: self.low - below * width, high: self.high + above * width }
    }

    /// The range cut to another; unchanged if nothing would be left.
    pub(crate) fn within(self, other: Self) -> Self {
        let cut = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        // A range of no width would divide by zero wherever a value is placed.
        if cut.low < cut.high { cut } else { self }
    }

    /// From the smaller to the larger of two numbers; widened if they coincide.
    pub(crate) fn new(low: f64, high: f64) -> Self {
        Self::widened(low.min(high), high.max(low))
    }

    /// Lower end, finite.
    pub(crate) fn low(self) -> f64 {
        self.low
    }

    /// Upper end, finite and above the lower end.
    pub(crate) fn high(self) -> f64 {
        self.high
    }

    /// Where a value lies, 0 at the lower and 1 at the upper end, cut to that.
    pub(crate) fn share(self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn a_range_always_has_a_width() {
        for values in [[0.0, 0.0], [3.0, 3.0], [-1e308, 1e308], [1e15, 1e15 + 0.1], [f64::NAN, 2.0]]
        {
            let range = Range::around(values).unwrap();
            let middle = range.share(range.low() / 2.0 + range.high() / 2.0);
            assert!((middle - 0.5).abs() < 0.01, "{values:?}: {range:?}");
        }
        assert_eq!(Range::around([f64::NAN, f64::INFINITY]), None);
    }
}
