//! Stage 7: a room for every method.
//!
//! ```text
//! room                 what the target data leave behind          how thresholds follow
//! auto                 predictions, then as label_plan            split conformal prediction, or the plan
//! label_plan           confidences and rows, then three laws      projection of the planned law
//! few_labels           the same and labeled rows, then one law    quantile of a posterior law that labels pull
//! ot                   two laws around the target scores          quantile of learned weights
//! uncorrected fixed    the same, for warnings only                quantile of equal or given weights
//! oracle               nothing: labels are known                  quantile
//! likelihood_ratio     a sample of rows, or nothing               quantile with the test point's own share
//! label_shift          predicted labels or a sample of rows       the same for each label
//! entropy_scaling      entropies                                  quantile scaled by an entropy
//! quantile_transfer    confidences                                quantile at a transferred rate
//! conditional          nothing                                    quantile regression at every test point
//! ```
//! A room holds a method's settings, what it keeps of a pass (`fit::Pass`), how a pass ends (`fit::Stage`), its rule, its
//! evidence and its words. `mod.rs` lists the methods, `dispatch.rs` leads from the list to the rooms, and nothing else
//! names them all. What methods share stands beside them: `basis`, `ratio_rule`, `row_pass`, `target_laws` here, the
//! optimisers and networks in [`learning`](crate::learning), what passes keep in [`sketch`](crate::sketch).

pub mod auto;
mod basis;
mod concluded;
pub mod conditional;
mod dispatch;
pub mod entropy_scaling;
pub mod few_labels;
pub(crate) mod fit;
mod fixed;
pub mod label_plan;
pub mod label_shift;
pub mod likelihood_ratio;
mod needs;
mod options;
pub(crate) mod oracle;
pub mod ot;
pub mod quantile_transfer;
mod ratio_rule;
mod row_pass;
mod target_laws;
pub(crate) mod uncorrected;

pub use basis::Basis;
pub(crate) use concluded::{Concluded, Sorted};
pub use concluded::{Learned, RecordedOptions};
pub use conditional::{ConditionalChoice, ConditionalRule, PenaltyChoice};
pub(crate) use dispatch::{AnyPass, AnyStage, AnyState, CoverageForm};
pub use few_labels::{FewLabelsSettings, Guarantee, GuaranteeProbability};
pub use label_shift::LabelShiftChoice;
pub use likelihood_ratio::RatioChoice;
pub use needs::{Need, Needs};
// Hidden: the refusals and the option table are what our shells make flags and keywords of; users set fields.
#[doc(hidden)]
pub use needs::{require_a_user_among, require_and_refuse};
#[doc(hidden)]
pub use options::{
    Choice, CountRange, GivenValue, KnownRatios, NumberRange, OPTIONS, OptionKind, OptionSpec,
    OptionValue, OptionValues, Owners,
};
pub use ot::{ObjectiveChoice, SandwichChoice, Search, TransportSettings, WeightsChoice};
pub use ratio_rule::{RatioRule, RatioSource};
pub use target_laws::TargetScores;

use serde::{Deserialize, Serialize};

use auto::{AutoSettings, Decision};
use entropy_scaling::{EntropyPower, EntropyScaling};
use few_labels::{FewLabelsEvidence, LabelThresholds};
use label_plan::{LabelPlanSettings, PlanEvidence, PlanThresholds};
use label_shift::LabelShiftEvidence;
use likelihood_ratio::RatioEvidence;
use quantile_transfer::{QuantileTransfer, TransferRule};

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::warning::Warning;

/// How calibration weights, or thresholds, are found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// A shift test, then split conformal prediction or the label plan.
    Auto(AutoSettings),
    /// Weights projected on the scores of a transported label plan.
    LabelPlan(LabelPlanSettings),
    /// Label laws averaged by how likely they make the labels of a few target points.
    FewLabels(FewLabelsSettings),
    /// The paper's: weights that minimise a bound on the lost coverage.
    OptimalTransport(TransportSettings),
    /// Split conformal prediction: every calibration point counts the same.
    Uncorrected,
    /// Weights `dQ/dP` of the scores, or of features given with the probabilities ([TBC19]).
    ///
    /// [TBC19]: https://arxiv.org/abs/1904.06019
    LikelihoodRatio(RatioChoice),
    /// Weights `Q(y)/P(y)` of the labels \[PR21\].
    LabelShift(LabelShiftChoice),
    /// Thresholds scaled by the entropy of the target probabilities \[K24\].
    EntropyScaled(EntropyPower),
    /// Thresholds moved by a quantile of the target confidences \[YH22\].
    QuantileTransfer(TransferRule),
    /// Kernel quantile regression at every test point \[GCC25\].
    Conditional(ConditionalChoice),
    /// The user's own weights, and 1 for the test point \[BCRT23\].
    Fixed,
}

