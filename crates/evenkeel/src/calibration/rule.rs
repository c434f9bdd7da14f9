//! From weighted calibration scores to thresholds: one for all points, one for each, or one for each label.

use serde::{Deserialize, Serialize};

use crate::conformal::Thresholds;
use crate::error::{Error, Input, PointSet, Result, SideInput, User};
use crate::level::Miscoverage;
use crate::method::MethodName;
use crate::method::conditional::{ConditionalModel, ConditionalRecord};
use crate::method::entropy_scaling::EntropyScaling;
use crate::method::label_plan::PlanThresholds;
use crate::method::label_shift::LabelWeights;
use crate::method::likelihood_ratio::{KnownRatios, RatioModel, RatioThresholds};
use crate::method::quantile_transfer::{QuantileTransfer, TransferRule};
use crate::rows::{Real, Rows};
use crate::score::{RowScratch, Score, row_scale, widen_scaled};
use crate::side_inputs::SideInputs;
use crate::threshold::Threshold;

/// Ratios and the weights they lead to agree to this, whatever the order they were summed in.
const WEIGHT_TOLERANCE: f64 = 1e-9;

/// How thresholds follow from the weighted calibration scores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// The quantile of the weighted scores, with the test point's share of the mass at infinity.
    #[default]
    Quantile,
    /// That quantile, scaled by the entropy of target rows.
    EntropyScaled {
        /// Entropies of target rows.
        scaling: EntropyScaling,
    },
    /// The quantile at a rate that follows from the confidences of both worlds.
    Transferred {
        /// Which rate.
        rule: TransferRule,
        /// The confidences.
        confidences: QuantileTransfer,
    },
    /// The quantile at the levels of a label plan, and beyond the calibration scores the plan's own.
    Planned {
        /// Levels and tail.
        thresholds: PlanThresholds,
    },
    /// The quantile with a share of the mass for the test point that follows from its likelihood ratio, or its label's.
    ByRatio(RatioRule),
    /// Kernel quantile regression at every test point.
    Conditional(ConditionalRule),
}

/// What a point is described by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The scores of all its labels.
    Scores,
    /// Features given beside its probabilities.
    Features,
}

impl Basis {
    /// The features to work on for those given.
    pub(crate) fn of(beside: &SideInputs<'_>) -> Self {
        if beside.features.is_some() { Self::Features } else { Self::Scores }
    }

    /// The rows this basis describes a block by; `whose` names the method in errors.
    fn table<T: Real>(
        self,
        whose: &'static str,
        first_row: usize,
        block: Rows<'_, T>,
        beside: &SideInputs<'_>,
        score: &Score,
    ) -> Result<(Vec<f64>, usize)> {
        match (self, beside.features) {
            (Self::Features, Some(features)) => {
                Ok((features.values().to_vec(), features.columns()))
            }
            (Self::Scores, None) => Ok((score_vectors(first_row, block, score)?, block.columns())),
            (Self::Features, None) => Err(Error::Missing {
                what: Input::Side(SideInput::Features, PointSet::Predicted),
                whose: User::Calibration(whose),
            }),
            (Self::Scores, Some(_)) => Err(Error::NotUsed {
                what: Input::Side(SideInput::Features, PointSet::Predicted),
                by: User::Calibration(whose),
                owners: Vec::new(),
            }),
        }
    }
}

/// The scores of all labels of every row; shape `(rows, C)`.
pub(crate) fn score_vectors<T: Real>(
    first_row: usize,
    block: Rows<'_, T>,
    score: &Score,
) -> Result<Vec<f64>> {
    let classes = block.columns();
    let mut scores = vec![0.0; block.values().len()];
    let (mut row, mut scratch) = (vec![0.0; classes], RowScratch::default());
    let places = scores.chunks_exact_mut(classes);
    for (offset, (values, scored)) in block.iter().zip(places).enumerate() {
        let index = first_row.saturating_add(offset);
        widen_scaled(values, row_scale(block.what(), index, values)?, &mut row);
        score.score_row(index, &row, &mut scratch, scored);
    }
    Ok(scores)
}

