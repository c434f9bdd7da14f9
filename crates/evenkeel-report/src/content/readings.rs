//! Readings: what unlabeled data can mean, and the coverage that follows from each.

use super::standing::{Estimate, Standing};

/// An explanation of the target data, or a way to know coverage without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The model still tells the truth about how sure it is.
    Calibrated,
    /// The classes are as frequent as in the calibration data.
    ClassShares,
    /// The plan matched to an estimate of the model's accuracy.
    Matched,
    /// The matched plan at both ends of that estimate's error.
    Band,
    /// The plan matched to an accuracy that the user gave.
    Accuracy,
    /// The plan matched to what other models say of the same rows.
    SecondOpinion,
    /// The lowest and highest coverage over all labels.
    Guaranteed,
    /// Counted on labeled rows.
    Measured,
    /// Another one.
    Other {
        /// Its name.
        name: String,
        /// What it takes for granted, in one sentence.
        explanation: String,
    },
}

impl Reading {
    /// Its name on the page.
    pub fn name(&self) -> &str {
        match self {
            Self::Calibrated => "calibrated",
            Self::ClassShares => "class-shares",
            Self::Matched => "matched",
            Self::Band => "band",
            Self::Accuracy => "accuracy",
            Self::SecondOpinion => "second-opinion",
            Self::Guaranteed => "guaranteed",
            Self::Measured => "measured",
            Self::Other { name, .. } => name,
        }
    }

    /// What it takes for granted, in one sentence.
    pub fn explanation(&self) -> &str {
        match self {
            Self::Calibrated => {
                "If the model still knows how sure it may be: its probabilities are right on average."
            }
            Self::ClassShares => {
                "If every class is as frequent as in the calibration data, and only the inputs changed."
            }
            Self::Matched => {
                "If the model lost as much accuracy as the change of its outputs suggests."
            }
            Self::Band => "The same, if that accuracy is misjudged by its usual error, up or down.",
            Self::Accuracy => "If the model's accuracy is the one that was given.",
            Self::SecondOpinion => {
                "If the model is right as often as other models' answers to the same rows suggest."
            }
            Self::Guaranteed => {
                "Whatever the labels are: from every row at its worst label to every row at its best."
            }
            Self::Measured => {
                "Counted on rows of the target data whose labels are known, with its confidence interval."
            }
            Self::Other { explanation, .. } => explanation,
        }
    }
}

/// A reading and the coverage that follows from it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadingRange {
    /// Which one.
    pub reading: Reading,
    /// Its coverage, as a number with its sampling error or as a range.
    pub coverage: Estimate,
}

impl ReadingRange {
    /// A reading that unlabeled data cannot verify.
    pub fn assumed(reading: Reading, value: f64, range: [f64; 2]) -> Self {
        Self { reading, coverage: Estimate::assumed(value, range) }
    }

    /// A range without a number in it.
    pub fn range(reading: Reading, range: [f64; 2], standing: Standing) -> Self {
        Self { reading, coverage: Estimate { value: None, range: Some(range), standing } }
    }

    /// The share of covered rows among those whose labels are known, with its confidence interval.
    pub fn measured(value: f64, range: [f64; 2], labels: u64) -> Self {
        Self { reading: Reading::Measured, coverage: Estimate::measured(value, range, labels) }
    }
}
