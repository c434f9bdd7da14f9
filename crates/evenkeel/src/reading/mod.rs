//! Readings: what the same unlabeled rows can mean, and the coverage that follows from each.
//!
//! ```text
//! calibrated     P(y|x) kept                    h = softmax(z / T)
//! class-shares   class frequencies kept         h = (1 - mix) f + mix g, the law of the label plan
//! matched        accuracy estimated             h_e with the accuracy a
//! band           a -+ Delta                     the laws matched to both ends
//!
//! F_h(t)         1/m sum_j sum_y h_j(y) 1{s_jy <= t}                  coverage at the threshold t under h
//! e_h(t)         1.645 sqrt(max(F (1 - F), 1/m) / m)                  its sampling error
//! estimate       value F of class-shares; range: hull of F_h -+ e_h over calibrated, class-shares and both ends
//! ```
//! Without labels no test can tell the readings apart. Each gives a coverage at any threshold; together they give a range,
//! which is *assumed*: it holds where the truth lies among them. It failed on 0 to 22 % of the natural shifts it was tried
//! on, and always where the outputs do not change at all while the accuracy collapses.

mod belief;
mod binomial;
mod estimate;
mod score_laws;
mod verdict;

pub use belief::{Belief, belief};
pub use estimate::{CoverageEstimate, CoverageLoss, Reading, Readings};
pub use score_laws::ScoreLaws;
pub use verdict::Verdict;

use serde::{Deserialize, Serialize};

/// What unlabeled rows are taken to mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReadingName {
    /// The model, at the temperature fitted to the calibration labels, still tells the truth.
    Calibrated,
    /// Classes are as frequent as in the calibration data: the law of the label plan.
    ClassShares,
    /// The model is right as often as its outputs suggest.
    Matched,
    /// The low end of the band around that accuracy.
    BandLow,
    /// Its high end.
    BandHigh,
}

impl ReadingName {
    /// All of them, in the order in which sums of their masses are kept.
    pub const ALL: [Self; 5] =
        [Self::Calibrated, Self::ClassShares, Self::Matched, Self::BandLow, Self::BandHigh];
    /// Those that a verdict looks at.
    pub const JUDGED: [Self; 3] = [Self::Calibrated, Self::ClassShares, Self::Matched];
    /// Those whose hull is the range of coverage.
    pub const HULL: [Self; 4] =
        [Self::Calibrated, Self::ClassShares, Self::BandLow, Self::BandHigh];

    /// Its place in [`ALL`](Self::ALL).
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Calibrated => 0,
            Self::ClassShares => 1,
            Self::Matched => 2,
            Self::BandLow => 3,
            Self::BandHigh => 4,
        }
    }

    /// The word in documents and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::ClassShares => "class-shares",
            Self::Matched => "matched",
            Self::BandLow => "band-low",
            Self::BandHigh => "band-high",
        }
    }
}

/// How something is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Standing {
    /// True if the law of the target scores lies among the readings, which no method without labels can verify.
    Assumed,
}
