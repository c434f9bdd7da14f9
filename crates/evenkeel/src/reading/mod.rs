//! Readings: what the same unlabeled rows can mean, and the coverage that follows from each.
//!
//! ```text
//! calibrated      P(y|x) kept                    h = softmax(z / T)
//! class-shares    class frequencies kept         h = (1 - mix) f + mix g, the law of the label plan
//! matched         accuracy estimated             h_e with the accuracy a
//! second-opinion  other models asked             h_e with the accuracy that all of them say; where there are any
//! accuracy        accuracy known                 h_e with that accuracy; where one was given
//! label-shift     P(x|y) kept                    h ~ f Q(y)/P(y); where that explains the outputs
//! band            a -+ Delta                     the laws matched to both ends
//! blend, mean     two readings as likely         mean law of class-shares and matched, of calibrated and class-shares
//!
//! F_h(t)         1/m sum_j sum_y h_j(y) 1{s_jy <= t}                  coverage at the threshold t under h
//! e_h(t)         1.645 sqrt(max(F (1 - F), 1/m) / m)                  its sampling error; m the rows it was read of
//! estimate       value F of the chosen reading; range: hull of F_h -+ e_h over calibrated, class-shares and both ends
//! ```
//! Without labels no test can tell the readings apart. Each gives a coverage at any threshold; together they give a range,
//! which is *assumed*: it holds where the truth lies among them. It failed on 0 to 22 % of the natural shifts it was tried
//! on, and always where the outputs do not change at all while the accuracy collapses.

mod belief;
mod binomial;
mod estimate;
mod score_laws;
mod verdict;

pub(crate) use belief::belief_by;
pub use belief::{Belief, belief};
pub use estimate::{CoverageEstimate, CoverageLoss, Reading, Readings};
pub(crate) use score_laws::ScoreLaw;
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
    /// What is seen of a class is kept while classes have other frequencies; made where that explains the outputs.
    LabelShift,
    /// The model is right as often as the user says.
    Accuracy,
    /// The model is right as often as it and other models together suggest.
    SecondOpinion,
    /// As likely class-shares as matched: their mean law.
    Blend,
    /// As likely calibrated as class-shares: their mean law.
    Mean,
}

impl ReadingName {
    /// Those that are always made, in this order.
    pub const ALWAYS: [Self; 5] =
        [Self::Calibrated, Self::ClassShares, Self::Matched, Self::BandLow, Self::BandHigh];
    /// Those whose hull is the range of coverage, beside the others that were made.
    pub const HULL: [Self; 4] =
        [Self::Calibrated, Self::ClassShares, Self::BandLow, Self::BandHigh];
    /// Those that the best of them stands for, the best first: an accuracy that is known is better than one that was asked for,
    /// and that better than one the model itself suggests.
    pub(crate) const OF_AN_ACCURACY: [Self; 3] =
        [Self::Accuracy, Self::SecondOpinion, Self::Matched];

    /// The word in documents and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::ClassShares => "class-shares",
            Self::Matched => "matched",
            Self::BandLow => "band-low",
            Self::BandHigh => "band-high",
            Self::LabelShift => "label-shift",
            Self::Accuracy => "accuracy",
            Self::SecondOpinion => "second-opinion",
            Self::Blend => "blend",
            Self::Mean => "mean",
        }
    }

    /// The two readings that it is the mean of, given the one of an accuracy; none for a reading of its own.
    pub(crate) fn halves(self, of_accuracy: Self) -> Option<[Self; 2]> {
        match self {
            Self::Blend => Some([Self::ClassShares, of_accuracy]),
            Self::Mean => Some([Self::Calibrated, Self::ClassShares]),
            _ => None,
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
