//! What a method measured on its way, as data and in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::method::auto::Decision;
use crate::method::label_plan::{PlanEvidence, PlanWarning};
use crate::method::label_shift::LabelShiftEvidence;
use crate::method::likelihood_ratio::RatioEvidence;

/// What a method measured on its way to its thresholds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Evidence {
    /// Of a fitted likelihood ratio.
    LikelihoodRatio(RatioEvidence),
    /// Of estimated class shares.
    LabelShift(LabelShiftEvidence),
    /// Of a label plan.
    LabelPlan {
        /// What it rests on.
        plan: Box<PlanEvidence>,
        /// What a user should know.
        warnings: Vec<PlanWarning>,
    },
    /// Of `auto`: the test, the choice, and the plan where it was made.
    Auto(Box<Decision>),
}

impl Evidence {
    /// What a user should know, in words.
    pub fn warnings(&self) -> Vec<String> {
        let plan = match self {
            Self::LabelPlan { warnings, .. } => warnings,
            Self::Auto(decision) => &decision.warnings,
            Self::LabelShift(evidence) if !evidence.clipped.is_empty() => {
                return vec![format!(
                    "the shares of classes {:?} came out negative, which is sampling noise, and were set to 0; collect more \
                     labeled points of them",
                    evidence.clipped
                )];
            }
            Self::LikelihoodRatio(_) | Self::LabelShift(_) => return Vec::new(),
        };
        plan.iter().map(ToString::to_string).collect()
    }

    /// What was done and why, for the methods that decide something themselves.
    pub fn account(&self) -> Option<String> {
        match self {
            Self::Auto(decision) => Some(decision.to_string()),
            Self::LabelPlan { plan, .. } => Some(plan.to_string()),
            Self::LikelihoodRatio(_) | Self::LabelShift(_) => None,
        }
    }
}

impl fmt::Display for PlanEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statistics = &self.statistics;
        write!(
            f,
            "The threshold was moved by the label plan, which reads target points as the model does at temperature \
             {:.2} (1 is the model's own, {:.2} fits the calibration data), and moves them {:.0} % of the way to calibration class frequencies. The weights rest on \
             effectively {:.0} of {} labeled points. Coverage should be within {:.1} points of what is asked for on \
             average over all targets ({:.1} at {:.0} % confidence), provided that target labels lie between what the model \
             believes and the most cautious plan: this is assumed, and cannot be checked without labels.",
            self.temperature * statistics.inflation,
            self.temperature,
            100.0 * statistics.mix,
            self.effective_sample_size,
            self.n,
            100.0 * self.certificate.value,
            100.0 * self.certificate.with_confidence,
            100.0 * (1.0 - self.certificate.delta),
        )
    }
}
