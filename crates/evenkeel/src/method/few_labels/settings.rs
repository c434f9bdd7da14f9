//! How a few labels are used, and what is to be guaranteed.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::level::{FailureProbability, Miscoverage};
use crate::method::auto::AutoSettings;
use crate::method::label_plan::LabelPlanSettings;
use crate::shift::permutations_for;

/// Options of `few-labels`.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `change` | tested at 0.05 | whether the target data changed: half of the prior is the label-free plan's if so, 90 % if not | |
/// | `plan` | see [`LabelPlanSettings`] | how exactly plans are computed | |
/// | `guarantee` | none | what the labels must guarantee | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FewLabelsSettings {
    /// Whether the target data changed.
    pub change: ChangeBelief,
    /// How plans are computed.
    pub plan: LabelPlanSettings,
    /// What is to be guaranteed.
    pub guarantee: Guarantee,
}

impl FewLabelsSettings {
    /// The defaults with a shift test at this false-alarm rate.
    pub fn new(level: FailureProbability) -> Self {
        let change = ChangeBelief::Tested { level, permutations: permutations_for(level) };
        Self { change, plan: LabelPlanSettings::new(level), guarantee: Guarantee::None }
    }

    /// What `auto` becomes when labels are given.
    pub(crate) fn of_auto(settings: AutoSettings) -> Self {
        let AutoSettings { level, permutations, plan, guarantee } = settings;
        let change = ChangeBelief::Tested { level, permutations };
        Self { change, plan, guarantee }
    }
}

impl Default for FewLabelsSettings {
    fn default() -> Self {
        Self::new(FailureProbability::FIVE_PERCENT)
    }
}

/// Where it is known from whether the target data changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChangeBelief {
    /// From the shift test, as `auto` makes it.
    Tested {
        /// Its false-alarm rate.
        level: FailureProbability,
        /// Relabelings it draws.
        permutations: usize,
    },
    /// It is known that they did.
    Changed,
    /// It is known that they did not.
    Unchanged,
}

/// What labels drawn at random from the target rows are to guarantee, whatever the model and the shift.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Guarantee {
    /// Nothing: the threshold is the posterior's own.
    #[default]
    None,
    /// Expected coverage of at least the level, over labels and rows: the threshold is at least that of split conformal
    /// prediction on the labels.
    Average,
    /// Coverage of at least the level with a probability over the labels: the threshold is at least Wilks' tolerance limit.
    Probability {
        /// The probability.
        probability: GuaranteeProbability,
    },
}

impl Guarantee {
    /// Labels that it takes before its threshold is finite.
    pub fn labels_needed(self, alpha: Miscoverage) -> u64 {
        let rate = alpha.get();
        // A thousandth of a label absorbs rounding.
        let whole = |labels: f64| (labels - 1e-3).ceil().clamp(1.0, 1e15) as u64;
        match self {
            Self::None => 0,
            // ceil((k + 1)(1 - alpha)) <= k.
            Self::Average => whole(1.0 / rate - 1.0),
            // 1 - (1 - alpha)^k >= probability.
            Self::Probability { probability } => {
                whole((-probability.get()).ln_1p() / (-rate).ln_1p())
            }
        }
    }
}

/// Probability with which coverage must be at least the level, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct GuaranteeProbability(f64);

impl GuaranteeProbability {
    /// Checks that `0 < probability < 1`.
    ///
    /// # Errors
    /// `OutOfRange` otherwise.
    pub fn new(probability: f64) -> Result<Self> {
        // 1 - p must be a failure probability too; it is not for the largest number below one.
        if probability > 0.0 && FailureProbability::new(1.0 - probability).is_ok() {
            Ok(Self(probability))
        } else {
            Err(Error::OutOfRange {
                what: "the probability of the guarantee",
                value: probability,
                expected: "between 0 and 1, both excluded",
            })
        }
    }

    /// The probability.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for GuaranteeProbability {
    type Error = Error;

    fn try_from(probability: f64) -> Result<Self> {
        Self::new(probability)
    }
}

impl From<GuaranteeProbability> for f64 {
    fn from(GuaranteeProbability(probability): GuaranteeProbability) -> Self {
        probability
    }
}
