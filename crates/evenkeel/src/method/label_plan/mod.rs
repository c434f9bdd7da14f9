//! The label plan: weights from a planned law that transports target points onto calibration labels.
//!
//! ```text
//! 1 temperature       T: calibration labels most likely under softmax(logits / T)
//! 2 class_groups      classes, or groups of them where unlabeled points are few; prior pi
//! 3 shift_statistics  how far confidences and predicted groups moved -> mix, inflation
//! 4 transport_plan    g_j(y) ~ f_j(y) b_group(y), f at temperature T inflation, label marginal pulled toward pi
//! 5 planned law       F = law of the scores under (1 - mix) f + mix g
//!   projection        weights on the calibration scores closest to F, in closed form
//! 6 readings          what else the rows can mean: the model's own law, and laws matched to an accuracy
//!   certificate       bound on the total gap over the hull of the readings
//! ```
//! Corruption makes a classifier collapse on few classes and lose confidence, while the label marginal is known from
//! the calibration data. That is the assumption: **labels are as frequent as in the calibration data**, up to the
//! slack of the semi-relaxed plan. Under label shift the plan errs toward large sets; a model that stays confident
//! and is wrong is not found out.
//!
//! Scores are those of the raw probabilities throughout; temperatures only shape plausibilities. Target rows are read
//! twice ([`FirstPass`], [`SecondPass`]) in blocks of any size; a table in memory takes the same way, so both give the
//! same bits.
//!
//! ```
//! use evenkeel::level::{FailureProbability, Miscoverage};
//! use evenkeel::method::label_plan::{LabelPlanSettings, LabelPlanner, LabeledLogits, TargetRows};
//! use evenkeel::rows::Rows;
//! use evenkeel::score::{Labels, Score};
//! use evenkeel::seed::Seed;
//!
//! # fn main() -> evenkeel::Result<()> {
//! let logits = [2.0, 0.0, 1.5, 0.3, 0.1, 1.9, 0.2, 0.4];
//! let labels = Labels::new(vec![0, 0, 1, 1], 2)?;
//! let calibration = LabeledLogits::of_logits(Rows::new("logits", &logits, 2)?, &labels, &Score::Lac)?;
//! let settings = LabelPlanSettings::new(FailureProbability::new(0.05)?);
//! let planner = LabelPlanner::new(calibration, Score::Lac, settings, Seed::new(0))?;
//!
//! let target = [0.9, 0.8, 0.7, 0.9, 1.0, 0.2];
//! let plan = planner.plan(&TargetRows::Logits(Rows::new("logits", &target, 2)?))?;
//! let threshold = plan.threshold(Miscoverage::new(0.2)?);
//! assert!(threshold.score > 0.0);
//! # Ok(())
//! # }
//! ```

mod certificate;
mod conclusion;
mod evidence;
mod fit;
mod plan;
mod planner;
mod preparation;
mod prepared;
mod question;
mod second_pass;
mod settings;
mod thresholds;
mod warning;

pub use crate::label_law::{
    AccuracyStatistics, LabelShares, Match, PlanStop, SecondOpinion, SecondOpinions,
};
pub use crate::reading::Standing;
pub use certificate::Certificate;
pub(crate) use conclusion::ReadLaws;
pub use evidence::{FixedPoint, MatchedEvidence, PlanEvidence};
pub(crate) use fit::{ABOUT, PlanFirst, PlanFirstPass, PlanSecond, begin, concluded, planner};
pub use settings::{Assumption, KnownAccuracy, LabelPlanSettings, PlanAssumptions};
pub use thresholds::{PlanThreshold, PlanThresholds, ThresholdSource};

// Hidden: the plan's stages one by one, for our tests and benches. Users set `Method::LabelPlan` and read `PlanEvidence`.
#[doc(hidden)]
pub use crate::label_law::{
    ClassGroups, FirstPass, LabeledLogits, ShiftStatistics, TargetRows, TransportPlan,
};
#[doc(hidden)]
pub use crate::sketch::TailAtom;
#[doc(hidden)]
pub use plan::LabelPlan;
#[doc(hidden)]
pub use planner::LabelPlanner;
#[doc(hidden)]
pub(crate) use prepared::ENOUGH_ROWS;
#[doc(hidden)]
pub use prepared::PreparedPlan;
#[doc(hidden)]
pub use question::{Aiming, PlanQuestion};
#[doc(hidden)]
pub use second_pass::SecondPass;