/// Where the ratio of a test point comes from.
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
        /// The function.
        model: RatioModel,
    },
    /// The candidate label.
    Labels {
        /// The ratio of every label.
        weights: LabelWeights,
    },
}

/// Ratios of the calibration points, in the order of their scores, and where those of test points come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredRatioRule", into = "StoredRatioRule")]
pub struct RatioRule {
    scores: Vec<f64>,
    ratios: Vec<f64>,
    source: RatioSource,
    thresholds: RatioThresholds,
}

/// As it is stored; checked when read back.
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

    fn try_from(stored: StoredRatioRule) -> Result<Self> {
        Self::new(stored.sorted_scores, stored.ratios, stored.source)
    }
}

impl RatioRule {
    /// From increasing scores and their ratios.
    pub(crate) fn new(scores: Vec<f64>, ratios: Vec<f64>, source: RatioSource) -> Result<Self> {
        crate::error::require_increasing("calibration scores", &scores)?;
        let thresholds = RatioThresholds::new(&scores, &KnownRatios::new(ratios.clone())?)?;
        Ok(Self { scores, ratios, source, thresholds })
    }

    /// Where ratios of test points come from.
    pub fn source(&self) -> &RatioSource {
        &self.source
    }

    fn cutoffs<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        beside: &SideInputs<'_>,
        score: &Score,
        alpha: Miscoverage,
    ) -> Result<Cutoffs> {
        const WHOSE: &str = "likelihood-ratio";
        let ratios = match &self.source {
            RatioSource::Labels { weights } => {
                let thresholds = weights.class_thresholds(&self.thresholds, alpha)?;
                return Ok(Cutoffs::PerLabel(thresholds));
            }
            RatioSource::Known => beside.ratios.map(<[f64]>::to_vec).ok_or(Error::Missing {
                what: Input::Side(SideInput::Ratios, PointSet::Predicted),
                whose: User::Calibration(WHOSE),
            })?,
            RatioSource::Model { basis, model } => {
                let (values, columns) = basis.table(WHOSE, first_row, block, beside, score)?;
                model.ratios(Rows::new("features", &values, columns)?)?
            }
        };
        Ok(Cutoffs::PerRow(self.thresholds.thresholds(&ratios, alpha)?))
    }
}

/// A conditional model and what it describes points by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredConditionalRule", into = "StoredConditionalRule")]
pub struct ConditionalRule {
    basis: Basis,
    model: ConditionalModel,
}

/// As it is stored; checked when read back.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredConditionalRule {
    basis: Basis,
    model: ConditionalRecord,
}

impl From<ConditionalRule> for StoredConditionalRule {
    fn from(rule: ConditionalRule) -> Self {
        Self { basis: rule.basis, model: ConditionalRecord::from(&rule.model) }
    }
}

impl TryFrom<StoredConditionalRule> for ConditionalRule {
    type Error = Error;

    fn try_from(stored: StoredConditionalRule) -> Result<Self> {
        Ok(Self { basis: stored.basis, model: ConditionalModel::try_from(stored.model)? })
    }
}

impl ConditionalRule {
    pub(crate) fn new(basis: Basis, model: ConditionalModel) -> Self {
        Self { basis, model }
    }

    /// What points are described by.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The fitted model.
    pub fn model(&self) -> &ConditionalModel {
        &self.model
    }
}