/// The methods, by the names used on the command line and in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MethodName {
    /// A shift test, then split conformal prediction or the label plan.
    #[default]
    Auto,
    /// Weights projected on the scores of a transported label plan.
    LabelPlan,
    /// Label laws averaged by how likely they make the labels of a few target points.
    FewLabels,
    /// The paper's: weights that minimise a bound on the lost coverage.
    Ot,
    /// Split conformal prediction: every calibration point counts the same.
    Uncorrected,
    /// Split conformal prediction on labels of the target data.
    Oracle,
    /// Weights `dQ/dP` of the scores or features.
    LikelihoodRatio,
    /// Thresholds scaled by the entropy of the target probabilities.
    Ecp,
    /// Thresholds moved by a quantile of the target confidences.
    Qtc,
    /// Kernel quantile regression at every test point.
    Conditional,
    /// Weights `Q(y)/P(y)` of the labels.
    LabelShift,
    /// Weights that the user gives \[BCRT23\].
    Fixed,
}

impl MethodName {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 12] = [
        Self::Auto,
        Self::LabelPlan,
        Self::FewLabels,
        Self::Ot,
        Self::Uncorrected,
        Self::Oracle,
        Self::LikelihoodRatio,
        Self::Ecp,
        Self::Qtc,
        Self::Conditional,
        Self::LabelShift,
        Self::Fixed,
    ];

    /// The name as flags, keywords and files spell it: lower case, words joined by hyphens.
    /// It is the same word that serde writes, so a name read from a file can be typed.
    pub fn as_str(self) -> &'static str {
        self.about().name
    }

    /// What it does, in a line without a full stop: for help pages and lists of methods.
    pub fn summary(self) -> &'static str {
        self.about().summary
    }

    /// What must hold for the method's coverage to be right, in a few words; `docs/guarantees.md` says it in full.
    pub fn assumption(self) -> &'static str {
        self.about().assumption
    }

    /// What the method takes beside probabilities, with some choice of its options.
    ///
    /// [`Method::needs`] is narrower: it knows which options were chosen.
    pub fn needs(self) -> Needs {
        self.about().needs
    }
}

impl FromStr for MethodName {
    type Err = Error;

    /// The method of this name, spelled exactly.
    ///
    /// # Errors
    /// `UnknownName` with the closest names, or all of them if none is close.
    fn from_str(name: &str) -> Result<Self> {
        // Over the list, not by a match of its own: a method added there can be named at once.
        let found = Self::ALL.into_iter().find(|method| method.as_str() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "method",
            found: name.to_owned(),
            near: options::nearest(name, Self::ALL.into_iter().map(Self::as_str)),
        })
    }
}

/// What a room says of its method.
///
/// Each room has one as its constant `ABOUT`. Help pages, errors and reports read it from there,
/// so that the words about a method stand beside its code and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct About {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What must hold for its coverage to be right.
    pub assumption: &'static str,
    /// What it takes beside probabilities, with some choice of its options; the widest of them.
    pub needs: Needs,
}

/// How thresholds follow from the weighted calibration scores.
///
/// It is stored in the calibration file, so that thresholds at levels nobody asked for when it was
/// made follow later, without the data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// The quantile of the weighted scores, with the test point's share of the mass at infinity.
    #[default]
    Quantile,
    /// That quantile, scaled by the entropy of the target rows.
    EntropyScaled {
        /// Entropies of the target rows, from which the scale at any level follows.
        scaling: EntropyScaling,
    },
    /// The quantile at a rate that follows from the confidences of both data sets.
    Transferred {
        /// Which quantile is transferred, and in which direction.
        rule: TransferRule,
        /// Largest probability of every row of both data sets, or counts of them.
        confidences: QuantileTransfer,
    },
    /// The quantile at the levels of a label plan, and beyond the calibration scores the plan's own.
    Planned {
        /// Cumulative levels at the calibration scores, and the tail beyond them.
        thresholds: PlanThresholds,
    },
    /// The quantile of a posterior law, pulled toward the scores of labeled target points.
    FewLabels {
        /// The law, the labeled scores, and what is to be guaranteed.
        thresholds: LabelThresholds,
    },
    /// The quantile with a share of the mass for the test point that follows from its likelihood ratio, or its label's.
    ByRatio(RatioRule),
    /// Kernel quantile regression at every test point.
    Conditional(ConditionalRule),
}

/// What a method measured on its way to its thresholds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Evidence {
    /// Of a fitted likelihood ratio: overlap, loss, and how many points its weights leave.
    LikelihoodRatio(RatioEvidence),
    /// Of estimated class shares: the shares of both data sets, and how they were found.
    LabelShift(LabelShiftEvidence),
    /// Of a label plan: temperature, mix, certificate, and what may be wrong with them.
    LabelPlan {
        /// What it rests on. Boxed: it is far larger than the other variants.
        plan: Box<PlanEvidence>,
        /// What a user should know, at the level of the run.
        warnings: Vec<Warning>,
    },
    /// Of labels of a few target points.
    FewLabels(Box<FewLabelsEvidence>),
    /// Of `auto`: the test, the choice, and the plan where it was made.
    Auto(Box<Decision>),
}
