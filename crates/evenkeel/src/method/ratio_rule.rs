//! Weights proportional to a ratio `dQ/dP`: of the point (`likelihood-ratio`) or of its label (`label-shift`).
//!
//! ```text
//! w_i = r_i / (sum_k r_k + r),   r the ratio of the test point, or of the candidate label
//! ```

use serde::{Deserialize, Serialize};

use super::basis::Basis;
use super::label_shift::LabelWeights;
use super::likelihood_ratio::{KnownRatios, RatioModel, RatioThresholds};
use super::{Concluded, Evidence, Rule, Sorted};
use crate::conformal::Cutoffs;
use crate::error::{Error, Input, PointSet, Result, SideInput, User, require_same_length};
use crate::level::Miscoverage;
use crate::measure::Weights;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::Score;
use crate::side_inputs::SideInputs;
use crate::threshold::TestMass;

/// Ratios and the weights they lead to agree to this, whatever the order they were summed in.
const WEIGHT_TOLERANCE: f64 = 1e-9;

/// Where the ratio of a test point comes from; the word of a variant stands in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RatioSource {
    /// The user, with every point.
    Known,
    /// A fitted function of the point.
    Model {
        /// What it is a function of.
        basis: Basis,
        /// `log dQ/dP` as a function of the features.
        model: RatioModel,
    },
    /// The candidate label, whatever the point.
    Labels {
        /// The ratio of every label.
        weights: LabelWeights,
    },
}

/// Ratios of the calibration points, in the order of their scores, and where those of test points
/// come from.
///
/// The weights of the calibration are these ratios, normalised. Both are kept: the ratios for the
/// test point's share, the weights for everything that treats calibrations alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredRatioRule", into = "StoredRatioRule")]
pub struct RatioRule {
    /// Calibration scores, increasing; shape `(n,)`.
    scores: Vec<f64>,
    /// `r_i` in the order of the scores, as they came: a common factor with test ratios must stay.
    ratios: Vec<f64>,
    /// What gives `r` of a test point or of a candidate label.
    source: RatioSource,
    /// Sorted and summed once; not stored, as it follows from the two lists above.
    thresholds: RatioThresholds,
}

/// As it is stored; checked when read back. The field names are those of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredRatioRule {
    sorted_scores: Vec<f64>,
    ratios: Vec<f64>,
    source: RatioSource,
}

impl From<RatioRule> for StoredRatioRule {
    fn from(rule: RatioRule) -> Self {
        Self { sorted_scores: rule.scores, ratios: rule.ratios, source: rule.source }
    }
}

impl TryFrom<StoredRatioRule> for RatioRule {
    type Error = Error;

    /// Sorts and sums again; checks what a constructor checks.
    fn try_from(stored: StoredRatioRule) -> Result<Self> {
        Self::new(stored.sorted_scores, stored.ratios, stored.source)
    }
}

impl RatioRule {
    /// From increasing scores and their ratios.
    ///
    /// # Errors
    /// If scores do not increase, ratios are not ratios, or the two differ in number.
    pub(crate) fn new(scores: Vec<f64>, ratios: Vec<f64>, source: RatioSource) -> Result<Self> {
        crate::error::require_increasing("calibration scores", &scores)?;
        let thresholds = RatioThresholds::new(&scores, &KnownRatios::new(ratios.clone())?)?;
        Ok(Self { scores, ratios, source, thresholds })
    }

    /// Where ratios of test points come from: the user, a fitted function or the label.
    pub(crate) fn source(&self) -> &RatioSource {
        &self.source
    }

    /// A threshold for each row of a block, or for each label where the ratio is the label's.
    ///
    /// # Errors
    /// If known ratios or features are missing, or a row does not hold probabilities.
    pub(crate) fn cutoffs<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: &SideInputs<'_>,
        score: &Score,
        alpha: Miscoverage,
    ) -> Result<Cutoffs> {
        const WHOSE: &str = "likelihood-ratio";
        let ratios = match &self.source {
            RatioSource::Labels { weights } => {
                // Before any row is looked at: thresholds of labels are the same for all points.
                let thresholds = weights.class_thresholds(&self.thresholds, alpha)?;
                return Ok(Cutoffs::PerLabel(thresholds));
            }
            RatioSource::Known => beside.ratios.map(<[f64]>::to_vec).ok_or(Error::Missing {
                what: Input::Side(SideInput::Ratios, PointSet::Predicted),
                whose: User::Calibration(WHOSE),
            })?,
            RatioSource::Model { basis, model } => {
                let (values, columns) = basis.table(WHOSE, keys, block, beside, score)?;
                model.ratios(Rows::new("features", &values, columns)?)?
            }
        };
        Ok(Cutoffs::PerRow(self.thresholds.thresholds(&ratios, alpha)?))
    }

    /// An error unless it belongs to these weighted scores and this many classes.
    ///
    /// # Errors
    /// `Damaged` or `LengthMismatch` where parts of different calibrations were put together.
    pub(crate) fn check(&self, scores: &[f64], weights: &[f64], classes: usize) -> Result<()> {
        let same =
            |what, found| require_same_length(what, found, "the calibration's classes", classes);
        if self.scores != scores {
            return Err(Error::Damaged {
                what: "this calibration",
                why: "the scores of its rule are not its calibration scores",
            });
        }
        // Known ratios may be of any size: near the largest double their sum would be infinite, and a
        // sound calibration would be called damaged.
        let largest = self.ratios.iter().copied().fold(0.0, f64::max);
        let total: f64 = self.ratios.iter().map(|ratio| ratio / largest).sum();
        // Compared, not recomputed into the weights: a reader must get the very bits that were
        // stored.
        let apart = |(ratio, weight): (&f64, &f64)| {
            (ratio / largest / total - weight).abs() > WEIGHT_TOLERANCE
        };
        if self.ratios.iter().zip(weights).any(apart) {
            return Err(Error::Damaged {
                what: "this calibration",
                why: "its ratios do not belong to its weights",
            });
        }
        match &self.source {
            RatioSource::Labels { weights } => same("label weights", weights.ratios().len()),
            RatioSource::Model { basis: Basis::Scores, model } => {
                same("features of the ratio", model.features())
            }
            _ => Ok(()),
        }
    }
}

/// Weights proportional to ratios, which are in the caller's order.
///
/// # Errors
/// If the ratios are not ratios, or as many as scores.
pub(crate) fn weighted_by(
    sorted: Sorted,
    ratios: &[f64],
    source: RatioSource,
    evidence: Option<Evidence>,
) -> Result<Concluded> {
    let ratios = sorted.arrange(ratios);
    let rule = RatioRule::new(sorted.scores.clone(), ratios.clone(), source)?;
    // What a test point as heavy as the average calibration point takes: its own share is known only at prediction.
    let test_mass = TestMass::exchangeable(sorted.scores.len());
    let weights = Weights::normalised(ratios)?;
    let concluded = Concluded::given(sorted, weights, test_mass, Rule::ByRatio(rule));
    Ok(match evidence {
        Some(evidence) => concluded.with_evidence(evidence),
        None => concluded,
    })
}