impl Rule {
    /// Thresholds of a block where they differ from point to point or label to label; none where they do not.
    pub(crate) fn own_cutoffs<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        beside: &SideInputs<'_>,
        score: &Score,
        alpha: Miscoverage,
    ) -> Result<Option<Cutoffs>> {
        match self {
            Self::ByRatio(rule) => rule.cutoffs(first_row, block, beside, score, alpha).map(Some),
            Self::Conditional(ConditionalRule { basis, model }) => {
                let (values, columns) =
                    basis.table("conditional", first_row, block, beside, score)?;
                let rows = Rows::new("features", &values, columns)?;
                Ok(Some(Cutoffs::PerRow(model.cutoffs(rows, alpha)?)))
            }
            _ => Ok(None),
        }
    }

    /// An error unless the parts fit the method, the weighted scores and the number of classes.
    pub(crate) fn check(
        &self,
        method: MethodName,
        scores: &[f64],
        weights: &[f64],
        classes: usize,
    ) -> Result<()> {
        let fits = match method {
            MethodName::Ecp => matches!(self, Self::EntropyScaled { .. }),
            MethodName::Qtc => matches!(self, Self::Transferred { .. }),
            MethodName::LikelihoodRatio | MethodName::LabelShift => {
                matches!(self, Self::ByRatio(_))
            }
            MethodName::Conditional => matches!(self, Self::Conditional(_)),
            MethodName::LabelPlan => matches!(self, Self::Planned { .. }),
            MethodName::Auto => matches!(self, Self::Planned { .. } | Self::Quantile),
            MethodName::Ot | MethodName::Uncorrected | MethodName::Oracle | MethodName::Fixed => {
                matches!(self, Self::Quantile)
            }
        };
        if !fits {
            return Err(Error::Damaged {
                what: "calibration",
                why: "its rule does not belong to its method",
            });
        }
        let same = |what, found| {
            crate::error::require_same_length(what, found, "the calibration's classes", classes)
        };
        match self {
            Self::ByRatio(rule) => {
                if rule.scores != scores {
                    return Err(Error::Damaged {
                        what: "calibration",
                        why: "the scores of its rule are not its calibration scores",
                    });
                }
                let total: f64 = rule.ratios.iter().sum();
                let apart = |(ratio, weight): (&f64, &f64)| {
                    (ratio / total - weight).abs() > WEIGHT_TOLERANCE
                };
                if rule.ratios.iter().zip(weights).any(apart) {
                    return Err(Error::Damaged {
                        what: "calibration",
                        why: "its ratios do not belong to its weights",
                    });
                }
                match &rule.source {
                    RatioSource::Labels { weights } => {
                        same("label weights", weights.ratios().len())
                    }
                    RatioSource::Model { basis: Basis::Scores, model } => {
                        same("features of the ratio", model.features())
                    }
                    _ => Ok(()),
                }
            }
            Self::Conditional(ConditionalRule { basis: Basis::Scores, model }) => {
                same("features of the kernel", model.columns())
            }
            Self::Planned { thresholds } if thresholds.scores() != scores => Err(Error::Damaged {
                what: "calibration",
                why: "the scores of its rule are not its calibration scores",
            }),
            _ => Ok(()),
        }
    }
}

/// What the thresholds of a calibration differ by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdsDifferBy {
    /// There is one for all points and labels.
    Nothing,
    /// Every label has its own.
    Label,
    /// Every point has its own.
    Point,
}

impl ThresholdsDifferBy {
    /// "A threshold for each label" or "... point", where they differ.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Label => Some("A threshold for each label"),
            Self::Point => Some("A threshold for each point"),
        }
    }
}

/// The thresholds of a block of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Cutoffs {
    /// The same for every row and label.
    Shared(Threshold),
    /// One for each row.
    PerRow(Vec<Threshold>),
    /// One for each label.
    PerLabel(Vec<Threshold>),
}

impl Cutoffs {
    /// As the functions that cut sets take them.
    pub fn as_thresholds(&self) -> Thresholds<'_> {
        match self {
            Self::Shared(threshold) => Thresholds::Shared(*threshold),
            Self::PerRow(each) => Thresholds::PerRow(each),
            Self::PerLabel(each) => Thresholds::PerLabel(each),
        }
    }
}
