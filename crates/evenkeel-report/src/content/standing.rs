//! A share with its range, and what it is worth.

/// What a number is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It holds if an assumption does that unlabeled data cannot verify.
    Assumed,
    /// It holds whatever the labels are.
    Guaranteed,
    /// It is what a posterior given labels expects: assumed, but not blindly.
    Expected {
        /// How many labels.
        labels: u64,
    },
    /// It was measured on rows whose labels are known.
    Measured {
        /// How many rows.
        labels: u64,
    },
}

/// Coverage as a number, a range, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The number, in `[0, 1]`.
    pub value: Option<f64>,
    /// Lowest and highest coverage, in `[0, 1]`.
    pub range: Option<[f64; 2]>,
    /// What both are worth.
    pub standing: Standing,
}

impl Estimate {
    /// An estimate that rests on an assumption.
    pub fn assumed(value: f64, range: [f64; 2]) -> Self {
        Self { value: Some(value), range: Some(range), standing: Standing::Assumed }
    }

    /// A share measured on labeled rows, with its confidence interval.
    pub fn measured(value: f64, range: [f64; 2], labels: u64) -> Self {
        Self { value: Some(value), range: Some(range), standing: Standing::Measured { labels } }
    }

    /// The number, if it is one.
    pub(crate) fn finite_value(&self) -> Option<f64> {
        self.value.filter(|value| value.is_finite())
    }

    /// The range, if both ends are numbers.
    pub(crate) fn finite_range(&self) -> Option<[f64; 2]> {
        self.range.filter(|range| range.iter().all(|end| end.is_finite()))
    }
}
